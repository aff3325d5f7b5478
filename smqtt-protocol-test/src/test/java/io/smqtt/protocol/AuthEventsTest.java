// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.MqttConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.EnhancedAuthenticator.Step;
import io.smqtt.spi.Grants;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Decisions on clients as messages to $events/auth/#. The user "nobody" is refused, "boss" may do everything, others may not publish to "secret", and "later"
 * is decided later.
 */
class AuthEventsTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final String PASSWORD = "open-sesame";
    private static final String METHOD = "TOKEN";

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config.mqtt(
                    MqttConfig.defaults().toBuilder().eventMessages(true).build()),
            parts -> parts.authenticator(request -> answer(request.userName()).now())
                    .enhancedAuthenticator(tokens())
                    .authorizer(AuthEventsTest::decision));

    private final List<String> events = new CopyOnWriteArrayList<>();

    private static Authentication answer(@Nullable String user) {
        if ("nobody".equals(user)) {
            return new Authentication.Refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD, "try again");
        }
        return new Authentication.Accepted(
                user, Set.of(), "boss".equals(user) ? Grants.NONE.withSuperuser() : Grants.NONE);
    }

    private static Mono<AccessDecision> decision(AccessRequest request) {
        if (request.topic().equals("later")) {
            return Mono.just(AccessDecision.ALLOW).publishOn(Schedulers.parallel());
        }
        return request.action() == AccessAction.PUBLISH && request.topic().equals("secret")
                ? AccessDecision.deny("not yours").now()
                : AccessDecision.ALLOW.now();
    }

    private static EnhancedAuthenticator tokens() {
        return new EnhancedAuthenticator() {
            @Override
            public String method() {
                return METHOD;
            }

            @Override
            public Exchange begin(AuthenticationRequest request) {
                return data -> Mono.just(
                        Arrays.equals(data, PASSWORD.getBytes(StandardCharsets.UTF_8))
                                ? new Step.Success("tokened", Set.of(), null)
                                : new Step.Failure(ReasonCode.NOT_AUTHORIZED));
            }
        };
    }

    private static ConnectBytes connect(String clientId, String user) {
        return ConnectBytes.of(clientId).userName(user).password(PASSWORD);
    }

    private RawClient open(String clientId, String user) {
        RawClient client = broker.open(V5);
        client.connect(connect(clientId, user));
        return client;
    }

    /** Collects events from the moment on in which the broker knows of the subscription. */
    private void listen(String topic) {
        broker.broker()
                .subscribe(topic)
                .subscribe(event -> events.add(new String(event.payload().toByteArray(), StandardCharsets.UTF_8)));
        await().until(() -> {
            try (RawClient probe = open("probe", "u")) {
                probe.publish("probe", "x", 1);
            }
            return !events.isEmpty();
        });
    }

    /** The events of a client, without the fields that differ from run to run. */
    private List<String> of(String clientId) {
        return events.stream()
                .filter(event -> event.contains("\"clientid\":\"" + clientId + '"'))
                .map(event -> event.replaceAll(
                        ",\"event\":\"client.check_auth[nz]_complete\",\"node\":\"smqtt\",\"ts\":\\d{13},\"timestamp\":\\d{13}}",
                        ""))
                .map(event -> event.replaceAll("(?<=127.0.0.1:)\\d+|(?<=\"sockport\":)\\d+", "N"))
                .map(event -> event.replace("{\"clientid\":\"" + clientId + "\",", ""))
                .toList();
    }

    @Test
    void whoIsAuthenticatedAndWhoIsRefused() {
        listen("$events/auth/check_authn_complete");
        String network = ",\"ipaddress\":\"127.0.0.1\",\"peername\":\"127.0.0.1:N\",\"sockport\":N";

        open("c", "u");
        open("d", "boss");
        broker.client(V5, "e");
        RawClient refused = broker.open(V5);
        refused.send(connect("f", "nobody"));
        assertThat(refused.expect(MqttMessageType.CONNACK).reasonCode()).isEqualTo(0x86);

        await().untilAsserted(() -> assertThat(of("f"))
                .containsExactly("\"username\":\"nobody\"" + network
                        + ",\"reason_code\":\"bad_user_name_or_password\",\"reason\":\"try again\""));
        String success = network + ",\"reason_code\":\"success\",\"is_anonymous\":%s,\"is_superuser\":%s";
        assertThat(of("c")).containsExactly("\"username\":\"u\"" + success.formatted(false, false));
        assertThat(of("d")).containsExactly("\"username\":\"boss\"" + success.formatted(false, true));
        assertThat(of("e")).containsExactly("\"username\":null" + success.formatted(true, false));
        assertThat(events).noneMatch(event -> event.contains(PASSWORD));
    }

    @Test
    void authenticationByAuthPackets() {
        listen("$events/auth/#");
        for (String token : List.of(PASSWORD, "wrong")) {
            ConnectBytes connect = ConnectBytes.of(token.equals(PASSWORD) ? "right" : "wrong");
            connect.properties()
                    .authenticationMethod(METHOD)
                    .authenticationData(token.getBytes(StandardCharsets.UTF_8));
            broker.open(V5).send(connect).receive();
        }
        ConnectBytes other = ConnectBytes.of("other");
        other.properties().authenticationMethod("OTHER");
        broker.open(V5).send(other).receive();

        await().untilAsserted(() -> assertThat(of("other"))
                .singleElement()
                .asString()
                .contains("\"username\":null", "\"reason_code\":\"bad_authentication_method\""));
        assertThat(of("right"))
                .singleElement()
                .asString()
                .contains("\"username\":\"tokened\"", "\"reason_code\":\"success\"");
        assertThat(of("wrong")).singleElement().asString().contains("\"reason_code\":\"not_authorized\"");
        assertThat(events).noneMatch(event -> event.contains(PASSWORD));
    }

    @Test
    void whatIsAllowedAndWhatIsDenied() {
        listen("$events/auth/check_authz_complete");
        String who = "\"username\":\"u\",\"peerhost\":\"127.0.0.1\",";

        RawClient client = broker.open(V5);
        client.connect(connect("c", "u")
                .will(PublishBytes.to("will").payload("x").qos(1).retained()));
        client.subscribe("s/#", 2);
        client.publish("t/1", "x", 1);
        client.publish("t/1", "x", 1);
        client.send(PublishBytes.to("secret").qos(1, 7).payload("x"));
        assertThat(client.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x87);
        client.publish("later", "x", 0);
        open("d", "boss").publish("secret", "x", 0);

        await().untilAsserted(
                        () -> assertThat(of("d"))
                                .containsExactly(
                                        "\"username\":\"boss\",\"peerhost\":\"127.0.0.1\",\"action\":\"publish\","
                                                + "\"topic\":\"secret\",\"qos\":0,\"retain\":false,\"result\":\"allow\",\"reason\":null,\"authz_source\":\"superuser\""));
        await().untilAsserted(() -> assertThat(of("c"))
                .containsExactly(
                        who + allowed("publish", "will", 1, true, "rules"),
                        who + allowed("subscribe", "s/#", 2, false, "rules"),
                        who + allowed("publish", "t/1", 1, false, "rules"),
                        who + allowed("publish", "t/1", 1, false, "cache"),
                        who
                                + "\"action\":\"publish\",\"topic\":\"secret\",\"qos\":1,\"retain\":false,\"result\":\"deny\","
                                + "\"reason\":\"not yours\",\"authz_source\":\"rules\"",
                        who + allowed("publish", "later", 0, false, "rules")));
    }

    private static String allowed(String action, String topic, int qos, boolean retain, String source) {
        return "\"action\":\"%s\",\"topic\":\"%s\",\"qos\":%d,\"retain\":%s,\"result\":\"allow\",\"reason\":null,\"authz_source\":\"%s\""
                .formatted(action, topic, qos, retain, source);
    }
}
