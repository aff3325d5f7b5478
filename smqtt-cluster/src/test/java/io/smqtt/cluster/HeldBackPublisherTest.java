// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.ParkConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.store.ManualStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What publishers meet when messages for a node that is away cannot be parked: MQTT 5.0 is told, MQTT 3.1.1 waits. */
@Tag("slow")
@Timeout(120)
class HeldBackPublisherTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();
    private static final ManualStore STORE = new ManualStore(System::nanoTime);
    private static final ParkConfig SMALL = ParkConfig.builder()
            .maxBytes(64 << 10)
            .overflow(ParkConfig.Overflow.REFUSE)
            .build();

    private static final int A = 0;
    private static final int STORED = 1;
    private static final int AWAY = 2;

    @RegisterExtension
    static final BrokerExtension MEMORY_BROKER = CLUSTER.broker(null, SMALL);

    @RegisterExtension
    static final BrokerExtension STORED_BROKER = CLUSTER.broker(STORE, SMALL);

    @RegisterExtension
    static final BrokerExtension AWAY_BROKER = CLUSTER.broker(false);

    private static int tests;

    private final String topic = "held/" + ++tests;
    private final List<String> expected = new ArrayList<>();
    private @Nullable RawClient subscriber;

    @BeforeEach
    void nodeGoesAway() {
        subscriber = CLUSTER.persistent(AWAY, "subscriber-" + topic, false).deadline(BrokerCluster.PATIENCE);
        subscriber.subscribe(topic, 2);
        CLUSTER.cutOff(AWAY);
    }

    @AfterEach
    void end() {
        STORE.heal();
        CLUSTER.heal(AWAY);
        if (subscriber != null) {
            subscriber.close();
        }
    }

    private RawClient publisher(int broker, ProtocolVersion version) {
        return CLUSTER.get(broker).open(version).deadline(BrokerCluster.PATIENCE);
    }

    private static PublishBytes message(String topic, String text, int qos, int packetId) {
        return PublishBytes.to(topic).payload(text).qos(qos, packetId);
    }

    /** A publisher of MQTT 5.0 fills the park, up to the first refusal. */
    private void fill(int broker) {
        try (RawClient publisher = publisher(broker, ProtocolVersion.MQTT_5)) {
            publisher.connect("five-" + topic);
            int reason = 0;
            while (reason == 0) {
                String text = expected.size() + "x".repeat(1_000);
                publisher.send(message(topic, text, 1, publisher.nextPacketId()));
                reason = publisher.expect(MqttMessageType.PUBACK).reasonCode();
                if (reason == 0) {
                    expected.add(text);
                }
            }
            assertThat(reason).isEqualTo(ReasonCode.QUOTA_EXCEEDED.value());
            publisher.ping();
        }
    }

    private void receivesAll() {
        RawClient receiver = subscriber;
        assertThat(receiver).isNotNull();
        expected.forEach(text -> BrokerCluster.receive(receiver, text));
        BrokerCluster.receivesNothing(receiver);
    }

    private void hold(RawClient publisher, int number) {
        String text = "held" + number + "x".repeat(1_000);
        publisher.send(message(topic, text, 1, publisher.nextPacketId()));
        expected.add(text);
    }

    private void waitsAndContinuesOn(int broker) {
        fill(broker);
        try (RawClient publisher = publisher(broker, ProtocolVersion.MQTT_3_1_1)) {
            publisher.connect("three-" + topic);
            for (int i = 0; i < 10; i++) { // as a client with a small window
                hold(publisher, i);
            }
            publisher.expectNothing(); // no PUBACK; it is answered and stays connected
            for (int i = 10; i < 100; i++) {
                hold(publisher, i);
            }
            CLUSTER.heal(AWAY);
            for (int i = 0; i < 100; i++) {
                assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(i + 1);
            }
        }
        receivesAll();
    }

    @Test
    void withAFullParkInMemory() {
        waitsAndContinuesOn(A);
    }

    @Test
    void withAFullParkInTheStore() {
        waitsAndContinuesOn(STORED);
    }

    @Test
    void withAFullDisk() {
        STORE.fail();
        try (RawClient five = publisher(STORED, ProtocolVersion.MQTT_5);
                RawClient three = publisher(STORED, ProtocolVersion.MQTT_3_1_1)) {
            five.connect("five-" + topic);
            three.connect("three-" + topic);
            five.send(message(topic, "refused", 1, 1));
            assertThat(five.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(ReasonCode.QUOTA_EXCEEDED.value());
            three.send(message(topic, "one", 1, 1));
            three.send(message(topic, "two", 2, 2));
            three.expectNothing();

            STORE.heal();

            assertThat(three.expect(MqttMessageType.PUBACK).packetId()).isOne();
            assertThat(three.expect(MqttMessageType.PUBREC).packetId()).isEqualTo(2);
            three.acknowledge(0x62, 2).expect(MqttMessageType.PUBCOMP);
        }
        CLUSTER.heal(AWAY);
        expected.addAll(List.of("one", "two"));
        receivesAll();
    }

    @Test
    void aMessageThatWaitsIsNotAcknowledgedByAnotherNode() {
        fill(A);
        String two = "two" + "x".repeat(1_000);
        ConnectBytes connect = ConnectBytes.of("moves-" + topic).cleanStart(false);
        try (RawClient first = publisher(A, ProtocolVersion.MQTT_3_1_1)) {
            first.connect(connect);
            first.send(message(topic, two, 2, 2));
            first.expectNothing();
        }
        try (RawClient second = publisher(STORED, ProtocolVersion.MQTT_3_1_1)) {
            second.connect(connect);
            second.send(message(topic, two, 2, 2).dup());
            second.expect(MqttMessageType.PUBREC);
            await("the node that acknowledges has the message")
                    .atMost(BrokerCluster.PATIENCE)
                    .until(() -> CLUSTER.parked(STORED, AWAY) == 1);
        }
        CLUSTER.heal(AWAY);
        List<String> all = new ArrayList<>();
        RawClient receiver = subscriber;
        assertThat(receiver).isNotNull();
        for (int i = 0; i <= expected.size(); i++) {
            all.add(BrokerCluster.nextMessage(receiver).text());
        }
        assertThat(all).containsOnlyOnce(two);
        BrokerCluster.receivesNothing(receiver);
    }

    @Test
    void aClientThatConnectsAgainSendsAgainWhatWaitedAndItComesOnce() {
        fill(A);
        String one = "one" + "x".repeat(1_000);
        String two = "two" + "x".repeat(1_000);
        ConnectBytes connect = ConnectBytes.of("three-" + topic).cleanStart(false);
        try (RawClient first = publisher(A, ProtocolVersion.MQTT_3_1_1)) {
            first.connect(connect);
            first.send(message(topic, one, 1, 1));
            first.send(message(topic, two, 2, 2));
            first.expectNothing();
        }
        try (RawClient second = publisher(A, ProtocolVersion.MQTT_3_1_1)) {
            second.connect(connect);
            second.send(message(topic, one, 1, 1).dup());
            second.send(message(topic, two, 2, 2).dup());
            second.expectNothing();
            CLUSTER.heal(AWAY);
            assertThat(second.expect(MqttMessageType.PUBACK).packetId()).isOne();
            assertThat(second.expect(MqttMessageType.PUBREC).packetId()).isEqualTo(2);
        }
        List<String> held = new ArrayList<>();
        RawClient receiver = subscriber;
        assertThat(receiver).isNotNull();
        expected.forEach(text -> BrokerCluster.receive(receiver, text));
        while (held.size() < 2 || !held.contains(one)) {
            held.add(BrokerCluster.nextMessage(receiver).text());
        }
        assertThat(held).containsOnlyOnce(two);
    }

    @Test
    void aQosTwoMessageThatSessionsOfThisNodeStoreTooDoesNotDelayTheirLaterOnes() {
        try (RawClient here = CLUSTER.persistent(STORED, "here-" + topic, false).deadline(BrokerCluster.PATIENCE)) {
            here.subscribe(topic, 2);
            here.subscribe("other/" + topic, 2);
        }
        fill(STORED);
        try (RawClient publisher = publisher(STORED, ProtocolVersion.MQTT_3_1_1);
                RawClient other = publisher(STORED, ProtocolVersion.MQTT_3_1_1)) {
            publisher.connect(ConnectBytes.of("three-" + topic).cleanStart(false));
            publisher.send(message(topic, "x".repeat(1_000), 2, 1));
            publisher.expectClosed();
            other.connect("other-" + topic);
            other.publish("other/" + topic, "later", 1);
        }
        try (RawClient here = CLUSTER.persistent(STORED, "here-" + topic, true)) {
            expected.forEach(text -> BrokerCluster.receive(here, text));
            BrokerCluster.nextMessage(here); // the one that the park refused
            BrokerCluster.receive(here, "later");
        }
    }
}
