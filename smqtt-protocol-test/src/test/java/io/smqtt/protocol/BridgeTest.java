// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.ClientDetails;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Another broker that dials as a bridge: the highest bit of the protocol level is set, as mosquitto does it. */
class BridgeTest {

    private static final int CLEAN = 0x02;
    private static final int RETAINED_WILL = 0x24;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension();

    private static PacketBytes connect(ProtocolVersion version, int flags) {
        return PacketBytes.packet(0x10)
                .string(version.protocolName())
                .u8(0x80 | version.level())
                .u8(flags)
                .u16(60)
                .string("bridge");
    }

    private RawClient bridge(ProtocolVersion version) {
        RawClient client = broker.open(version);
        client.send(connect(version, CLEAN));
        assertThat(client.expect(MqttMessageType.CONNACK).reasonCode()).isZero();
        return client;
    }

    @ParameterizedTest
    @EnumSource(names = "MQTT_5", mode = EnumSource.Mode.EXCLUDE)
    void itGetsNothingBackThatItSentAndLearnsWhatIsRetained(ProtocolVersion version) {
        RawClient bridge = bridge(version);
        bridge.subscribe("a/#", 1);
        RawClient client = broker.client(version, "c");
        client.subscribe("a/#", 0);

        bridge.send(PublishBytes.to("a/in").qos(1, 1).retained().payload("x"));
        bridge.expect(MqttMessageType.PUBACK);
        assertThat(client.expectPublish("a/in", "x").retain()).isFalse();
        client.send(PublishBytes.to("a/out").retained().payload("kept"));
        client.send(PublishBytes.to("a/out").payload("live"));

        assertThat(bridge.expectPublish("a/out", "kept").retain()).isTrue();
        assertThat(bridge.expectPublish("a/out", "live").retain()).isFalse();
        bridge.expectNothing();
        ClientDetails details =
                Objects.requireNonNull(broker.broker().client("bridge").block(Duration.ofSeconds(30)));
        assertThat(details.info().identity().bridge()).isTrue();
        assertThat(details.info().identity().version()).isEqualTo(version);
        assertThat(details.subscriptions())
                .containsExactly(new ClientDetails.Filter("a/#", QoS.AT_LEAST_ONCE, true, true, 0));
    }

    @ParameterizedTest
    @EnumSource(names = "MQTT_5", mode = EnumSource.Mode.EXCLUDE)
    void aSharedSubscriptionOfABridgeIsLikeAnyOther(ProtocolVersion version) {
        RawClient bridge = bridge(version);
        bridge.subscribe("$share/g/a", 1);

        bridge.send(PublishBytes.to("a").payload("own"));

        bridge.expectPublish("a", "own");
    }

    @ParameterizedTest
    @EnumSource(names = "MQTT_5", mode = EnumSource.Mode.EXCLUDE)
    void itTellsItsOwnStateAlone(ProtocolVersion version) {
        RawClient own = broker.open(version);
        own.send(connect(version, CLEAN | RETAINED_WILL)
                .string("$SYS/broker/connection/bridge/state")
                .string("0"));
        assertThat(own.expect(MqttMessageType.CONNACK).reasonCode()).isZero();

        RawClient other = broker.open(version);
        other.send(connect(version, CLEAN | RETAINED_WILL)
                .string("$SYS/broker/connection/another/state")
                .string("0"));
        assertThat(other.expect(MqttMessageType.CONNACK).reasonCode()).isEqualTo(5);
    }
}
