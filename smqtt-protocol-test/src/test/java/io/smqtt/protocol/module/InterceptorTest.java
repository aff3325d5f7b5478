// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.module;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectInterceptor;
import io.smqtt.spi.ConnectRequest;
import io.smqtt.spi.Interception;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.spi.SubscribeInterceptor;
import io.smqtt.spi.SubscribeRequest;
import io.smqtt.spi.UnsubscribeInterceptor;
import io.smqtt.spi.UnsubscribeRequest;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import io.smqtt.topic.TopicFilter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Interceptors of each kind: what they change, what they refuse, and what becomes of a request when they fail. */
class InterceptorTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    private final Plugged plugged = new Plugged();
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private final List<String> authorized = new CopyOnWriteArrayList<>();

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            parts -> parts.interceptor(plugged)
                    .observer(new BrokerObserver() {
                        @Override
                        public void interceptorFailed(String packet) {
                            failures.add(packet);
                        }
                    })
                    .authorizer(request -> {
                        if (request.action() != AccessAction.RECEIVE) {
                            authorized.add(request.action() + " " + request.topic());
                        }
                        return (request.topic().startsWith("forbidden") ? AccessDecision.DENY : AccessDecision.ALLOW)
                                .now();
                    }));

    /** One of all kinds, which does what the test says. */
    private static final class Plugged
            implements ConnectInterceptor, PublishInterceptor, SubscribeInterceptor, UnsubscribeInterceptor {

        private @Nullable Supplier<Mono<? extends Interception<?>>> said;

        @SuppressWarnings("unchecked")
        private <T> Mono<Interception<T>> say(T request) {
            Supplier<Mono<? extends Interception<?>>> answer = said;
            return answer == null
                    ? Interception.forward(request).now()
                    : (Mono<Interception<T>>) (Mono<?>) answer.get();
        }

        @Override
        public Mono<Interception<ConnectRequest>> interceptConnect(ClientIdentity client, ConnectRequest request) {
            if (client.clientId().equals("will")) {
                Will will = Objects.requireNonNull(request.will());
                ApplicationMessage changed =
                        will.message().toBuilder().payload("changed").build();
                return Interception.forward(request.withWill(new Will(changed, 0)))
                        .now();
            }
            if (client.clientId().equals("short")) {
                return Interception.forward(request.withSession(false, 5)).now();
            }
            return client.clientId().equals("victim")
                    ? say(request)
                    : Interception.forward(request).now();
        }

        @Override
        public Mono<Interception<ApplicationMessage>> intercept(ClientIdentity client, ApplicationMessage message) {
            return say(message);
        }

        @Override
        public Mono<Interception<SubscribeRequest>> interceptSubscribe(
                ClientIdentity client, SubscribeRequest request) {
            return request.filter().value().equals("old")
                    ? Interception.forward(
                                    request.withFilter(TopicFilter.of("new")).withMaximumQos(QoS.AT_MOST_ONCE))
                            .now()
                    : say(request);
        }

        @Override
        public Mono<Interception<UnsubscribeRequest>> interceptUnsubscribe(
                ClientIdentity client, UnsubscribeRequest request) {
            return request.filter().value().equals("old")
                    ? Interception.forward(new UnsubscribeRequest(TopicFilter.of("new"), null))
                            .now()
                    : say(request);
        }
    }

    private static Mono<? extends Interception<?>> failure(String kind) {
        return switch (kind) {
            case "throws" -> throw new IllegalStateException("on purpose");
            case "error" -> Mono.error(new IllegalStateException("on purpose"));
            case "late error" ->
                Mono.<Interception<?>>error(new IllegalStateException("on purpose"))
                        .subscribeOn(Schedulers.parallel());
            case "class missing" -> throw new NoClassDefFoundError("on purpose");
            case "class missing, as an error" -> Mono.error(new NoClassDefFoundError("on purpose"));
            case "class missing, when subscribed to" ->
                Mono.<Interception<?>>defer(() -> {
                    throw new NoClassDefFoundError("on purpose");
                });
            case "empty" -> Mono.empty();
            case "late nothing" -> Mono.<Interception<?>>empty().subscribeOn(Schedulers.parallel());
            default -> throw new AssertionError(kind);
        };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "throws",
                "error",
                "late error",
                "class missing",
                "class missing, as an error",
                "class missing, when subscribed to",
                "empty",
                "late nothing",
                "null"
            })
    void aFailureRefusesThatRequestAlone(String kind) {
        RawClient client = broker.client(V5, "c");
        client.subscribe("t", 1);
        plugged.said = kind.equals("null") ? () -> null : () -> failure(kind);

        client.send(PublishBytes.to("t").payload("lost"));
        client.send(PublishBytes.to("t").qos(1, 1).payload("refused"));
        assertThat(client.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x83);
        client.send(PublishBytes.to("t").qos(2, 2).payload("refused"));
        assertThat(client.expect(MqttMessageType.PUBREC).reasonCode()).isEqualTo(0x83);
        assertThat(client.subscribe("u", 1).reasonCodes()).containsExactly(0x83);
        assertThat(client.unsubscribe("t").reasonCodes()).containsExactly(0x83);
        RawClient victim = broker.open(V5);
        victim.send(ConnectBytes.of("victim"));
        assertThat(victim.expect(MqttMessageType.CONNACK).reasonCode()).isEqualTo(0x83);
        victim.expectClosed();

        plugged.said = null;
        client.send(PublishBytes.to("t").payload("works"));
        client.expectPublish("t", "works");
        client.expectNothing();
        assertThat(failures).containsExactly("publish", "publish", "publish", "subscribe", "unsubscribe", "connect");
    }

    @Test
    void aRefusalHasItsReasonCodeAndReasonString() {
        RawClient client = broker.client(V5, "c");
        RawClient silent = broker.open(V5);
        ConnectBytes connect = ConnectBytes.of("silent");
        connect.properties().requestProblemInformation(0);
        silent.connect(connect);
        plugged.said =
                () -> Interception.stop(ReasonCode.QUOTA_EXCEEDED, "too much").now();

        client.send(PublishBytes.to("t").qos(1, 1));
        ReceivedPacket pubAck = client.expect(MqttMessageType.PUBACK);
        ReceivedPacket subAck = client.subscribe("t", 0);
        ReceivedPacket unsubAck = client.unsubscribe("t");
        RawClient victim = broker.open(V5);
        victim.send(ConnectBytes.of("victim"));
        ReceivedPacket connAck = victim.expect(MqttMessageType.CONNACK);

        assertThat(pubAck.reasonCode()).isEqualTo(0x97);
        assertThat(subAck.reasonCodes()).containsExactly(0x97);
        assertThat(unsubAck.reasonCodes()).containsExactly(0x80); // an UNSUBACK has no such code
        assertThat(connAck.reasonCode()).isEqualTo(0x97);
        for (ReceivedPacket packet : List.of(pubAck, subAck, unsubAck, connAck)) {
            assertThat(new String(packet.bytes(), StandardCharsets.UTF_8)).contains("too much");
        }
        assertThat(silent.subscribe("t", 0).bytes()).hasSize(6); // [MQTT-3.1.2-29]
        assertThat(failures).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"MQTT_3_1_1", "MQTT_5"})
    void aChangedSubscriptionIsAuthorizedAndMappedBack(ProtocolVersion version) {
        RawClient client = broker.client(version, "c");

        assertThat(client.subscribe("old", 2).reasonCodes()).containsExactly(0);
        client.send(PublishBytes.to("new").qos(1, 1).payload("x"));
        assertThat(client.expectPublish("new", "x").qos()).isZero();
        client.expect(MqttMessageType.PUBACK);
        client.unsubscribe("old");
        client.send(PublishBytes.to("new").payload("y"));

        client.expectNothing();
        assertThat(authorized).contains("SUBSCRIBE new").doesNotContain("SUBSCRIBE old");
    }

    @Test
    void oneFilterOfManyIsRefusedAlone() {
        RawClient client = broker.client(V5, "c");
        assertThat(client.subscribe(SubscribeBytes.of(3)
                                .filter("a", 1)
                                .filter("forbidden", 1)
                                .filter("old", 1)
                                .filter("b", 2))
                        .reasonCodes())
                .containsExactly(1, 0x87, 0, 2);
    }

    @Test
    void aChangedConnectHasAnotherSession() {
        ConnectBytes connect = ConnectBytes.of("short").cleanStart(true);
        connect.properties().sessionExpiry(100);
        RawClient client = broker.open(V5);
        assertThat(client.connect(connect).number(0x11)).isEqualTo(5);
        client.abort();

        assertThat(broker.open(V5).connect(connect).sessionPresent())
                .as("the interceptor has taken the clean start away")
                .isTrue();
    }

    @Test
    void aChangedWillIsPublished() {
        RawClient watcher = broker.client(V5, "watcher");
        watcher.subscribe("will", 0);
        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of("will").will(PublishBytes.to("will").payload("original")));
        client.abort();

        watcher.expectPublish("will", "changed");
    }
}
