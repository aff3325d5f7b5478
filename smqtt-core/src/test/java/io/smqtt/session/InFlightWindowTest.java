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
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
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

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 65_533, 65_534, 65_535, 70_000})
    void spareIdentifiersAreThoseThatComeLast(int sent) {
        for (int i = 0; i < sent; i++) {
            long sequence = window.add(message(i), subscription, QoS.AT_LEAST_ONCE);
            if (i % 65_535 != 65_534 && i > 0) { // the largest identifier and the first message stay in flight
                window.remove(sequence);
            }
        }
        int[] spare = SpareIdentifiers.of(window, 10);
        int next = InFlightWindow.packetId(window.add(message(sent), subscription, QoS.AT_LEAST_ONCE));

        assertThat(spare).hasSize(10).doesNotHaveDuplicates();
        for (int id : spare) {
            assertThat(id).isBetween(1, 65_535).isNotEqualTo(next);
            assertThat(window.find(id)).isEqualTo(-1);
            assertThat(Math.floorMod(id - next, 65_535)).isGreaterThan(65_500);
        }
    }

    @Test
    void noIdentifierIsSpareIfAllAreInFlight() {
        for (int i = 0; i < 65_535 - 2; i++) {
            window.add(message(i), subscription, QoS.AT_LEAST_ONCE);
        }

        assertThat(SpareIdentifiers.of(window, 3)).containsExactly(65_535, 65_534);
    }

    @Test
    void whatItHoldsCountsAgainstTheBudgetInSteps() {
        ApplicationMessage large = bench.message("t", "x".repeat(30_000), QoS.AT_LEAST_ONCE);
        ApplicationMessage small = bench.message("t", "x", QoS.AT_LEAST_ONCE);
        window.add(small, subscription, QoS.AT_LEAST_ONCE);
        assertThat(budget.bytes()).isZero();
        long first = window.add(large, subscription, QoS.AT_LEAST_ONCE);
        long second = window.add(large, subscription, QoS.EXACTLY_ONCE);
        assertThat(budget.bytes()).isEqualTo(2L * large.footprintBytes() + small.footprintBytes());
        window.add(small, subscription, QoS.AT_LEAST_ONCE);
        assertThat(budget.bytes()).isEqualTo(2L * large.footprintBytes() + small.footprintBytes());
        window.remove(first);
        window.received(second);
        assertThat(budget.bytes()).isLessThan(InFlightWindow.STEP_BYTES);
        window.add(large, subscription, QoS.AT_LEAST_ONCE);
        assertThat(budget.bytes()).isGreaterThan(large.footprintBytes());
        window.clear();
        assertThat(budget.bytes()).isZero();
        assertThat(window.size()).isZero();
    }

    private long addOne(QoS qos) {
        return window.add(message(0), subscription, qos);
    }

    /** What the window holds, in its order. */
    private List<Long> held() {
        List<Long> all = new ArrayList<>();
        for (long sequence = window.head(); sequence < window.tail(); sequence = window.from(sequence + 1)) {
            if (window.holds(sequence)) {
                all.add(sequence);
            }
        }
        return all;
    }

    @Test
    void anOldMessageStopsNobodyAndKeepsItsIdentifier() { // [MQTT-2.2.1-4]
        long oldest = addOne(QoS.EXACTLY_ONCE);
        window.number(oldest, 7);
        window.set(oldest, InFlightWindow.UNSAFE);
        int used = 0;
        while (used < 200_000) {
            assertThat(window.hasIdentifier()).isTrue();
            long sequence = addOne(QoS.AT_LEAST_ONCE);
            assertThat(InFlightWindow.packetId(sequence)).isNotEqualTo(1);
            window.remove(sequence);
            used++;
        }
        assertThat(window.size()).isEqualTo(1);
        assertThat(window.capacity()).isLessThan(1_100);
        assertThat(window.find(1)).isEqualTo(oldest).isEqualTo(window.head());
        assertThat(window.number(oldest)).isEqualTo(7);
        assertThat(window.state(oldest)).isEqualTo(InFlightWindow.AWAITING_PUBREC);
        assertThat(window.is(oldest, InFlightWindow.UNSAFE)).isTrue();
        assertThat(window.undelivered()).isEqualTo(1);

        window.trim();
        assertThat(window.capacity()).isLessThan(100);
        window.received(oldest);
        assertThat(window.find(1)).isEqualTo(oldest);
        window.remove(oldest);

        assertThat(window.size()).isZero();
        assertThat(window.find(1)).isEqualTo(-1);
        assertThat(window.head()).isEqualTo(window.tail());
        assertThat(budget.bytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 100, 2_000, 65_535})
    void identifiersInUseAreSkippedWhateverIsAcknowledgedFirst(int most) { // [MQTT-2.2.1-4] [MQTT-4.6.0-1]
        Random random = new Random(most);
        TreeMap<Long, ApplicationMessage> model = new TreeMap<>();
        Map<Integer, Long> identifiers = new HashMap<>();
        List<Long> patient = new ArrayList<>(); // acknowledged much later
        List<Long> quick = new ArrayList<>();
        for (int step = 0; step < 300_000; step++) {
            if (model.size() < most && window.hasIdentifier()) {
                ApplicationMessage message = message(step);
                long sequence = window.add(message, subscription, QoS.AT_LEAST_ONCE);
                window.number(sequence, step);
                assertThat(identifiers.put(InFlightWindow.packetId(sequence), sequence))
                        .isNull();
                model.put(sequence, message);
                (random.nextInt(50) == 0 ? patient : quick).add(sequence);
            }
            boolean full = model.size() == most || !window.hasIdentifier();
            List<Long> from = quick.isEmpty() || random.nextInt(1_000) == 0 ? patient : quick;
            if (full || random.nextBoolean()) {
                int at = from.isEmpty() ? -1 : random.nextInt(from.size());
                if (at >= 0) {
                    long sequence = from.get(at);
                    from.set(at, from.get(from.size() - 1));
                    from.remove(from.size() - 1);
                    int packetId = InFlightWindow.packetId(sequence);
                    assertThat(window.find(packetId)).isEqualTo(sequence);
                    assertThat(window.message(sequence)).isSameAs(model.remove(sequence));
                    window.remove(sequence);
                    identifiers.remove(packetId);
                    assertThat(window.find(packetId)).isEqualTo(-1);
                    assertThat(window.holds(sequence)).isFalse();
                }
            }
            if (step % 30_000 == 0) {
                window.trim();
                assertThat(held()).isEqualTo(new ArrayList<>(model.keySet()));
            }
        }
        assertThat(held()).isEqualTo(new ArrayList<>(model.keySet()));
        model.forEach(
                (sequence, message) -> assertThat(window.message(sequence)).isSameAs(message));
        assertThat(window.bytes())
                .isEqualTo(model.values().stream()
                        .mapToLong(ApplicationMessage::footprintBytes)
                        .sum());
        window.clear();
        assertThat(window.size()).isZero();
        assertThat(budget.bytes()).isZero();
    }

    @Test
    void aFullWindowGoesOnInAnyOrder() { // [MQTT-2.2.1-4]
        List<Long> all = new ArrayList<>();
        while (window.hasIdentifier()) {
            all.add(addOne(QoS.AT_LEAST_ONCE));
        }
        assertThat(all).hasSize(65_535);
        long gone = all.remove(40_000);
        window.remove(gone);

        long next = addOne(QoS.AT_LEAST_ONCE);

        assertThat(InFlightWindow.packetId(next)).isEqualTo(InFlightWindow.packetId(gone)); // the only free one
        assertThat(window.hasIdentifier()).isFalse();
        while (!window.hasIdentifier()) {
            window.remove(all.remove(all.size() / 2));
        }
        assertThat(window.size()).isBetween(59_990, 60_000);
    }

    @Test
    void messagesOfTheStoreComeBackWithTheirIdentifiersInTheirOrder() { // [MQTT-4.4.0-1] [MQTT-4.6.0-1]
        int[] identifiers = {5, 60_000, 60_001, 65_535, 1, 4, 6, 59_999, 2, 30_000, 3};
        List<Long> expected = new ArrayList<>();
        for (int packetId : identifiers) {
            assertThat(window.reach(packetId)).isTrue();
            long sequence = addOne(QoS.EXACTLY_ONCE);
            assertThat(InFlightWindow.packetId(sequence)).isEqualTo(packetId);
            expected.add(sequence);
            assertThat(window.reach(packetId)).isFalse();
            assertThat(window.reach(5)).isFalse();
        }
        assertThat(held()).containsExactlyElementsOf(expected);
        for (int packetId : identifiers) {
            assertThat(InFlightWindow.packetId(window.find(packetId))).isEqualTo(packetId);
        }
        assertThat(window.capacity()).isLessThan(2_100);
        assertThat(InFlightWindow.packetId(addOne(QoS.AT_LEAST_ONCE))).isEqualTo(7); // not 4, 5 or 6
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
