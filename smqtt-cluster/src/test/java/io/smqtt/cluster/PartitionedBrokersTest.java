// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.PublishResult;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Brokers of one JVM as a cluster over a network that a test divides, as an application's tests would have it. */
@Tag("slow")
@Timeout(120)
class PartitionedBrokersTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final int ROUNDS = 5;
    private static final int AT_ONCE = 20;

    private final MemoryNetwork network = new MemoryNetwork();
    private TestBroker a;
    private TestBroker b;

    @BeforeEach
    void start() {
        a = node(network, "a");
        b = node(network, "b");
    }

    // snippet node
    static TestBroker node(MemoryNetwork network, String name) {
        ClusterConfig config = ClusterConfig.builder().nodeId(name).build();
        return TestBroker.builder()
                .parts(parts -> parts.module(ClusterModule.of(config, network.transport(name))))
                .start();
    }
    // end

    @AfterEach
    void stop() {
        a.close();
        b.close();
        network.close();
    }

    /** Sends a message and tells whether anybody wanted it. */
    private static boolean isWanted(RawClient publisher, String topic) {
        publisher.send(PublishBytes.to(topic).payload("x").qos(1, publisher.nextPacketId()));
        return publisher.expect(MqttMessageType.PUBACK).reasonCode() == 0;
    }

    @Test
    void messagesCrossAgainWhenThePartitionIsOver() {
        RawClient subscriber = b.client(V5, "subscriber");
        RawClient publisher = a.client(V5, "publisher").deadline(PATIENCE);
        subscriber.deadline(PATIENCE).subscribe("t/#", 0);
        await().atMost(PATIENCE).until(() -> isWanted(publisher, "t/before"));
        subscriber.expectPublish("t/before", "x");

        network.partition("a");
        publisher.publish("t/during", "x", 0); // nobody is there, and QoS 0 is not kept
        network.heal();
        RawClient other = b.client(V5, "other").deadline(PATIENCE);
        other.subscribe("u", 0);
        await().atMost(PATIENCE).until(() -> isWanted(publisher, "u"));
        publisher.publish("t/after", "x", 1);

        subscriber.expectPublish("t/after", "x");
    }

    /** What {@code docs/testing.md} shows. */
    @Test
    void aNetworkIsDividedAndHealed() {
        // snippet network
        MemoryNetwork network = new MemoryNetwork();
        TestBroker first = node(network, "first");
        TestBroker second = node(network, "second");
        network.partition("first"); // it on one side, all others on the other
        network.heal();
        // late and out of order, a tenth lost, a tenth twice
        network.faults(new MemoryNetwork.Faults(Duration.ofMillis(1), Duration.ofMillis(20), 0.1, 0.1));
        network.faults(MemoryNetwork.Faults.NONE);
        // end
        try {
            second.client(V5, "subscriber").deadline(PATIENCE).subscribe("t", 1);
            RawClient publisher = first.client(V5, "publisher").deadline(PATIENCE);
            await().atMost(PATIENCE).until(() -> isWanted(publisher, "t"));
        } finally {
            first.close();
            second.close();
            network.close();
        }
    }

    @Test
    void aPublisherIsToldTheNodeThatHasTheSubscriber() {
        b.client(V5, "subscriber").deadline(PATIENCE).subscribe("t", 1);
        b.client(V5, "member").deadline(PATIENCE).subscribe("$share/g/t", 1);
        a.client(V5, "other").deadline(PATIENCE).subscribe("u", 1);

        await().atMost(PATIENCE).untilAsserted(() -> {
            PublishResult result = publish("t");
            assertThat(result.matches()).isEqualTo(2);
            assertThat(result.nodes()).containsExactly("b");
        });
        assertThat(publish("u").nodes()).isEmpty();
    }

    private PublishResult publish(String topic) {
        return Objects.requireNonNull(a.broker()
                .publish(ApplicationMessage.builder(topic)
                        .payload("x")
                        .qos(QoS.AT_LEAST_ONCE)
                        .build())
                .block(PATIENCE));
    }

    @Test
    void nothingOfQos1IsLostInANetworkThatLosesDoublesAndReorders() {
        network.faults(new MemoryNetwork.Faults(Duration.ofMillis(1), Duration.ofMillis(20), 0.1, 0.1));
        RawClient subscriber = b.client(V5, "subscriber").deadline(PATIENCE);
        RawClient publisher = a.client(V5, "publisher").deadline(PATIENCE);
        subscriber.subscribe("bad/#", 1);
        await().atMost(PATIENCE).until(() -> isWanted(publisher, "bad/before"));
        subscriber.expectPublish("bad/before", "x");

        List<String> sent = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < AT_ONCE; i++) {
                String number = String.valueOf(sent.size());
                sent.add(number);
                publisher.send(PublishBytes.to("bad/" + round).payload(number).qos(1, publisher.nextPacketId()));
            }
            for (int i = 0; i < AT_ONCE; i++) {
                assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode())
                        .isZero();
            }
        }

        List<String> received = new ArrayList<>();
        while (received.size() < sent.size()) {
            ReceivedPacket packet = subscriber.expect(MqttMessageType.PUBLISH);
            subscriber.acknowledge(0x40, packet.packetId());
            received.add(packet.text());
        }
        assertThat(received).isEqualTo(sent); // once, and in order: nodes see to that
        network.faults(MemoryNetwork.Faults.NONE);
        subscriber.expectNothing();
    }

    @Test
    void faultsThatCannotBeAreRefused() {
        Duration second = Duration.ofSeconds(1);
        assertThatThrownBy(() -> new MemoryNetwork.Faults(second, Duration.ZERO, 0, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new MemoryNetwork.Faults(Duration.ZERO, second, 1.1, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new MemoryNetwork.Faults(Duration.ZERO, second, 0, Double.NaN))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** It works alone; only a load balancer is told to prefer others. */
    @Test
    void aNodeWithoutEnoughOthersServesItsClientsAndIsNotReady() {
        network.partition("c");
        ClusterConfig config = ClusterConfig.builder().nodeId("c").minMembers(2).build();
        ClusterModule module = ClusterModule.of(config, network.transport("c"));
        try (TestBroker c =
                TestBroker.builder().parts(parts -> parts.module(module)).start()) {
            RawClient client = c.client(V5, "client").deadline(PATIENCE);
            client.subscribe("own", 1);
            c.client(V5, "other").publish("own", "x", 0);
            client.expectPublish("own", "x");
            assertThat(module.status().state()).isEqualTo(ClusterStatus.State.JOINED);
            assertThat(module.status().isReady()).isFalse();

            network.heal();
            await().atMost(PATIENCE).until(() -> module.status().isReady());

            network.partition("c");
            await().atMost(PATIENCE).until(() -> !module.status().isReady());
            network.heal();
        }
    }

    @Test
    void aTransportOfOnesOwnNeedsANodeId() {
        assertThatThrownBy(() -> ClusterModule.of(ClusterConfig.defaults(), network.transport("c")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("cluster.node-id");
        assertThat(a.port()).isNotEqualTo(b.port());
    }
}
