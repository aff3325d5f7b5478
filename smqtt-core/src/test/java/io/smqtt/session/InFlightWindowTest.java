// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class InFlightWindowTest {

    private final SessionBench bench = new SessionBench(1);
    private final Session session = bench.open("a", 0, true, 0, new RecordingSink());
    private final Subscription subscription = SessionBench.subscribe(session, "t", QoS.EXACTLY_ONCE);
    private final QueueBudget budget = new QueueBudget(1_000_000);
    private final InFlightWindow window = new InFlightWindow(budget);

    private ApplicationMessage message(int number) {
        return bench.message("t", String.valueOf(number), QoS.AT_LEAST_ONCE);
    }

    @Test
    void neverUsesAnIdentifierThatIsInUse() { // [MQTT-2.2.1-4]
        Random random = new Random(7);
        Map<Integer, ApplicationMessage> model = new HashMap<>();
        List<Integer> inUse = new ArrayList<>();
        for (int step = 0; step < 400_000; step++) {
            boolean adds = inUse.isEmpty() || (random.nextInt(100) < 52 && window.hasIdentifier());
            if (adds) {
                ApplicationMessage message = message(step);
                int packetId = InFlightWindow.packetId(window.add(message, subscription, QoS.AT_LEAST_ONCE));
                assertThat(packetId).isBetween(1, 65_535);
                assertThat(model.put(packetId, message)).isNull();
                inUse.add(packetId);
            } else {
                int at = random.nextInt(Math.min(inUse.size(), 3_000));
                int packetId = inUse.get(at);
                inUse.set(at, inUse.get(inUse.size() - 1));
                inUse.remove(inUse.size() - 1);
                long sequence = window.find(packetId);
                assertThat(window.message(sequence)).isSameAs(model.remove(packetId));
                window.remove(sequence);
                assertThat(window.find(packetId)).isEqualTo(-1);
            }
            assertThat(window.size()).isEqualTo(model.size());
        }
    }

    @Test
    void whatItHoldsPastAFreeShareCountsAgainstTheBudget() {
        ApplicationMessage large = bench.message("t", "x".repeat(30_000), QoS.AT_LEAST_ONCE);
        long first = window.add(large, subscription, QoS.AT_LEAST_ONCE);
        long second = window.add(large, subscription, QoS.EXACTLY_ONCE);
        assertThat(budget.bytes()).isZero();
        window.add(large, subscription, QoS.AT_LEAST_ONCE);
        window.add(large, subscription, QoS.AT_LEAST_ONCE);
        assertThat(budget.bytes()).isEqualTo(4L * large.footprintBytes() - 65_536);
        window.remove(first);
        window.received(second);
        assertThat(budget.bytes()).isZero();
        window.add(large, subscription, QoS.AT_LEAST_ONCE);
        assertThat(budget.bytes()).isPositive();
        window.clear();
        assertThat(budget.bytes()).isZero();
        assertThat(window.size()).isZero();
    }

    @Test
    void hasNoIdentifierLeftWhenTheOldestHoldsTheWindow() {
        long oldest = window.add(message(0), subscription, QoS.AT_LEAST_ONCE);
        int used = 1;
        while (window.hasIdentifier()) {
            window.remove(window.add(message(used++), subscription, QoS.AT_LEAST_ONCE));
        }
        assertThat(used).isEqualTo(65_535);
        assertThat(window.size()).isEqualTo(1);

        window.remove(oldest);

        assertThat(window.hasIdentifier()).isTrue();
        assertThat(window.head()).isEqualTo(window.tail());
        assertThat(InFlightWindow.packetId(window.add(message(1), subscription, QoS.AT_LEAST_ONCE)))
                .isEqualTo(1);
    }

    @Test
    void findsAllOfAFullWindowAcrossTheWrapAround() {
        for (int i = 0; i < 40_000; i++) {
            window.remove(window.add(message(i), subscription, QoS.AT_LEAST_ONCE));
        }
        Map<Integer, ApplicationMessage> model = new HashMap<>();
        for (int i = 0; window.hasIdentifier(); i++) {
            ApplicationMessage message = message(i);
            model.put(InFlightWindow.packetId(window.add(message, subscription, QoS.AT_LEAST_ONCE)), message);
        }
        assertThat(model).hasSize(65_535);
        model.forEach((packetId, message) ->
                assertThat(window.message(window.find(packetId))).isSameAs(message));
    }

    @Test
    void keepsTheStatesOfTheHandshake() {
        long first = window.add(message(1), subscription, QoS.AT_LEAST_ONCE);
        long second = window.add(message(2), subscription, QoS.EXACTLY_ONCE);
        assertThat(window.state(first)).isEqualTo(InFlightWindow.AWAITING_PUBACK);
        assertThat(window.state(second)).isEqualTo(InFlightWindow.AWAITING_PUBREC);
        assertThat(window.undelivered()).isEqualTo(2);

        window.received(second);

        assertThat(window.state(second)).isEqualTo(InFlightWindow.AWAITING_PUBCOMP);
        assertThat(window.message(second)).isNull();
        assertThat(window.subscription(second)).isNull();
        assertThat(window.undelivered()).isEqualTo(1);
    }
}
