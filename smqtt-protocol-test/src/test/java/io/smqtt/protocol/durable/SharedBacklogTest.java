// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What waits for an absent member of a shared group goes to those that are there, and is never lost on its way. */
class SharedBacklogTest {

    private static final String SHARED = "$share/g/t";
    private static final int WINDOW = 20;
    private static final int LIMIT = 1_000;

    private final DurableBroker broker = new DurableBroker(config -> config.limits(
            LimitsConfig.builder().maxQueuedMessages(LIMIT).maxInFlight(WINDOW).build()));

    @AfterEach
    void close() {
        broker.close();
    }

    private void away(String clientId, int expirySeconds) {
        RawClient member = broker.open(ProtocolVersion.MQTT_5);
        member.connect(ConnectBytes.of(clientId).persistent(expirySeconds));
        member.subscribe(SHARED, 2);
        member.disconnect();
        broker.awaitOffline(clientId);
    }

    /** A member that has its SUBACK before what others have left comes. */
    private RawClient present(String clientId) {
        RawClient member = joined(clientId);
        broker.store.releaseReads();
        return member;
    }

    /** A member that joins while the store lets nobody read. */
    private RawClient joined(String clientId) {
        broker.store.holdReads();
        RawClient member = broker.persistent(clientId);
        member.subscribe(SHARED, 2);
        return member;
    }

    private void publish(int count, int qos) {
        RawClient publisher = broker.clean("p");
        for (int i = 0; i < count; i++) {
            publisher.publish("t", String.valueOf(i), qos);
        }
        publisher.disconnect();
    }

    private static List<String> numbers(int count) {
        return IntStream.range(0, count).mapToObj(String::valueOf).toList();
    }

    /** Takes messages and acknowledges them until every one was there. */
    private static List<String> drain(RawClient client, int expected) {
        List<String> texts = new ArrayList<>();
        while (new TreeSet<>(texts).size() < expected) {
            ReceivedPacket next = client.receive();
            if (next == null) {
                throw new AssertionError("the connection ended after " + texts.size());
            }
            if (next.type() == MqttMessageType.PUBREL) {
                client.acknowledge(0x70, next.packetId());
            } else {
                texts.add(next.text());
                client.acknowledge(next.qos() == 1 ? 0x40 : 0x50, next.packetId());
            }
        }
        return texts;
    }

    /** Completes what is left of QoS 2 messages; no other message comes. */
    private void finish(RawClient client, String... clientIds) {
        await().until(() -> {
            client.send((byte) 0xC0, (byte) 0);
            ReceivedPacket next = client.receive();
            while (next != null && next.type() == MqttMessageType.PUBREL) {
                client.acknowledge(0x70, next.packetId());
                next = client.receive();
            }
            assertThat(next).isNotNull();
            assertThat(next.type()).isEqualTo(MqttMessageType.PINGRESP);
            return Stream.of(clientIds)
                    .allMatch(clientId -> broker.store.messages(clientId).isEmpty());
        });
    }

    private void awaitEmpty(String... clientIds) {
        for (String clientId : clientIds) {
            await().until(() -> broker.store.messages(clientId).isEmpty());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void manyPagesGoToTheMemberThatIsThere(int qos) {
        away("s1", 1_000);
        publish(700, qos);
        RawClient second = present("s2");
        assertThat(drain(second, 700)).containsExactlyInAnyOrderElementsOf(numbers(700));
        finish(second, "s1", "s2");
        broker.resumed("s1").expectNothing();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aMemberThatIsFullAsksForTheRestWhenItHasDrained(int qos) {
        away("s1", 1_000);
        publish(LIMIT, qos);
        RawClient second = present("s2");
        await().until(() -> broker.store.messages("s2").size() >= LIMIT / 2);
        assertThat(broker.store.messages("s1")).isNotEmpty();
        assertThat(drain(second, LIMIT)).containsExactlyInAnyOrderElementsOf(numbers(LIMIT));
        finish(second, "s1", "s2");
    }

    @Test
    void whatWasInFlightStaysIfTheOtherMemberCannotStoreIt() {
        away("s2", 1_000);
        RawClient first = present("s1");
        broker.clean("p").publish("t", "x", 1);
        first.expectPublish("t", "x");
        RawClient second = broker.resumed("s2");
        broker.store.fail();
        first.abort();
        second.expectPublish("t", "x");
        second.abort();
        broker.awaitOffline("s2");
        broker.store.heal();
        for (int i = 0; i < 5; i++) {
            broker.advance(Duration.ofSeconds(1));
            broker.clean("other").ping();
        }
        broker.persistent("witness").disconnect(); // a commit later
        assertThat(broker.store.messages("s1")).hasSize(1);
        assertThat(broker.resumed("s1").expectPublish("t", "x").dup()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatWaitedStaysIfTheOtherMemberCannotStoreIt(int qos) {
        away("s1", 1_000);
        publish(10, qos);
        RawClient second = joined("s2");
        broker.store.fail();
        broker.store.releaseReads();
        if (qos == 1) { // they leave at once
            for (String number : numbers(10)) {
                second.expectPublish("t", number);
            }
        }
        await().until(() -> broker.store.failures() > 0);
        for (int i = 0; i < 5; i++) { // not again and again
            broker.advance(Duration.ofSeconds(1));
            second.expectNothing();
        }
        broker.store.heal();
        broker.advance(Duration.ofSeconds(1));
        assertThat(drain(second, 10)).containsExactlyInAnyOrderElementsOf(numbers(10));
        finish(second, "s1", "s2");
    }

    @Test
    void aMemberThatComesBackInTheMiddleLosesNothingAndHoldsNothingBack() {
        away("s1", 1_000);
        publish(600, 1);
        RawClient second = joined("s2");
        broker.store.hold();
        RawClient back = broker.open(ProtocolVersion.MQTT_5);
        back.send(ConnectBytes.of("s1").persistent(1_000));
        broker.awaitPending();
        broker.store.releaseReads();
        for (int i = 0; i < WINDOW; i++) { // the first page is on its way
            second.expectPublish("t", String.valueOf(i));
        }
        assertThat(broker.store.commitOne()).isTrue();
        assertThat(back.expect(MqttMessageType.CONNACK).sessionPresent()).isTrue();
        back.expectNothing(); // who has the first one is not decided
        broker.store.release();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < WINDOW; i++) {
            texts.add(back.expect(MqttMessageType.PUBLISH).text());
        }
        assertThat(texts).doesNotContainAnyElementsOf(numbers(256)).doesNotHaveDuplicates();
        back.abort();
        second.abort();
        broker.awaitOffline("s1");
        broker.awaitOffline("s2");
        RawClient again = broker.resumed("s2");
        assertThat(new TreeSet<>(drain(again, 600))).isEqualTo(new TreeSet<>(numbers(600)));
        awaitEmpty("s1", "s2");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aQos2MessageIsWithOneMemberAtAnyTime(boolean ends) { // [MQTT-4.3.3-10]
        away("s1", 100);
        publish(3, 2);
        if (ends) {
            away2();
            broker.store.hold();
            broker.advance(Duration.ofSeconds(101));
        } else {
            joined("s2");
            broker.store.hold();
            broker.store.releaseReads();
        }
        broker.awaitPending();
        while (broker.store.commitOne()) {
            int stored = broker.store.messages("s1").size()
                    + broker.store.messages("s2").size();
            assertThat(stored).isEqualTo(3);
        }
        broker.kill();
        broker.advance(Duration.ofSeconds(1));
        RawClient second = broker.resumed("s2");
        assertThat(drain(second, 3)).containsExactlyInAnyOrderElementsOf(numbers(3));
        finish(second, "s1", "s2");
    }

    /** Another member that comes and goes without a look at what others have. */
    private void away2() {
        broker.store.holdReads();
        away("s2", 1_000);
        broker.store.releaseReads();
    }

    @Test
    void whatWasOnItsWayToAMemberThatLeavesGoesToTheNext() {
        away("s1", 1_000);
        publish(100, 1);
        RawClient second = joined("s2");
        second.abort();
        broker.awaitOffline("s2");
        broker.store.releaseReads();
        RawClient third = present("s3");
        assertThat(drain(third, 100)).containsExactlyInAnyOrderElementsOf(numbers(100));
        awaitEmpty("s1", "s2", "s3");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aSessionThatEndsLeavesItsShareToAbsentMembers(int qos) {
        away("s1", 100);
        away("s2", 1_000);
        publish(600, qos);
        assertThat(broker.store.messages("s1")).hasSize(300);
        broker.advance(Duration.ofSeconds(101));
        await().until(() -> broker.store.session("s1").isEmpty());
        assertThat(broker.store.messages("s2")).hasSize(600);
        broker.kill();
        assertThat(drain(broker.resumed("s2"), 600)).containsExactlyInAnyOrderElementsOf(numbers(600));
    }

    @Test
    void aSessionThatEndsIsGoneAfterACrashInTheMiddleAndItsShareIsNot() {
        away("s1", 100);
        away("s2", 1_000);
        publish(600, 1);
        broker.store.holdReads();
        broker.advance(Duration.ofSeconds(101));
        await().until(() -> broker.store.session("s1").orElseThrow().expirySeconds() == 0);
        broker.kill();
        await().until(() -> broker.store.session("s1").isEmpty());
        assertThat(broker.store.messages("s2")).hasSize(600);
    }

    @Test
    void whatWasSentBeforeACrashGoesToTheMemberThatIsThereAfterwards() {
        RawClient first = present("s1");
        publish(5, 1);
        first.expectPublish("t", "0");
        broker.kill();
        RawClient second = present("s2");
        assertThat(drain(second, 5)).containsExactlyInAnyOrderElementsOf(numbers(5));
        awaitEmpty("s1", "s2");
    }
}
