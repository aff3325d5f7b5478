// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.ClientInfo;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Grants;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** Superusers, own rules, attributes and the end of an authentication. Clients without grants may do nothing. */
class GrantsTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    private final Map<String, Grants> grants = new ConcurrentHashMap<>(Map.of(
            "super",
            Grants.NONE.withSuperuser(),
            "ruled",
            Grants.NONE.withAttributes(Map.of("area", "north")).withRules(GrantsTest::decide),
            "guest",
            Grants.NONE.withSuperuser().withValidUntil(Instant.now().plusSeconds(1_000)),
            "late",
            Grants.NONE.withSuperuser().withValidUntil(Instant.MIN),
            "eternal",
            Grants.NONE.withSuperuser().withValidUntil(Instant.MAX)));

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            parts -> parts.authorizer(request -> AccessDecision.DENY.now()).authenticator(this::authenticate));

    private Mono<Authentication> authenticate(AuthenticationRequest request) {
        return new Authentication.Accepted("u", Set.of(), grants.getOrDefault(request.clientId(), Grants.NONE)).now();
    }

    /** Everything in the client's area except secrets, not retained. */
    private static AccessDecision decide(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        if (retain || topic.endsWith("secret")) {
            return AccessDecision.DENY;
        }
        boolean own = topic.startsWith(client.grants().attributes().get("area"));
        return own ? AccessDecision.ALLOW : AccessDecision.CONTINUE;
    }

    @Test
    void aSuperuserMayDoEverythingExceptWhatIsClosedToAll() {
        RawClient client = broker.client(V5, "super");
        assertThat(client.subscribe("#", 1).reasonCodes()).containsExactly(1);
        assertThat(client.subscribe("$smqtt/#", 1).reasonCodes()).containsExactly(0x87);
        client.send(PublishBytes.to("$SYS/broker/x").qos(1, 1));
        assertThat(client.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x87);
        client.send(PublishBytes.to("any").qos(0, 0).payload("x"));
        client.expectPublish("any", "x");
    }

    @Test
    void ownRulesAreAskedFirstAndForDeliveriesToo() {
        RawClient client = broker.client(V5, "ruled");
        assertThat(client.subscribe("north/#", 0).reasonCodes()).containsExactly(0);
        assertThat(client.subscribe("south/#", 0).reasonCodes()).containsExactly(0x87);
        client.send(PublishBytes.to("north/a").qos(1, 1).retained());
        assertThat(client.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x87);

        RawClient publisher = broker.client(V5, "super");
        publisher.send(PublishBytes.to("north/secret").qos(0, 0).payload("no"));
        publisher.send(PublishBytes.to("north/b").qos(0, 0).payload("yes"));
        client.expectPublish("north/b", "yes");
        client.expectNothing();
    }

    /** What waits for an absent client is delivered by the rules of its next connection. */
    @Test
    void messagesThatWaitAreCheckedByTheGrantsOfTheNextConnection() {
        RawClient away = broker.open(V5);
        away.connect(ConnectBytes.of("ruled").persistent(1_000));
        assertThat(away.subscribe("north/#", 1).reasonCodes()).containsExactly(1);
        away.abort();
        RawClient publisher = broker.client(V5, "super");
        publisher.publish("north/a", "kept", 1);
        assertThat(subscriptionsOfRuled()).isEqualTo(1);

        grants.put("ruled", Grants.NONE.withAttributes(Map.of("area", "south")).withRules(GrantsTest::decide));
        RawClient back = broker.open(V5);
        assertThat(back.connect(ConnectBytes.of("ruled").persistent(1_000)).sessionPresent())
                .isTrue();
        back.expectNothing();
        await().until(() -> subscriptionsOfRuled() == 0);
    }

    private int subscriptionsOfRuled() {
        return Objects.requireNonNull(broker.broker()
                .clients()
                .filter(info -> info.identity().clientId().equals("ruled"))
                .map(ClientInfo::subscriptions)
                .blockFirst());
    }

    @ParameterizedTest
    @EnumSource
    void theEndOfTheAuthenticationEndsTheConnection(ProtocolVersion version) {
        RawClient client = broker.client(version, "guest");
        broker.ticker().advance(Duration.ofSeconds(900));
        client.ping();
        broker.ticker().advance(Duration.ofSeconds(101));
        client.expectDisconnect(ReasonCode.MAXIMUM_CONNECT_TIME);

        RawClient eternal = broker.client(version, "eternal");
        broker.ticker().advance(Duration.ofDays(3_650));
        eternal.ping();

        RawClient late = broker.client(version, "late");
        broker.ticker().advance(Duration.ofSeconds(1));
        late.expectDisconnect(ReasonCode.MAXIMUM_CONNECT_TIME);
    }
}
