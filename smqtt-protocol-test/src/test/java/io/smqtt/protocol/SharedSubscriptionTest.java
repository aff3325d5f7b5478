// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREL;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shared subscriptions (MQTT 5.0, section 4.8.2). */
@Tag("slow")
class SharedSubscriptionTest {

    @RegisterExtension
    static final BrokerExtension BROKER = new BrokerExtension();

    private static RawClient member(String id, String filter, int qos) {
        RawClient client = BROKER.open(MQTT_5);
        client.connect(ConnectBytes.of(id).persistent(1_000));
        client.subscribe(filter, qos);
        return client;
    }

    private static RawClient returning(String id) {
        RawClient client = BROKER.open(MQTT_5);
        assertThat(client.connect(ConnectBytes.of(id).persistent(1_000)).sessionPresent())
                .isTrue();
        return client;
    }

    private static void publish(String topic, int qos, int count) {
        RawClient publisher = BROKER.client(MQTT_5, "publisher");
        for (int i = 1; i <= count; i++) {
            publisher.publish(topic, String.valueOf(i), qos);
        }
        publisher.disconnect();
    }

    /** All that was sent to a client so far. */
    private static List<String> received(RawClient client) {
        List<String> texts = new ArrayList<>();
        for (int pings = 0; pings < 2; ) {
            client.send((byte) 0xC0, (byte) 0);
            ReceivedPacket next = client.receive();
            while (next != null && next.type() == PUBLISH) {
                texts.add(next.text());
                if (next.qos() == 1) {
                    client.acknowledge(0x40, next.packetId());
                }
                next = client.receive();
            }
            pings++;
        }
        return texts;
    }

    @Test
    void eachMessageGoesToOneMemberAndAllGetTheirShare() {
        List<RawClient> members = IntStream.range(0, 4)
                .mapToObj(i -> member("spread-" + i, "$share/g/spread/+", i % 2))
                .toList();
        RawClient plain = member("spread-plain", "spread/+", 0);
        publish("spread/t", 1, 200);

        List<List<String>> shares =
                members.stream().map(SharedSubscriptionTest::received).toList();
        List<String> all = new ArrayList<>();
        for (List<String> share : shares) {
            assertThat(share).hasSizeBetween(40, 60);
            all.addAll(share);
        }
        assertThat(all).hasSize(200).doesNotHaveDuplicates();
        assertThat(received(plain)).hasSize(200);
    }

    @Test
    void groupsOfOtherNamesOrFiltersGetTheirOwnCopy() {
        RawClient one = member("groups-1", "$share/g1/groups/#", 0);
        RawClient two = member("groups-2", "$share/g2/groups/#", 0);
        RawClient three = member("groups-3", "$share/g1/groups/t", 0);
        publish("groups/t", 0, 3);

        for (RawClient client : List.of(one, two, three)) {
            assertThat(received(client)).containsExactly("1", "2", "3");
        }
    }

    @Test
    void noLocalOnASharedSubscriptionIsAProtocolError() { // [MQTT-3.8.3-4]
        RawClient client = BROKER.client(MQTT_5, "no-local");

        client.send(SubscribeBytes.of(1).filter("$share/g/t", SubscribeBytes.NO_LOCAL));
        client.expectDisconnect(ReasonCode.PROTOCOL_ERROR);
    }

    @ParameterizedTest
    @ValueSource(strings = {"$share", "$share/", "$share//t", "$share///"})
    void aShareNameHasOneCharacterOrMore(String filter) { // [MQTT-4.8.2-1]
        RawClient client = BROKER.client(MQTT_5, "nameless");

        assertThat(client.subscribe(filter, 0).reasonCodes()).containsExactly(0x8F);
        client.expectNothing();
    }

    @ParameterizedTest
    @ValueSource(strings = {"$share/g", "$share/g/", "$share/g+/t", "$share/#/t", "$share/+/t", "$share/g/t#"})
    void aShareNameHasNoWildcardAndIsFollowedByAFilter(String filter) { // [MQTT-4.8.2-2]
        RawClient client = BROKER.client(MQTT_5, "filterless");

        assertThat(client.subscribe(filter, 0).reasonCodes()).containsExactly(0x8F);
        client.expectNothing();
    }

    @Test
    void eachMemberGetsTheQosItWasGranted() { // [MQTT-4.8.2-3]
        RawClient zero = member("granted-0", "$share/g/granted", 0);
        RawClient one = member("granted-1", "$share/g/granted", 1);
        publish("granted", 2, 4);

        for (int i = 0; i < 2; i++) {
            assertThat(zero.expect(PUBLISH).qos()).isZero();
            assertThat(one.expect(PUBLISH).qos()).isEqualTo(1);
        }
    }

    @Test
    void aQos2MessageBegunIsFinishedWithItsMember() { // [MQTT-4.8.2-4]
        RawClient first = member("begun-1", "$share/g/begun", 2);
        publish("begun", 2, 1);
        int id = first.expectPublish("begun", "1").packetId();
        RawClient other = member("begun-2", "$share/g/begun", 2);
        first.abort();
        publish("begun", 2, 1);
        assertThat(received(other)).containsExactly("1"); // the second message only

        RawClient back = returning("begun-1");
        ReceivedPacket again = back.expectPublish("begun", "1");
        assertThat(again.packetId()).isEqualTo(id);
        assertThat(again.dup()).isTrue();
        back.acknowledge(0x50, id).expect(PUBREL);
        back.acknowledge(0x70, id);
        back.expectNothing();
    }

    @Test
    void aQos2MessageBegunGoesToNobodyElseWhenTheSessionEnds() { // [MQTT-4.8.2-5]
        RawClient first = BROKER.client(MQTT_5, "ends-1");
        first.subscribe("$share/g/ends", 2);
        publish("ends", 2, 1);
        first.expectPublish("ends", "1");
        RawClient other = member("ends-2", "$share/g/ends", 2);
        first.disconnect();

        assertThat(received(other)).isEmpty();
        publish("ends", 2, 1);
        assertThat(received(other)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aMessageThatAMemberRefusesIsOfferedToNobodyElse(int qos) { // [MQTT-4.8.2-6]
        RawClient first = member("refusing-" + qos, "$share/g/refused/" + qos, qos);
        publish("refused/" + qos, qos, 1);
        RawClient other = member("other-" + qos, "$share/g/refused/" + qos, qos);
        int id = first.expectPublish("refused/" + qos, "1").packetId();
        first.send((byte) (qos == 1 ? 0x40 : 0x50), (byte) 3, (byte) (id >> 8), (byte) id, (byte) 0x83);

        first.expectNothing();
        assertThat(received(other)).isEmpty();
        first.abort();
        assertThat(received(other)).isEmpty();
    }

    @Test
    void anOfflineMemberGetsNothingWhileAnotherIsOnline() {
        RawClient away = member("away", "$share/g/away", 1);
        RawClient here = member("here", "$share/g/away", 1);
        away.disconnect();
        publish("away", 1, 20);

        assertThat(received(here)).hasSize(20);
        assertThat(received(returning("away"))).isEmpty();
    }

    @Test
    void whileNobodyIsOnlineMessagesWaitForAMember() {
        RawClient away = member("queued", "$share/g/queued", 1);
        away.disconnect();
        publish("queued", 1, 5);

        assertThat(received(returning("queued"))).containsExactly("1", "2", "3", "4", "5");
    }

    @Test
    void theFirstMemberThatComesBackGetsWhatWaitedForTheOthersToo() {
        RawClient first = member("back-1", "$share/g/back", 1);
        RawClient second = member("back-2", "$share/g/back", 1);
        first.disconnect();
        second.disconnect();
        publish("back", 1, 6);

        RawClient back = returning("back-1");

        assertThat(acknowledged(back, 6)).containsExactly("1", "2", "3", "4", "5", "6");
        assertThat(received(returning("back-2"))).isEmpty();
    }

    @Test
    void aNewMemberGetsWhatWaitedForAbsentOnes() {
        RawClient away = member("absent", "$share/g/new", 1);
        away.disconnect();
        publish("new", 1, 3);

        RawClient here = member("newcomer", "$share/g/new", 1);

        assertThat(acknowledged(here, 3)).containsExactly("1", "2", "3");
        assertThat(received(returning("absent"))).isEmpty();
    }

    /** The texts of the next messages, sorted, each acknowledged. */
    private static List<String> acknowledged(RawClient client, int count) {
        List<String> texts = new ArrayList<>();
        while (texts.size() < count) {
            ReceivedPacket next = client.expect(PUBLISH);
            texts.add(next.text());
            client.acknowledge(0x40, next.packetId());
        }
        Collections.sort(texts);
        return texts;
    }

    @Test
    void aLeavingMemberHandsOverWhatItDidNotAcknowledge() {
        RawClient leaving = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("leaving").persistent(1_000);
        connect.properties().receiveMaximum(3);
        leaving.connect(connect);
        leaving.subscribe("$share/g/leaving", 1);
        publish("leaving", 1, 10); // three are in flight, seven wait
        RawClient staying = member("staying", "$share/g/leaving", 1);
        assertThat(leaving.expect(PUBLISH).text()).isEqualTo("1");
        leaving.abort();

        assertThat(acknowledged(staying, 10)).containsExactly("1", "10", "2", "3", "4", "5", "6", "7", "8", "9");
        assertThat(received(returning("leaving"))).isEmpty();
    }

    @Test
    void aMemberWhoseSessionIsReplacedHandsOverToo() {
        RawClient old = member("replaced", "$share/g/replaced", 1);
        publish("replaced", 1, 2);
        old.expect(PUBLISH);
        RawClient other = member("replaced-other", "$share/g/replaced", 1);
        RawClient fresh = BROKER.client(MQTT_5, "replaced");

        assertThat(List.of(other.expect(PUBLISH).text(), other.expect(PUBLISH).text()))
                .containsExactlyInAnyOrder("1", "2");
        fresh.expectNothing();
    }

    @Test
    void unsubscribingLeavesTheGroup() {
        RawClient leaving = member("unsubscribing", "$share/g/leave", 0);
        RawClient staying = member("subscribed", "$share/g/leave", 0);
        assertThat(leaving.unsubscribe("$share/g/leave").reasonCodes()).containsExactly(0);
        assertThat(leaving.unsubscribe("$share/g/leave").reasonCodes()).containsExactly(0x11);
        publish("leave", 0, 10);

        assertThat(received(staying)).hasSize(10);
        leaving.expectNothing();
    }

    @Test
    void aSharedSubscriptionGetsNoRetainedMessages() {
        BROKER.client(MQTT_5, "retaining")
                .publish(PublishBytes.to("retained/shared").payload("x").retained());
        RawClient client = member("retained-member", "$share/g/retained/+", 1);

        client.expectNothing();
    }

    @Test
    void aClientOf311MayShareToo() {
        RawClient older = BROKER.client(MQTT_3_1_1, "older");
        older.subscribe("$share/g/older", 0);
        RawClient newer = member("newer", "$share/g/older", 0);
        publish("older", 0, 10);

        assertThat(received(older)).hasSize(5);
        assertThat(received(newer)).hasSize(5);
    }
}
