// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names of topics, the state of the connection, the rate, and addresses. */
@Timeout(60)
class BridgeOptionsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String STATE = "$SYS/broker/connection/plant/state";

    private final RemoteStub remote = new RemoteStub();

    @AfterEach
    void close() {
        remote.close();
    }

    @ParameterizedTest
    @CsvSource({
        "a/+/b out 1 => ${topic}/x, a/1/b, a/1/b/x",
        "a/+/# out => up/$2/of/$1, a/1/b/c, up/b/c/of/1",
        "a/+/b => $1, a/1/b, 1",
        "a/# out 1 l/ r/, l/a/b, r/a/b"
    })
    void aTopicIsNamedByPrefixesOrByATemplate(String topic, String here, String there) {
        TopicMap map =
                new TopicMap(BridgedBroker.bridge("localhost:1", topic).build().parsedTopics());

        assertThat(map.out(here)).isEqualTo(there);
        assertThat(map.out("elsewhere")).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a/+ both 1 => ${topic}/x",
                "a/+ out => $2",
                "a/+ out => x/#",
                "a/+ out => ${client}",
                "a/+ out 1 p/ => x",
                "a/+ out =>",
                "=> x"
            })
    void aWrongTemplateIsRefused(String topic) {
        assertThatThrownBy(() -> BridgedBroker.bridge("localhost:1", topic).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("topics");
    }

    @ParameterizedTest
    @CsvSource({
        "host:1, false, false, host, 1, ''",
        "mqtt://host, false, false, host, 1883, ''",
        "mqtts://host/, true, false, host, 8883, ''",
        "ws://host, false, true, host, 80, /mqtt",
        "WSS://[::1]:444/a?b=c, true, true, ::1, 444, /a?b=c"
    })
    void anAddressMayBeAUrl(String text, boolean tls, boolean webSocket, String host, int port, String path) {
        BridgeConfig config = BridgedBroker.bridge(text, "a").build();

        assertThat(config.parsedAddresses().get(0))
                .extracting("tls", "webSocket", "host", "port", "path")
                .containsExactly(tls, webSocket, host, port, path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"host", "http://host", "mqtt://host/path", "mqtt://user@host", "ws://host:0", "ws:///path", ""})
    void aWrongAddressIsRefused(String text) {
        assertThatThrownBy(() -> BridgedBroker.bridge(text, "a").build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("addresses");
    }

    /** Messages of the other broker keep the flag. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void messagesForTheOtherBrokerKeepTheirRetainFlagIfThatIsConfigured(boolean keeps) {
        try (BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "up/# out 1", "down/# in 1")
                                        .outgoingRetain(keeps))
                        .start();
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            await().atMost(PATIENCE).until(() -> broker.isConnected("cloud"));
            client.publish(PublishBytes.to("up/1").payload("x").qos(1).retained());
            ReceivedPacket message = RemoteStub.nextPublish(bridge);
            assertThat(message.topic()).isEqualTo("up/1");
            assertThat(message.retain()).isEqualTo(keeps);

            bridge.send(PublishBytes.to("down/1").payload("y").qos(1, 7).retained());
            RemoteStub.next(bridge, MqttMessageType.PUBACK);
            client.subscribe("down/#", 0);
            ReceivedPacket kept = client.expectPublish("down/1", "y");
            assertThat(kept.retain()).isTrue();
        }
    }

    @Test
    void connectionsComeFromTheConfiguredAddress() throws IOException {
        try (BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "up/# out 1")
                                        .bindAddress("127.0.0.77"))
                        .start();
                Socket socket = remote.acceptSocket()) {
            assertThat(socket.getInetAddress().getHostAddress()).isEqualTo("127.0.0.77");
            assertThat(broker.isConnected("cloud")).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "10.0.0", "10.0.0.256", "fd00::g", "10.0.0.1:80", " "})
    void aBindAddressIsNoName(String text) {
        assertThatThrownBy(() -> BridgedBroker.bridge("localhost:1", "a")
                        .bindAddress(text)
                        .build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("bind-address must be an IP address");
    }

    @Test
    void aTemplateIsUsedInBothDirections() {
        try (BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "a/+ out => up/$1", "down/+ in => here/$1"))
                        .start();
                RawClient client = broker.client("client")) {
            client.subscribe("here/#", 0);
            RawClient bridge = remote.accept(PropertyBytes.none());
            bridge.expect(MqttMessageType.SUBSCRIBE);
            await().until(() -> broker.isConnected("cloud"));
            client.publish("a/1", "out", 0);
            assertThat(RemoteStub.nextPublish(bridge).topic()).isEqualTo("up/1");
            bridge.send(PublishBytes.to("down/2").payload("in"));
            client.expectPublish("here/2", "in");
        }
    }

    @Test
    void ofTwoTopicsWithTheSameFilterTheHigherQosCounts() {
        BridgeConfig config = BridgedBroker.bridge(remote.address(), "a out 1", "a out 0 \"\" other/")
                .build();
        try (DialledBroker broker = DialledBroker.with(config);
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            await().until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
            for (int i = 0; i < 10; i++) {
                client.publish("a", "m" + i, 1);
            }
            for (int i = 0; i < 10; i++) {
                assertThat(RemoteStub.nextPublish(bridge).qos()).isEqualTo(1);
            }
        }
    }

    @Test
    void ofTwoTopicsThatComeInByTheSameFilterTheHigherQosCounts() {
        try (BridgedBroker broker = BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge(remote.address(), "a in 2", "a in 0 other/", "b in 1")
                                .hopLimit(0))
                .start()) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            byte[] first = bridge.expect(MqttMessageType.SUBSCRIBE).bytes();
            byte[] second = bridge.expect(MqttMessageType.SUBSCRIBE).bytes();
            broker.awaitConnected("cloud");

            assertThat(new String(first, StandardCharsets.ISO_8859_1)).contains("\0\1a");
            assertThat(first[first.length - 1] & 3).isEqualTo(2);
            assertThat(new String(second, StandardCharsets.ISO_8859_1)).contains("\0\1b");
        }
    }

    /** What the rate holds back is sent in the next connection [MQTT-3.14.4-2]. */
    @Test
    void nothingFollowsTheDisconnect() {
        BridgeConfig config =
                BridgedBroker.bridge(remote.address(), "a out 1").maxRate(1).build();
        try (DialledBroker broker = DialledBroker.with(config);
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            await().until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
            for (int i = 0; i < 5; i++) {
                client.publish("a", "m" + i, 1);
            }
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("m0");
            broker.module().operate("cloud", Bridges.Operation.STOP);
            bridge.expect(MqttMessageType.DISCONNECT);
            bridge.expectClosed();
            broker.module().operate("cloud", Bridges.Operation.START);
            assertThat(RemoteStub.nextPublish(remote.accept(PropertyBytes.none()))
                            .text())
                    .isEqualTo("m0");
        }
    }

    @Test
    void theStateOfTheConnectionIsPublishedAtBothBrokers() {
        try (BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "a out")
                                        .notifications(BridgeConfig.Notifications.BOTH))
                        .start();
                RawClient client = broker.client("client")) {
            RawClient bridge = RawClient.over(remote.acceptSocket(), ProtocolVersion.MQTT_5);
            client.subscribe(STATE, 0);
            client.expectPublish(STATE, "0");
            ReceivedPacket connect = bridge.expect(MqttMessageType.CONNECT);
            assertThat(new String(connect.bytes(), StandardCharsets.ISO_8859_1)).contains(STATE);
            RemoteStub.connAck(bridge, 0, PropertyBytes.none());
            ReceivedPacket state = RemoteStub.nextPublish(bridge);
            assertThat(state.topic() + '=' + state.text()).isEqualTo(STATE + "=1");
            assertThat(state.retain()).isTrue();
            client.expectPublish(STATE, "1");
            bridge.close();
            client.expectPublish(STATE, "0");
        }
    }

    /** The will, which a DISCONNECT removes, does not say it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theEndOfTheConnectionIsPublishedBeforeItsDisconnect(boolean stopped) {
        BridgeConfig config = BridgedBroker.bridge(remote.address(), "a out")
                .notifications(BridgeConfig.Notifications.BOTH)
                .build();
        RawClient bridge;
        try (DialledBroker broker = DialledBroker.with(config)) {
            bridge = remote.accept(PropertyBytes.none());
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("1");
            if (stopped) { // else it ends with the broker
                broker.module().operate("cloud", Bridges.Operation.STOP);
            }
        }
        ReceivedPacket state = RemoteStub.nextPublish(bridge);
        assertThat(state.topic() + '=' + state.text()).isEqualTo(STATE + "=0");
        assertThat(state.retain()).isTrue();
        bridge.expect(MqttMessageType.DISCONNECT);
    }

    /** A broker without retained messages refuses the will that goes with the state. */
    @Test
    void aRemoteThatRefusesTheStateIsConnectedWithoutIt() {
        try (BridgedBroker broker = BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge(remote.address(), "a out").notifications(BridgeConfig.Notifications.BOTH))
                .start()) {
            RemoteStub.connAck(remote.acceptConnect(), 0x9a, PropertyBytes.none());
            RawClient bridge = RawClient.over(remote.acceptSocket(), ProtocolVersion.MQTT_5);
            ReceivedPacket connect = bridge.expect(MqttMessageType.CONNECT);
            assertThat(new String(connect.bytes(), StandardCharsets.ISO_8859_1)).doesNotContain(STATE);
            RemoteStub.connAck(bridge, 0, PropertyBytes.none());
            await().until(() -> broker.isConnected("cloud"));
            bridge.close();
        }
    }

    /** Rights may be missing for the will, or for the connection as a whole, which the next attempt without a will shows. */
    @Test
    void aRefusalThatWasNotBecauseOfTheStateDoesNotSwitchItOff() {
        try (BridgedBroker broker = BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge(remote.address(), "a out").notifications(BridgeConfig.Notifications.BOTH))
                .start()) {
            RemoteStub.connAck(remote.acceptConnect(), 0x87, PropertyBytes.none());
            RemoteStub.connAck(remote.acceptConnect(), 0x87, PropertyBytes.none()); // without the will
            RawClient bridge = remote.accept(PropertyBytes.none());
            broker.awaitConnected("cloud");
            ReceivedPacket state = RemoteStub.nextPublish(bridge);
            assertThat(state.topic() + '=' + state.text()).isEqualTo(STATE + "=1");
        }
    }

    @Test
    void aBridgeThatIsStartedByAnOperatorKeepsMessagesMeanwhile() {
        BridgeConfig config = BridgedBroker.bridge(remote.address(), "a out 1")
                .start(BridgeConfig.Start.MANUAL)
                .build();
        try (DialledBroker broker = DialledBroker.with(config);
                RawClient client = broker.client("client")) {
            client.publish("a", "waits", 1);
            assertThat(broker.status().state()).isEqualTo(BridgeStatus.State.STOPPED);
            // another event loop takes the message, and without a store the acknowledgement does not wait for it
            await().until(() -> broker.status().queued() == 1);
            broker.module().operate("cloud", Bridges.Operation.START);
            RawClient bridge = remote.accept(PropertyBytes.none());
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("waits");
        }
    }

    @Test
    void noMoreMessagesThanTheRateLeaveInASecond() {
        BridgeConfig config =
                BridgedBroker.bridge(remote.address(), "a out 1").maxRate(100).build();
        try (DialledBroker broker = DialledBroker.with(config);
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            await().until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
            long begin = System.nanoTime();
            for (int i = 0; i < 50; i++) {
                client.publish("a", "m" + i, 1);
            }
            for (int i = 0; i < 50; i++) {
                ReceivedPacket message = RemoteStub.nextPublish(bridge);
                assertThat(message.text()).isEqualTo("m" + i);
                bridge.pubAck(message);
            }
            // ten of them at once at most
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(380));
            for (int i = 0; i < 500; i++) {
                client.publish("a", "q" + i, 0);
            }
            await().until(() -> broker.status().dropped() > 0);
        }
    }

    /** There they have its limits, their expiry and the store. */
    @Test
    void whatTheRateHoldsBackWaitsInTheQueue() {
        try (BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "a out 1")
                                        .maxRate(2)
                                        .hopLimit(0))
                        .start();
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            broker.awaitConnected("cloud");
            for (int i = 0; i < 20; i++) {
                client.publish("a", "m" + i, 1);
            }
            await().until(() -> broker.waiting("cloud") == 18);
            for (int i = 0; i < 4; i++) {
                ReceivedPacket message = RemoteStub.nextPublish(bridge);
                assertThat(message.text()).isEqualTo("m" + i);
                bridge.pubAck(message);
            }
            await().until(() -> broker.waiting("cloud") == 14);
        }
    }
}
