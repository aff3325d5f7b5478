// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeConfigBuilder;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The state of the connection on a topic of the configuration. */
@Timeout(60)
class BridgeNotificationsTest {

    private static final String STATE = "bridges/plant/up";

    private final RemoteStub remote = new RemoteStub();

    @AfterEach
    void close() {
        remote.close();
    }

    private BridgeConfigBuilder config(String... topics) {
        return BridgedBroker.bridge(remote.address(), topics)
                .notifications(BridgeConfig.Notifications.BOTH)
                .notificationTopic("bridges/${clientid}/up")
                .hopLimit(0);
    }

    @Test
    void theStateIsPublishedOnThisTopicAtBothBrokers() {
        try (BridgedBroker broker = BridgedBroker.with("cloud", config("a out")).start();
                RawClient client = broker.client("client")) {
            client.subscribe("bridges/#", 0);
            client.expectPublish(STATE, "0");
            RawClient bridge = RawClient.over(remote.acceptSocket(), ProtocolVersion.MQTT_5);
            ReceivedPacket connect = bridge.expect(MqttMessageType.CONNECT);
            String will = new String(connect.bytes(), StandardCharsets.ISO_8859_1);
            assertThat(will).contains(STATE).doesNotContain("$SYS");
            RemoteStub.connAck(bridge, 0, PropertyBytes.none());
            ReceivedPacket state = RemoteStub.nextPublish(bridge);
            assertThat(state.topic() + '=' + state.text()).isEqualTo(STATE + "=1");
            assertThat(state.retain()).isTrue();
            client.expectPublish(STATE, "1");
            try (RawClient later = broker.client("later")) {
                later.subscribe("bridges/#", 0);
                later.expectPublish(STATE, "1");
            }
            bridge.close();
            client.expectPublish(STATE, "0");
        }
    }

    /** The other broker has its state from the bridge itself. */
    @Test
    void theStateDoesNotGoOutAsAMessage() {
        try (BridgedBroker broker =
                        BridgedBroker.with("cloud", config("# out 1")).start();
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            broker.awaitConnected("cloud");
            assertThat(RemoteStub.nextPublish(bridge).topic()).isEqualTo(STATE);
            client.subscribe(STATE, 0);
            client.expectPublish(STATE, "1"); // so it was published here
            client.publish("a", "after", 1);
            assertThat(RemoteStub.nextPublish(bridge).topic()).isEqualTo("a");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/+", "#", "$share/x/a", "$smqtt/a", "a/${client}", "a/${clientid", "a/$1"})
    void aTopicThatCannotBeTheStateIsRefused(String topic) {
        assertThatThrownBy(() -> BridgedBroker.bridge("localhost:1", "a")
                        .notificationTopic(topic)
                        .build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("bridges.<name>.notification-topic");
    }

    @Test
    void severalConnectionsDoNotShareATopic() {
        BridgeConfigBuilder one = BridgedBroker.bridge("localhost:1", "a").notificationTopic("state");

        assertThat(one.build().stateTopic("plant")).isEqualTo("state");
        assertThatThrownBy(() -> one.connections(2).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("notification-topic must have ${clientid}");
        assertThatThrownBy(
                        () -> one.connections(1).nodes(BridgeConfig.Nodes.EACH).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("notification-topic must have ${clientid}");
        assertThat(one.notificationTopic("${clientid}/state").build().stateTopic("plant-n1"))
                .isEqualTo("plant-n1/state");
    }
}
