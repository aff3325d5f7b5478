// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.CONNACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBCOMP;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREC;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREL;
import static io.netty.handler.codec.mqtt.MqttMessageType.SUBACK;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.PooledByteBufAllocator;
import io.smqtt.config.MqttConfig;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PacketRow;
import io.smqtt.test.packet.PacketTable;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hostile client input, one test for each row of docs/hostile-inputs.md, while a bystander must not be affected. Which test
 * covers which row:
 *
 * <table>
 * <caption>Rows and tests</caption>
 * <tr><td>1 to 4, 6 to 8, 12 to 16, 18 to 21, 23</td><td>{@link MalformedPacketTest}, {@link SharedSubscriptionTest}</td></tr>
 * <tr><td>17</td><td>{@link TopicAliasTest}</td></tr>
 * <tr><td>24</td><td>{@link EnhancedAuthenticationTest}</td></tr>
 * <tr><td>27, 75</td><td>{@link FlowControlTest}, {@link PacketSizeTest}</td></tr>
 * <tr><td>32, 34, 35, 74</td><td>{@link OverloadTest}</td></tr>
 * <tr><td>41 to 43, 45 to 50, 52, 53</td><td>{@link AccessTest}</td></tr>
 * <tr><td>57 to 60, 62 to 64</td><td>the tests of the transport package</td></tr>
 * <tr><td>5, 9 to 11, 22, 25, 26, 29 to 31, 36 to 40, 56, 72, 77</td><td>here</td></tr>
 * </table>
 */
@Tag("slow")
class HostileInputTest {

    private static final Counters COUNTERS = new Counters();

    @RegisterExtension
    static final BrokerExtension BROKER = new BrokerExtension(
            config -> config.mqtt(
                    MqttConfig.builder().maxKeepAlive(Duration.ofSeconds(600)).build()),
            parts -> parts.observer(COUNTERS));

    private RawClient canary;
    private int trips;

    @BeforeEach
    void canaryConnects() {
        canary = BROKER.client(MQTT_5, "canary").deadline(Duration.ofSeconds(15));
        canary.subscribe("canary", 1);
    }

    @AfterEach
    void canaryHasNoticedNothing() {
        sing();
        canary.expectNothing();
    }

    /** A round trip of a message. */
    private void sing() {
        String payload = String.valueOf(++trips);
        canary.send(PublishBytes.to("canary").payload(payload));
        canary.expectPublish("canary", payload);
    }

    private RawClient hostile() {
        return BROKER.client(MQTT_5, "hostile");
    }

    @Test
    @DisplayName("row 5: 40,000 user properties")
    void manyUserProperties() {
        PublishBytes publish = PublishBytes.to("t");
        for (int i = 0; i < 40_000; i++) {
            publish.properties().user("n", "v");
        }
        RawClient client = hostile();
        client.send(publish);

        client.expectDisconnect(ReasonCode.QUOTA_EXCEEDED);
    }

    @Test
    @DisplayName("row 9: topics and filters of very many levels")
    void veryManyLevels() {
        String deep = "/".repeat(4_000);
        RawClient publisher = hostile();
        publisher.send(PublishBytes.to(deep).retained()).expectDisconnect(ReasonCode.TOPIC_NAME_INVALID);
        RawClient subscriber = hostile();
        assertThat(subscriber.subscribe(deep + "#", 0).reasonCodes())
                .containsExactly(ReasonCode.TOPIC_FILTER_INVALID.value());
        RawClient longest = hostile();
        longest.send(PublishBytes.to("/".repeat(65_535))).expectDisconnect(ReasonCode.TOPIC_NAME_INVALID);
    }

    @Test
    @DisplayName("row 10: topics that start with a dollar sign; point 20: they are acknowledged")
    void dollarTopics() {
        RawClient reader = hostile();
        reader.subscribe("#", 0);
        RawClient client = BROKER.client(MQTT_5, "dollar");
        client.send(PublishBytes.to("$weird/t").qos(1, 1)).expect(PUBACK);
        client.send(PublishBytes.to("$").qos(2, 2)).expect(PUBREC);

        reader.expectNothing();
    }

    @Test
    @DisplayName("row 11: thousands of overlapping wildcard filters")
    void overlappingFilters() {
        RawClient client = hostile();
        SubscribeBytes subscribe = SubscribeBytes.of(1);
        for (int i = 0; i < 512; i++) {
            StringBuilder filter = new StringBuilder();
            for (int bit = 0; bit < 9; bit++) {
                filter.append((i >> bit & 1) == 0 ? "+" : "a").append(bit < 8 ? "/" : "");
            }
            subscribe.filter(filter.toString(), 0);
        }
        client.send(subscribe).expect(SUBACK);
        RawClient publisher = BROKER.client(MQTT_5, "publisher");
        for (int i = 0; i < 100; i++) {
            publisher.publish("a/a/a/a/a/a/a/a/a", "x", 0);
            client.expectPublish("a/a/a/a/a/a/a/a/a", "x"); // one copy
            sing();
        }
        client.expectNothing();
    }

    @Test
    @DisplayName("row 22: more subscriptions than a client may have")
    void tooManySubscriptions() {
        RawClient client = hostile();
        List<Integer> codes = new ArrayList<>();
        for (int packet = 0; packet < 3; packet++) {
            SubscribeBytes subscribe = SubscribeBytes.of(packet + 1);
            for (int i = 0; i < 500; i++) {
                subscribe.filter("many/" + packet + '/' + i, 0);
            }
            codes.addAll(client.send(subscribe).expect(SUBACK).reasonCodes());
        }

        assertThat(codes.subList(0, 1_000)).containsOnly(0);
        assertThat(codes.subList(1_000, 1_500)).containsOnly(ReasonCode.QUOTA_EXCEEDED.value());
        assertThat(client.subscribe("many/0/0", 1).reasonCodes()).containsExactly(1); // replacing takes no room
    }

    @Test
    @DisplayName("row 25, point 13: a DISCONNECT that raises the expiry from zero")
    void raisingTheExpiry() {
        RawClient client = hostile();
        client.send(PacketBytes.packet(0xE0)
                .u8(0)
                .properties(PacketBytes.fields().u8(0x11).u32(100)));

        client.expectDisconnect(ReasonCode.PROTOCOL_ERROR);
    }

    @Test
    @DisplayName("row 26: the same unreleased QoS 2 message thousands of times")
    void theSameMessageAgainAndAgain() {
        RawClient reader = BROKER.client(MQTT_5, "once-reader");
        reader.subscribe("once", 0);
        RawClient client = hostile();
        for (int i = 0; i < 3_000; i++) {
            client.send(PublishBytes.to("once").qos(2, 7).payload("x")).expect(PUBREC);
        }
        client.acknowledge(0x62, 7).expect(PUBCOMP);

        reader.expectPublish("once", "x");
        reader.expectNothing();
    }

    @Test
    @DisplayName("row 29, point 7: acknowledgements of what was never sent")
    void unknownAcknowledgements() {
        RawClient client = hostile();
        for (int id = 1; id <= 1_000; id++) {
            client.acknowledge(0x40, id).acknowledge(0x70, id);
            ReceivedPacket rel = client.acknowledge(0x50, id).expect(PUBREL);
            assertThat(rel.reason()).isEqualTo(ReasonCode.PACKET_IDENTIFIER_NOT_FOUND);
            ReceivedPacket comp = client.acknowledge(0x62, id).expect(PUBCOMP);
            assertThat(comp.reason()).isEqualTo(ReasonCode.PACKET_IDENTIFIER_NOT_FOUND);
        }
        client.send((byte) 0x50, (byte) 3, (byte) 0, (byte) 9, (byte) 0x80);
        client.expectNothing(); // no PUBREL after an error
    }

    @Test
    @DisplayName("row 30: a reconnect storm of one client identifier")
    void reconnectStorm() {
        for (int i = 0; i < 200; i++) {
            RawClient client = RawClient.to(BROKER.address(), i % 2 == 0 ? MQTT_5 : MQTT_3_1_1);
            client.send(ConnectBytes.of("storm").cleanStart(i % 3 == 0));
            client.send(SubscribeBytes.of(1).filter("storm/" + i % 5, 1));
            client.send(PublishBytes.to("storm/" + i % 5).qos(1, 1).payload("x"));
            if (i % 4 == 0) {
                client.abort();
            } else if (i % 4 == 1) {
                client.close();
            } else {
                client.expect(CONNACK);
            }
        }
        RawClient last = BROKER.client(MQTT_5, "storm");
        last.expectNothing();

        assertThat(connected("storm")).isEqualTo(1);
    }

    private static long connected(String clientId) {
        return BROKER.broker()
                .clients()
                .filter(info -> info.connected() && info.identity().clientId().equals(clientId))
                .count()
                .block();
    }

    @Test
    @DisplayName("row 31: will delay and session expiry at the same moment")
    void willAndExpiryMeet() {
        RawClient reader = BROKER.client(MQTT_5, "will-reader");
        reader.subscribe("will/t", 0);
        RawClient client = BROKER.open(MQTT_5);
        PublishBytes will = PublishBytes.to("will/t").payload("gone");
        will.properties().willDelay(5);
        client.connect(ConnectBytes.of("testator").persistent(5).will(will));
        client.abort();
        await().until(() -> connected("testator") == 0);
        BROKER.ticker().advance(Duration.ofSeconds(6));

        reader.expectPublish("will/t", "gone");
        reader.expectNothing();
    }

    @ParameterizedTest
    @DisplayName("row 36: a keep alive of none or too much is cut to the broker's")
    @ValueSource(ints = {0, 65_535})
    void keepAliveIsCut(int seconds) {
        RawClient client = BROKER.open(MQTT_5);

        assertThat(client.connect(ConnectBytes.of("idle").keepAlive(seconds)).number(0x13))
                .isEqualTo(600);
    }

    @Test
    @DisplayName("row 37: a PUBLISH that never completes")
    void aPublishThatNeverCompletes() {
        RawClient client = BROKER.open(MQTT_5);
        client.connect(ConnectBytes.of("dripping").keepAlive(2));
        client.send(PacketBytes.packet(0x30).u16(1).toBytes(100_000));
        for (int i = 0; i < 8; i++) {
            client.send((byte) 0);
            BROKER.ticker().advance(Duration.ofMillis(500));
        }

        client.expectDisconnect(ReasonCode.KEEP_ALIVE_TIMEOUT);
    }

    @Test
    @DisplayName("row 38: packets behind a DISCONNECT or a violation")
    void packetsBehindTheEnd() {
        RawClient reader = BROKER.client(MQTT_5, "behind-reader");
        reader.subscribe("behind", 0);
        byte[] publish = PublishBytes.to("behind").payload("x").toBytes(MQTT_5);
        for (String end : new String[] {"e000", "f000", "3600", "00"}) {
            RawClient client = hostile();
            client.send(PacketBytes.fields().hex(end).bytes(publish).bytes(publish));
        }
        RawClient tooEarly = BROKER.open(MQTT_5);
        tooEarly.send(PacketBytes.fields()
                .bytes(publish)
                .bytes(ConnectBytes.of("x").toBytes(MQTT_5))
                .bytes(publish));
        tooEarly.expectClosed();

        reader.expectNothing();
    }

    @Test
    @DisplayName("row 39: a malformed CONNECT with another client's identifier")
    void aMalformedConnectTakesNothingOver() {
        RawClient owner = BROKER.client(MQTT_5, "owner");
        RawClient thief = BROKER.open(MQTT_5);
        thief.send(PacketBytes.connect(MQTT_5, 0x03, 0, "owner")); // the reserved flag
        RawClient late = BROKER.open(MQTT_5);
        late.send(PacketBytes.connect(MQTT_5, 0x02, 0, "owner").u8(1)); // a byte too many
        for (RawClient client : List.of(thief, late)) {
            assertThat(client.expect(CONNACK).reason()).isEqualTo(ReasonCode.MALFORMED_PACKET);
            client.expectClosed();
        }

        owner.expectNothing();
    }

    @Test
    @DisplayName("row 40: packets byte by byte, and all at once")
    void anySplit() {
        byte[] all = PacketBytes.fields()
                .bytes(ConnectBytes.of("split").toBytes(MQTT_5))
                .bytes(SubscribeBytes.of(1).filter("split", 1).toBytes(MQTT_5))
                .bytes(PublishBytes.to("split").qos(1, 2).payload("x").toBytes(MQTT_5))
                .hex("c000")
                .toBytes();
        RawClient bytes = BROKER.open(MQTT_5);
        for (byte one : all) {
            bytes.send(one);
        }
        RawClient whole = BROKER.open(MQTT_5);
        expectAnswers(bytes);
        whole.send(all);
        expectAnswers(whole);
    }

    private static void expectAnswers(RawClient client) {
        client.expect(CONNACK);
        client.expect(SUBACK);
        int publishes = 0;
        int pubAcks = 0;
        int pings = 0;
        for (int i = 0; i < 3; i++) {
            ReceivedPacket next = client.receive();
            publishes += next.type() == PUBLISH ? 1 : 0;
            pubAcks += next.type() == PUBACK ? 1 : 0;
            pings += next.type() == io.netty.handler.codec.mqtt.MqttMessageType.PINGRESP ? 1 : 0;
        }
        assertThat(List.of(publishes, pubAcks, pings)).containsOnly(1);
    }

    @Test
    @DisplayName("row 56: line breaks and escape sequences in client identifier, user name and topic")
    void namesThatWouldForgeALogLine() {
        String forged = "x\r\n\u001B[31mroot logged in";
        RawClient client = BROKER.open(MQTT_5);
        client.send(ConnectBytes.of(forged).userName(forged).password("x"));
        ReceivedPacket connAck = client.receive();
        if (connAck != null && connAck.reasonCode() == 0) {
            client.send(PublishBytes.to(forged).qos(1, 1));
        }
        sing();
    }

    @Test
    @DisplayName("row 72: the largest expiries and delays")
    void theLargestIntervals() {
        RawClient client = BROKER.open(MQTT_5);
        PublishBytes will = PublishBytes.to("late").payload("x");
        will.properties().willDelay(4_294_967_295L).messageExpiry(4_294_967_295L);
        client.connect(ConnectBytes.of("eternal").persistent(4_294_967_295L).will(will));
        client.abort();
        await().until(() -> connected("eternal") == 0);
        BROKER.ticker().advance(Duration.ofMinutes(10));

        RawClient back = BROKER.open(MQTT_5);
        assertThat(back.connect(ConnectBytes.of("eternal").persistent(4_294_967_295L))
                        .sessionPresent())
                .isTrue();
    }

    @Test
    @DisplayName("row 77: packets of all types with a byte changed")
    void mutatedPackets() {
        Random random = new Random(20_240_811);
        List<PacketRow> rows = PacketTable.acceptedRows().stream()
                .filter(row -> row.version() != null && row.bytes().length > 1 && row.bytes().length < 2_000)
                .toList();
        for (int i = 0; i < 300; i++) {
            PacketRow row = rows.get(random.nextInt(rows.size()));
            byte[] bytes = row.bytes().clone();
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            try (RawClient client = RawClient.to(BROKER.address(), row.version())) {
                client.connect("mutant");
                client.send(bytes);
            }
            if (i % 20 == 0) {
                sing();
            }
        }
    }

    @Test
    @DisplayName("I8: nothing is left of a flood of refused connections and packets")
    void aFloodLeavesNothing() {
        sing();
        long sessions = COUNTERS.sessions();
        long before = direct();
        for (int i = 0; i < 300; i++) {
            try (RawClient client = RawClient.to(BROKER.address(), MQTT_5)) {
                switch (i % 4) {
                    case 0 -> client.send(PacketBytes.packet(0x10).toBytes(268_435_455));
                    case 1 -> client.send(PacketBytes.packet(0x10).u16(4).toBytes(60_000));
                    case 2 ->
                        client.send(ConnectBytes.of("flood-" + i))
                                .send(PacketBytes.packet(0x30).toBytes(900_000));
                    default -> client.send(ConnectBytes.of("flood-" + i)).send(new byte[20_000]);
                }
            }
        }

        await().until(() -> COUNTERS.sessions() <= sessions);
        await().until(() -> COUNTERS.open() == 1); // the canary
        await().until(() -> direct() <= before + (1 << 20));
    }

    private static long direct() {
        return PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
    }
}
