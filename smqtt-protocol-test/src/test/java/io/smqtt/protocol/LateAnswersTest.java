// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** What a client sees when access decisions come from another thread, some time later. "forbidden" is. */
class LateAnswersTest {

    private static final Duration LATE = Duration.ofMillis(3);
    private static final Authenticator AUTHENTICATOR =
            request -> Mono.delay(LATE).map(late -> new Authentication.Accepted(request.userName(), Set.of()));
    private static final Authorizer AUTHORIZER =
            request -> request.topic().equals("quick") || request.action() == AccessAction.RECEIVE
                    ? AccessDecision.ALLOW.now()
                    : Mono.delay(LATE).map(late -> allowed(request.topic()));

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config, builder -> builder.authenticator(AUTHENTICATOR).authorizer(AUTHORIZER));

    private static AccessDecision allowed(String topic) {
        return topic.equals("forbidden") ? AccessDecision.DENY : AccessDecision.ALLOW;
    }

    @ParameterizedTest
    @EnumSource
    void packetsBehindOneThatWaitsAreAnsweredInTheirOrder(ProtocolVersion version) {
        // [MQTT-3.2.0-1] [MQTT311-3.2.0-1] [MQTT-4.6.0-5] [MQTT311-4.6.0-6]
        RawClient client = broker.open(version);
        client.send(PacketBytes.fields()
                .bytes(ConnectBytes.of("c").toBytes(version))
                .bytes(SubscribeBytes.of(1)
                        .filter("slow", 1)
                        .filter("forbidden", 1)
                        .filter("quick", 0)
                        .toBytes(version))
                .bytes(PublishBytes.to("slow").qos(1, 2).payload("1").toBytes(version))
                .bytes(PublishBytes.to("quick").qos(1, 3).payload("2").toBytes(version))
                .bytes(PublishBytes.to("forbidden").qos(1, 4).payload("3").toBytes(version))
                .bytes(PublishBytes.to("slow").qos(1, 5).payload("4").toBytes(version))
                .hex("C000")
                .toBytes());
        client.expect(MqttMessageType.CONNACK);
        int denied = version.isV5() ? 0x87 : 0x80;
        assertThat(client.expect(MqttMessageType.SUBACK).reasonCodes()).containsExactly(1, denied, 0);
        client.expectPublish("slow", "1");
        assertThat(client.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(2);
        client.expectPublish("quick", "2");
        assertThat(client.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(3);
        assertThat(client.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(4);
        client.expectPublish("slow", "4");
        assertThat(client.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(5);
        client.expect(MqttMessageType.PINGRESP);
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aWillThatIsNotAllowedRefusesTheConnection(ProtocolVersion version) {
        // [MQTT-3.1.4-2] [MQTT311-3.2.2-5]
        RawClient client = broker.open(version);
        client.send(ConnectBytes.of("c").will(PublishBytes.to("forbidden").payload("x")));
        assertThat(client.expect(MqttMessageType.CONNACK).reasonCode()).isEqualTo(version.isV5() ? 0x87 : 5);
        client.expectClosed();
    }

    @ParameterizedTest
    @EnumSource
    void whatAClientSendsBeforeItLeavesIsDelivered(ProtocolVersion version) {
        RawClient watcher = broker.open(version);
        watcher.connect("watcher");
        watcher.subscribe("#", 0);
        RawClient client = broker.open(version);
        client.connect(ConnectBytes.of("c").will(PublishBytes.to("will")));
        client.send(PacketBytes.fields()
                .bytes(PublishBytes.to("slow").payload("last").toBytes(version))
                .bytes(PublishBytes.to("slower").payload("words").toBytes(version))
                .hex("E000")
                .toBytes());
        client.close();
        watcher.expectPublish("slow", "last");
        watcher.expectPublish("slower", "words");
        await().until(() -> broker.broker().clients().collectList().block().size() == 1);
        watcher.expectNothing(); // no will [MQTT-3.14.4-3] [MQTT311-3.14.4-3]
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatBreaksTheProtocolAndLeavesIsForgotten(ProtocolVersion version) {
        RawClient client = broker.open(version);
        client.connect("c");
        client.send(PacketBytes.fields()
                .bytes(PublishBytes.to("slow").payload("last").toBytes(version))
                .hex("0000")
                .toBytes());
        client.close();
        await().until(() -> broker.broker().clients().collectList().block().isEmpty());
        assertThat(broker.broker().clients().collectList().block()).isEmpty();
    }
}
