// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeliveryQueueTest {

    private final SessionBench bench = new SessionBench(1);
    private final QueueBudget budget = new QueueBudget(1_000);
    private final DeliveryQueue queue = new DeliveryQueue(resources());
    private final Subscription subscription =
            SessionBench.subscribe(bench.open("a", 0, true, 0, new RecordingSink()), "t", QoS.AT_LEAST_ONCE);

    private SessionResources resources() {
        SessionResources like = bench.resources;
        return new SessionResources(
                like.router(),
                like.wheels(),
                like.authorizer(),
                like.observer(),
                like.ticker(),
                like.limits(),
                like.config(),
                budget,
                like.sessionBudget(),
                like.stores(),
                like.exclusive(),
                java.util.Map.of());
    }

    @Test
    void behavesLikeAQueueAndAccountsForEveryByte() {
        Random random = new Random(3);
        ArrayDeque<ApplicationMessage> model = new ArrayDeque<>();
        for (int step = 0; step < 50_000; step++) {
            if (model.isEmpty() || random.nextInt(1_000) < 505) {
                ApplicationMessage message = bench.message("t", "x".repeat(random.nextInt(50)), QoS.AT_LEAST_ONCE);
                queue.add(message, subscription);
                model.add(message);
            } else {
                assertThat(queue.message()).isSameAs(model.remove());
                assertThat(queue.subscription()).isSameAs(subscription);
                queue.remove();
            }
            assertThat(queue.size()).isEqualTo(model.size());
            assertThat(queue.isEmpty()).isEqualTo(model.isEmpty());
        }
        long bytes =
                model.stream().mapToLong(ApplicationMessage::footprintBytes).sum();
        assertThat(queue.bytes()).isEqualTo(bytes);
        assertThat(budget.bytes()).isEqualTo(bytes);
        assertThat(budget.isExceeded()).isEqualTo(bytes > 1_000);
        while (!queue.isEmpty()) {
            queue.remove();
        }
        assertThat(budget.bytes()).isZero();
    }

    @Test
    void saysWhichLimitRefuses() {
        ApplicationMessage message = bench.message("t", "x", QoS.AT_LEAST_ONCE);
        int footprint = message.footprintBytes();
        LimitsConfig two = LimitsConfig.builder().maxQueuedMessages(2).build();
        LimitsConfig bytes =
                LimitsConfig.builder().maxQueuedBytes(2L * footprint - 1).build();
        queue.add(message, subscription);
        assertThat(queue.refusal(footprint, two)).isNull();
        assertThat(queue.refusal(footprint, bytes)).isEqualTo(DropReason.QUEUE_BYTES);
        queue.add(message, subscription);
        assertThat(queue.refusal(footprint, two)).isEqualTo(DropReason.QUEUE_COUNT);
    }
}
