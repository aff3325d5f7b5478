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
import io.smqtt.test.packet.SubscribeBytes;
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

/** What waits for a shared group is in the store, goes to the members that are there, and is never lost on its way. */
class SharedBacklogTest {

    private static final String SHARED = "$share/g/t";
    private static final String GROUP = "$in-process/" + SHARED; // as the store calls it
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

    private RawClient present(String clientId) {
        RawClient member = broker.persistent(clientId);
        member.subscribe(SHARED, 2);
        return member;
    }

    private int waiting() {
        return broker.store.messages(GROUP).size();
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
        finish(second, GROUP, "s2");
        broker.resumed("s1").expectNothing();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aMemberThatIsFullAsksForTheRestWhenItHasDrained(int qos) {
        away("s1", 1_000);
        publish(LIMIT, qos);
        assertThat(waiting()).isEqualTo(LIMIT);
        assertThat(broker.store.messages("s1")).isEmpty();
        RawClient second = present("s2");
        assertThat(drain(second, LIMIT)).containsExactlyInAnyOrderElementsOf(numbers(LIMIT));
        finish(second, GROUP, "s2");
    }

    @Test
    void whatWasInFlightStaysWithTheGroupThoughTheStoreTakesNothing() {
        away("s2", 1_000);
        RawClient first = present("s1");
        broker.clean("p").publish("t", "x", 1);
        first.expectPublish("t", "x");
        RawClient second = broker.resumed("s2");
        await().until(() -> waiting() == 1);
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
        assertThat(waiting()).isEqualTo(1);
        broker.kill();
        RawClient again = broker.resumed("s1");
        again.acknowledge(0x40, again.expectPublish("t", "x").packetId());
        await().until(() -> waiting() == 0);
    }

    @Test
    void whatAMemberCannotStoreStaysWithTheGroup() {
        away("s1", 1_000);
        publish(10, 2);
        RawClient second = broker.persistent("s2");
        broker.store.hold();
        second.send(SubscribeBytes.of(7).filter(SHARED, 2));
        broker.awaitPending();
        assertThat(broker.store.commitOne()).isTrue();
        second.expect(MqttMessageType.SUBACK);
        broker.awaitPending(); // the first messages, on their way to the member
        broker.store.fail();
        broker.store.release();
        for (int i = 0; i < 5; i++) {
            broker.advance(Duration.ofSeconds(1));
            second.expectNothing();
        }
        assertThat(waiting()).isEqualTo(10);
        assertThat(broker.store.messages("s2")).isEmpty();
        broker.store.heal();
        broker.advance(Duration.ofSeconds(1));
        assertThat(drain(second, 10)).containsExactlyInAnyOrderElementsOf(numbers(10));
        finish(second, GROUP, "s2");
    }

    @Test
    void membersThatComeAndGoInTheMiddleLoseNothing() {
        away("s1", 1_000);
        publish(600, 1);
        RawClient second = present("s2");
        for (int i = 0; i < WINDOW; i++) {
            second.expectPublish("t", String.valueOf(i));
        }
        RawClient back = broker.resumed("s1");
        for (int i = WINDOW; i < 2 * WINDOW; i++) {
            back.expectPublish("t", String.valueOf(i));
        }
        back.abort();
        second.abort();
        broker.awaitOffline("s1");
        broker.awaitOffline("s2");
        assertThat(waiting()).isEqualTo(600);
        RawClient again = broker.resumed("s2");
        assertThat(new TreeSet<>(drain(again, 600))).isEqualTo(new TreeSet<>(numbers(600)));
        awaitEmpty(GROUP, "s1", "s2");
    }

    @Test
    void aQos2MessageIsWithTheGroupOrOneMemberAtAnyTime() { // [MQTT-4.3.3-10]
        away("s1", 100);
        publish(3, 2);
        RawClient joined = broker.persistent("s2");
        joined.subscribe("$share/other/t", 2);
        broker.store.hold();
        joined.send(SubscribeBytes.of(7).filter(SHARED, 2));
        broker.awaitPending();
        while (broker.store.commitOne()) {
            assertThat(waiting() + broker.store.messages("s2").size()).isEqualTo(3);
        }
        broker.kill();
        broker.advance(Duration.ofSeconds(1));
        RawClient second = broker.resumed("s2");
        assertThat(drain(second, 3)).containsExactlyInAnyOrderElementsOf(numbers(3));
        finish(second, GROUP, "s2");
    }

    @Test
    void whatWasOnItsWayToAMemberThatLeavesGoesToTheNext() {
        away("s1", 1_000);
        publish(100, 1);
        RawClient second = present("s2");
        second.abort();
        broker.awaitOffline("s2");
        RawClient third = present("s3");
        assertThat(drain(third, 100)).containsExactlyInAnyOrderElementsOf(numbers(100));
        awaitEmpty(GROUP, "s1", "s2", "s3");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aSessionThatEndsLeavesItsShareToAbsentMembers(int qos) {
        away("s1", 100);
        away("s2", 1_000);
        publish(600, qos);
        assertThat(waiting()).isEqualTo(600);
        broker.advance(Duration.ofSeconds(101));
        await().until(() -> broker.store.session("s1").isEmpty());
        assertThat(waiting()).isEqualTo(600);
        broker.kill();
        assertThat(drain(broker.resumed("s2"), 600)).containsExactlyInAnyOrderElementsOf(numbers(600));
    }

    @Test
    void theQueueOfAGroupGoesWithItsLastMember() {
        away("s1", 100);
        away("s2", 100);
        publish(600, 1);
        assertThat(waiting()).isEqualTo(600);
        broker.advance(Duration.ofSeconds(101));
        await().until(() -> broker.store.session(GROUP).isEmpty());
        assertThat(waiting()).isZero();
    }

    @Test
    void whatWasSentBeforeACrashGoesToTheMemberThatIsThereAfterwards() {
        RawClient first = present("s1");
        publish(5, 1);
        first.expectPublish("t", "0");
        broker.kill();
        RawClient second = present("s2");
        assertThat(drain(second, 5)).containsExactlyInAnyOrderElementsOf(numbers(5));
        awaitEmpty(GROUP, "s1", "s2");
    }
}
