// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.session.ConsumerPressure;
import io.smqtt.session.QueueBudget;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.topic.TopicFilter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

class InProcessSubscriberTest {

    private final QueueBudget budget = new QueueBudget(1 << 20);

    @Tag("slow")
    @Test
    void aConsumerThatGoesWhileItTakesGivesBackWhatItHeldOnce() {
        ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor();
        ApplicationMessage message = ApplicationMessage.builder("t").build();
        for (int i = 0; i < 2_000; i++) {
            InProcessSubscriber subscriber = subscriber(loop);
            Subscription subscription = new Subscription(
                    subscriber, TopicFilter.of("t"), null, QoS.EXACTLY_ONCE, false, true, Subscription.NO_IDENTIFIER);
            subscriber.deliver(message, subscription, RouteTicket.NONE);
            CompletableFuture<Void> taking = CompletableFuture.runAsync(() -> subscriber.taken(message), THREADS);
            subscriber.end();
            taking.join();
            assertThat(budget.bytes()).isZero();
        }
        loop.shutdownNow();
    }

    private InProcessSubscriber subscriber(ScheduledExecutorService loop) {
        AtomicReference<FluxSink<ApplicationMessage>> sink = new AtomicReference<>();
        Flux.<ApplicationMessage>create(sink::set).subscribe();
        LimitsConfig limits = LimitsConfig.defaults();
        ConsumerPressure pressure = new ConsumerPressure("c", limits, loop, budget);
        return new InProcessSubscriber("s", sink.get(), new BrokerObserver() {}, budget, pressure);
    }
}
