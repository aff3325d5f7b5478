// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerEvent;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authentication;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** What an authorizer is told of a request, and what its refusal tells the client. */
class AccessRequestTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    private final List<String> asked = new CopyOnWriteArrayList<>();

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            parts -> parts.authorizer(this::decide)
                    .authenticator(request -> request.clientId().equals("stranger")
                            ? Mono.just(new Authentication.Refused(ReasonCode.NOT_AUTHORIZED, "not here"))
                            : Mono.just(Authentication.CONTINUE)));

    /** Nothing is retained, and nobody subscribes at QoS 2. */
    private Mono<AccessDecision> decide(AccessRequest request) {
        if (request.action() != AccessAction.RECEIVE) {
            asked.add(request.action() + " " + request.topic() + " "
                    + request.qos().level() + (request.retain() ? " retained" : ""));
        }
        boolean denied = request.retain()
                || (request.action() == AccessAction.SUBSCRIBE && request.qos().level() == 2);
        return (denied ? AccessDecision.deny("not so") : AccessDecision.ALLOW).now();
    }

    private static String text(ReceivedPacket packet) {
        return new String(packet.bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void qualityOfServiceAndRetainFlagAreDecidedUpon() {
        RawClient client = broker.client(V5, "c");
        assertThat(client.subscribe("a", 1).reasonCodes()).containsExactly(1);
        ReceivedPacket refused = client.subscribe("a", 2);
        assertThat(refused.reasonCodes()).containsExactly(0x87);
        assertThat(text(refused)).contains("not so");
        for (int i = 0; i < 2; i++) { // the second time nobody is asked again
            client.send(PublishBytes.to("t").qos(1, 1));
            assertThat(client.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x10);
        }
        client.send(PublishBytes.to("t").qos(1, 1).retained());
        ReceivedPacket denied = client.expect(MqttMessageType.PUBACK);
        assertThat(denied.reasonCode()).isEqualTo(0x87);
        assertThat(text(denied)).contains("not so");
        client.send(PublishBytes.to("t").qos(2, 2));
        assertThat(client.expect(MqttMessageType.PUBREC).reasonCode()).isEqualTo(0x10);

        assertThat(asked)
                .containsExactly(
                        "SUBSCRIBE a 1", "SUBSCRIBE a 2", "PUBLISH t 1", "PUBLISH t 1 retained", "PUBLISH t 2");
    }

    @Test
    void aWillIsDecidedUponLikeAMessageAndTheConnAckTellsWhy() {
        RawClient client = broker.open(V5);
        client.send(ConnectBytes.of("c").will(PublishBytes.to("will").qos(1, 1).retained()));
        ReceivedPacket connAck = client.expect(MqttMessageType.CONNACK);

        assertThat(connAck.reasonCode()).isEqualTo(0x87);
        assertThat(text(connAck)).contains("not so");
        assertThat(asked).containsExactly("PUBLISH will 1 retained");
    }

    @Test
    void anAuthenticatorTellsWhyItRefuses() {
        RawClient client = broker.open(V5);
        client.send(ConnectBytes.of("stranger"));

        assertThat(text(client.expect(MqttMessageType.CONNACK))).contains("not here");
    }

    @Test
    void eventsOfRefusedConnectsSayWhoItWas() {
        List<BrokerEvent> events = new CopyOnWriteArrayList<>();
        Disposable listening = broker.broker()
                .events()
                .ofType(BrokerEvent.ConnectRefused.class)
                .subscribe(events::add);
        RawClient client = broker.open(V5);
        client.send(ConnectBytes.of("stranger").userName("mallory").password("x"));
        client.expect(MqttMessageType.CONNACK);
        RawClient unreadable = broker.open(V5);
        unreadable.send(PacketBytes.connect(V5, 0x03, 0, "c")); // the reserved flag
        unreadable.expect(MqttMessageType.CONNACK);

        await().until(() -> events.size() == 2);
        listening.dispose();
        assertThat(events)
                .containsExactly(
                        new BrokerEvent.ConnectRefused(
                                "stranger", "mallory", address(client), "mqtt", ReasonCode.NOT_AUTHORIZED),
                        new BrokerEvent.ConnectRefused(
                                "", null, address(unreadable), "mqtt", ReasonCode.MALFORMED_PACKET));
    }

    private static InetSocketAddress address(RawClient client) {
        return (InetSocketAddress) client.socket().getLocalSocketAddress();
    }
}
