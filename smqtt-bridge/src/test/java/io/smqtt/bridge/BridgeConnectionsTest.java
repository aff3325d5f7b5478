// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges.Operation;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A bridge with several connections, each with its part of the topics. */
@Timeout(60)
class BridgeConnectionsTest {

    private static final int CONNECTIONS = 3;
    private static final int TOPICS = 12;
    private static final int EACH = 40;

    private static BridgeConfig to(String address, String... topics) {
        return BridgedBroker.bridge(address, topics).connections(CONNECTIONS).build();
    }

    private static void awaitAll(DialledBroker broker, BridgeStatus.State state) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> broker.module().status().stream().allMatch(each -> each.state() == state));
    }

    @Test
    void eachMessageGoesOnceByTheConnectionOfItsTopicInOrder() {
        try (DialledBroker remote = DialledBroker.without(0);
                RawClient there = remote.client("there")) {
            there.subscribe("out/#", 2);
            try (DialledBroker local = DialledBroker.with(to("127.0.0.1:" + remote.port(), "out/# out 2"));
                    RawClient here = local.client("here")) {
                for (int i = 0; i < EACH; i++) { // some before the first connection
                    for (int topic = 0; topic < TOPICS; topic++) {
                        here.publish("out/" + topic, String.valueOf(i), 1 + topic % 2);
                    }
                }
                Map<String, List<String>> arrived = new HashMap<>();
                for (int i = 0; i < EACH * TOPICS; i++) {
                    ReceivedPacket message = take(there);
                    arrived.computeIfAbsent(message.topic(), topic -> new ArrayList<>())
                            .add(message.text());
                }

                List<String> inOrder =
                        IntStream.range(0, EACH).mapToObj(String::valueOf).toList();
                assertThat(arrived).hasSize(TOPICS);
                arrived.values().forEach(texts -> assertThat(texts).isEqualTo(inOrder));
                awaitAll(local, BridgeStatus.State.CONNECTED);
                List<BridgeStatus> status = local.module().status();
                assertThat(status).extracting(BridgeStatus::name).containsExactly("cloud", "cloud.2", "cloud.3");
                assertThat(status).allMatch(each -> each.sent() > 0 && each.sent() % EACH == 0);
                assertThat(status.stream().mapToLong(BridgeStatus::sent).sum()).isEqualTo(EACH * TOPICS);
                assertThat(remote.connected()).contains("plant", "plant-2", "plant-3");
            }
        }
    }

    /** Takes the next message, and acknowledges it as its QoS wants. */
    private static ReceivedPacket take(RawClient client) {
        ReceivedPacket packet = Objects.requireNonNull(client.receive());
        while (packet.type() == MqttMessageType.PUBREL) {
            client.acknowledge(0x70, packet.packetId());
            packet = Objects.requireNonNull(client.receive());
        }
        client.acknowledge(packet.qos() == 1 ? 0x40 : 0x50, packet.packetId());
        return packet;
    }

    @Test
    void retainedMessagesOfBeforeGoOnce() {
        try (DialledBroker remote = DialledBroker.without(0);
                RawClient there = remote.client("there")) {
            there.subscribe("out/#", 0);
            BridgeConfig config = to("127.0.0.1:" + remote.port(), "out/# out 1").toBuilder()
                    .start(BridgeConfig.Start.MANUAL)
                    .build();
            try (DialledBroker local = DialledBroker.with(config);
                    RawClient here = local.client("here")) {
                for (int topic = 0; topic < TOPICS; topic++) {
                    here.send(PublishBytes.to("out/" + topic).payload("r").retained());
                }
                here.publish("end", "", 1);
                local.module().operate("cloud", Operation.START);
                List<String> arrived = new ArrayList<>();
                while (arrived.size() < TOPICS) {
                    arrived.add(there.expect(MqttMessageType.PUBLISH).topic());
                }
                assertThat(arrived).doesNotHaveDuplicates();
            }
            there.expectNothing();
        }
    }

    /** This is what several connections are for. */
    @Test
    void eachConnectionHasTheReceiveMaximumOfTheOtherBroker() {
        try (RemoteStub remote = new RemoteStub();
                DialledBroker local = DialledBroker.with(to(remote.address(), "out/# out 1"));
                RawClient here = local.client("here")) {
            List<RawClient> bridges = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                bridges.add(remote.accept(PropertyBytes.none().receiveMaximum(1)));
            }
            for (int topic = 0; topic < TOPICS; topic++) {
                here.publish("out/" + topic, "x", 1);
            }

            assertThat(bridges)
                    .allMatch(bridge -> RemoteStub.nextPublish(bridge).text().equals("x"));
        }
    }

    @Test
    void whatComesInComesByTheFirstConnection() {
        try (DialledBroker remote = DialledBroker.without(0);
                RawClient there = remote.client("there");
                DialledBroker local = DialledBroker.with(to("127.0.0.1:" + remote.port(), "out/# out 1", "in/# in 1"));
                RawClient here = local.client("here")) {
            here.subscribe("in/#", 0);
            awaitAll(local, BridgeStatus.State.CONNECTED);
            await().until(() -> remote.isSubscribedBy(1, "in/#"));
            for (int topic = 0; topic < TOPICS; topic++) {
                there.publish("in/" + topic, "x", 1);
                here.expectPublish("in/" + topic, "x");
            }
            here.expectNothing();
        }
    }

    @Test
    void anOperatorStopsAllOrOne() {
        try (DialledBroker remote = DialledBroker.without(0);
                DialledBroker local = DialledBroker.with(to("127.0.0.1:" + remote.port(), "out/# out 1"))) {
            awaitAll(local, BridgeStatus.State.CONNECTED);
            assertThat(local.module().operate("cloud.2", Operation.STOP)).isTrue();
            assertThat(local.module().status())
                    .extracting(BridgeStatus::state)
                    .containsExactly(
                            BridgeStatus.State.CONNECTED, BridgeStatus.State.STOPPED, BridgeStatus.State.CONNECTED);
            assertThat(local.module().operate("cloud", Operation.STOP)).isTrue();
            awaitAll(local, BridgeStatus.State.STOPPED);
            assertThat(local.module().operate("cloud", Operation.START)).isTrue();
            awaitAll(local, BridgeStatus.State.CONNECTED);
        }
    }

    @Test
    void severalConnectionsNeedTopicsThatGoOut() {
        assertThatThrownBy(() -> to("h:1883", "a/# in 1"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("bridges.<name>.connections must be 1 if no topic goes out");
    }
}
