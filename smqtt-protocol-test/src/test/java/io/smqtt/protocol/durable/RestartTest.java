// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.Interception;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** What is there again after the broker was killed or stopped. */
class RestartTest {

    private final DurableBroker broker = new DurableBroker();

    @AfterEach
    void close() {
        broker.close();
    }

    private static PublishBytes message(String payload, int qos, int packetId) {
        return PublishBytes.to("t").payload(payload).qos(qos, packetId);
    }

    @Test
    void whatFittedIsBackWhateverItsUserMayHoldNow() {
        AtomicLong most = new AtomicLong(1 << 20);
        try (DurableBroker limited = new DurableBroker(config -> config.limits(LimitsConfig.builder()
                .maxTotalSessionBytes(25_000)
                .maxUserSessionBytes(most.get())
                .build()))) {
            int stored = 0;
            while (connects(limited, "s" + stored)) {
                stored++;
            }
            most.set(1_024); // as if all shared the counter of a user now
            limited.restart();
            for (int i = 0; i < stored; i++) {
                limited.resumed("s" + i).disconnect();
            }
            assertThat(connects(limited, "new")).isFalse();
        }
    }

    private static boolean connects(DurableBroker broker, String clientId) {
        RawClient client = broker.open(ProtocolVersion.MQTT_5);
        client.send(ConnectBytes.of(clientId).persistent(1_000));
        return client.expect(MqttMessageType.CONNACK).reason() == ReasonCode.SUCCESS;
    }

    @Test
    void whatDoesNotFitStaysInTheStoreAndIsBackWhenThereIsRoom() {
        AtomicLong most = new AtomicLong(1 << 20);
        try (DurableBroker limited = new DurableBroker(config -> config.limits(LimitsConfig.builder()
                .maxTotalSessionBytes(most.get())
                .maxUserSessionBytes(1 << 20)
                .build()))) {
            for (int i = 0; i < 5; i++) {
                RawClient client = limited.persistent("s" + i);
                client.subscribe("t/" + "x".repeat(3_000) + i, 1);
                client.subscribe("all", 1);
                client.disconnect();
            }
            limited.clean("p").publish("all", "kept", 1);
            most.set(13_600); // room for three sessions, also in the last fifth
            limited.restart();
            assertThat(limited.broker()
                            .clients()
                            .map(client -> client.identity().clientId())
                            .collectList()
                            .block())
                    .containsExactlyInAnyOrder("s0", "s1", "s2");
            limited.resumed("s0").expectPublish("all", "kept");
            assertThat(limited.store.messages("s4")).hasSize(1); // still there

            RawClient refused = limited.open(ProtocolVersion.MQTT_5);
            refused.send(ConnectBytes.of("s4").persistent(1_000));
            assertThat(refused.expect(MqttMessageType.CONNACK).reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);

            limited.clean("s1").disconnect(); // makes room
            await().until(() -> limited.broker().client("s1").block() == null);
            RawClient back = limited.resumed("s4");
            back.expectPublish("all", "kept");
            limited.clean("q").publish("all", "new", 1);
            back.expectPublish("all", "new");

            most.set(1 << 20);
            limited.restart();
            RawClient last = limited.resumed("s3");
            last.expectPublish("all", "kept");
            last.expectNothing(); // "new" came while it was not here
        }
    }

    @Test
    void whatDoesNotFitIsDiscardedByACleanStart() { // [MQTT-3.1.2-4]
        AtomicLong most = new AtomicLong(1 << 20);
        try (DurableBroker limited = new DurableBroker(config -> config.limits(LimitsConfig.builder()
                .maxTotalSessionBytes(most.get())
                .maxUserSessionBytes(1 << 20)
                .build()))) {
            for (int i = 0; i < 4; i++) {
                RawClient client = limited.persistent("s" + i);
                client.subscribe("t/" + "x".repeat(3_000) + i, 1);
                client.disconnect();
            }
            most.set(5_500); // room for one session
            limited.restart();
            assertThat(connects(limited, "s2")).isFalse();

            limited.store.hold();
            RawClient clean = limited.open(ProtocolVersion.MQTT_5);
            clean.send(ConnectBytes.of("s2")); // without an expiry interval
            limited.awaitPending(); // it must not come back after a crash
            limited.store.release();
            ReceivedPacket connAck = clean.expect(MqttMessageType.CONNACK);
            assertThat(connAck.reason()).isEqualTo(ReasonCode.SUCCESS);
            assertThat(connAck.sessionPresent()).isFalse();
            assertThat(limited.store.session("s2")).isEmpty();
            assertThat(limited.store.session("s3")).isPresent();

            most.set(1 << 20);
            limited.kill();
            assertThat(limited.broker()
                            .clients()
                            .map(client -> client.identity().clientId())
                            .collectList()
                            .block())
                    .containsExactlyInAnyOrder("s0", "s1", "s3");
        }
    }

    @ParameterizedTest
    @EnumSource
    void sessionsSubscriptionsAndMessagesAreThereAgain(ProtocolVersion version) { // [MQTT-3.1.2-5] [MQTT-4.1.0-1]
        RawClient subscriber = broker.persistent(version, "s");
        subscriber.subscribe("a/+", 2);
        subscriber.subscribe("b", 1);
        subscriber.disconnect();
        RawClient publisher = broker.clean(version, "p");
        publisher.publish("a/1", "1", 1);
        publisher.publish("b", "2", 2);
        publisher.publish("a/1", "3", 2);
        broker.kill();
        broker.clean(version, "p").publish("a/2", "4", 1);
        RawClient resumed = broker.resumed(version, "s");
        assertThat(resumed.expectPublish("a/1", "1").dup()).isFalse();
        assertThat(resumed.expectPublish("b", "2").qos()).isEqualTo(1);
        assertThat(resumed.expectPublish("a/1", "3").qos()).isEqualTo(2);
        resumed.expectPublish("a/2", "4");
        resumed.expectNothing();
    }

    @Test
    void whatAnInterceptorHasMadeExpiresInItsTime() {
        PublishInterceptor minute = (client, message) -> Mono.just(Interception.forward(ApplicationMessage.builder("t")
                .payload(message.payload())
                .qos(message.qos())
                .retain(message.retain())
                .expiryInterval(Duration.ofMinutes(1))
                .build()));
        try (DurableBroker changing = new DurableBroker(config -> config, parts -> parts.interceptor(minute))) {
            RawClient subscriber = changing.persistent("s");
            subscriber.subscribe("t", SubscribeBytes.NO_LOCAL | 1);
            subscriber.publish("own", "not for its publisher", 1);
            subscriber.disconnect();
            changing.awaitOffline("s");
            RawClient publisher = changing.clean("p");
            publisher.publish("t", "a", 1);
            publisher.publish(message("kept", 1, 7).retained());
            changing.advance(Duration.ofSeconds(20));
            changing.kill();
            RawClient resumed = changing.resumed("s");
            assertThat(resumed.expectPublish("t", "a").number(0x02)).isEqualTo(40);
            resumed.expectPublish("t", "kept");
            RawClient late = changing.clean("late");
            late.subscribe("t", 1);
            assertThat(late.expectPublish("t", "kept").number(0x02)).isEqualTo(40);
        }
    }

    @Test
    void whatWasInFlightComesAgainWithItsIdentifierInItsOrder() { // [MQTT-4.4.0-1] [MQTT-4.6.0-1] [MQTT-3.3.1-1]
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 2);
        RawClient publisher = broker.clean("p");
        List<Integer> identifiers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            publisher.publish("t", "" + i, i % 2 + 1);
            ReceivedPacket received = subscriber.expectPublish("t", "" + i);
            identifiers.add(received.packetId());
        }
        subscriber.acknowledge(0x40, identifiers.get(0));
        subscriber.acknowledge(0x50, identifiers.get(3)).expect(MqttMessageType.PUBREL);
        await().until(() -> broker.store.messages("s").size() == 5);
        broker.kill();
        RawClient resumed = broker.resumed("s");
        for (int i : new int[] {1, 2}) {
            ReceivedPacket again = resumed.expectPublish("t", "" + i);
            assertThat(again.dup()).isTrue();
            assertThat(again.packetId()).isEqualTo(identifiers.get(i));
        }
        assertThat(resumed.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(identifiers.get(3));
        for (int i : new int[] {4, 5}) {
            assertThat(resumed.expectPublish("t", "" + i).packetId()).isEqualTo(identifiers.get(i));
        }
        broker.clean("p").publish("t", "new", 1);
        ReceivedPacket fresh = resumed.expectPublish("t", "new");
        assertThat(fresh.dup()).isFalse();
        assertThat(identifiers).doesNotContain(fresh.packetId());
        resumed.acknowledge(0x70, identifiers.get(3));
        resumed.acknowledge(0x40, fresh.packetId());
        resumed.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aQos2MessageThatMayNotBeSentAgainIsReleasedForGood(ProtocolVersion version) { // [MQTT-4.3.3-6]
        AtomicBoolean forbidden = new AtomicBoolean();
        Authorizer rules = request -> (forbidden.get() && request.action() == AccessAction.RECEIVE
                        ? AccessDecision.DENY
                        : AccessDecision.ALLOW)
                .now();
        try (DurableBroker guarded = new DurableBroker(config -> config, parts -> parts.authorizer(rules))) {
            RawClient subscriber = guarded.persistent(version, "s");
            subscriber.subscribe("t", 2);
            guarded.clean(version, "p").publish("t", "x", 2);
            int id = subscriber.expectPublish("t", "x").packetId();
            guarded.kill();
            forbidden.set(true);
            guarded.store.holdReads();
            RawClient resumed = guarded.resumed(version, "s");
            guarded.store.hold();
            guarded.store.releaseReads();
            guarded.awaitPending();
            resumed.expectNothing(); // or else the PUBLISH could come after the PUBREL
            guarded.store.release();
            assertThat(resumed.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
            guarded.kill();
            forbidden.set(false);
            RawClient again = guarded.resumed(version, "s");
            assertThat(again.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
            again.expectNothing();
            again.acknowledge(0x70, id);
            await().until(() -> guarded.store.messages("s").isEmpty());
        }
    }

    @Test
    void aQos2MessageThatWasRoutedIsNotRoutedAgain() { // [MQTT-4.3.3-10]
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 2);
        subscriber.disconnect();
        RawClient publisher = broker.persistent("p");
        publisher.send(message("once", 2, 5)).expect(MqttMessageType.PUBREC);
        broker.kill();
        RawClient again = broker.resumed("p");
        again.send(message("once", 2, 5).dup()).expect(MqttMessageType.PUBREC);
        again.acknowledge(0x62, 5).expect(MqttMessageType.PUBCOMP);
        again.send(message("other", 2, 5)).expect(MqttMessageType.PUBREC);
        RawClient resumed = broker.resumed("s");
        resumed.expectPublish("t", "once");
        resumed.expectPublish("t", "other");
        resumed.expectNothing();
    }

    @Test
    void aQos2MessageIsKnownWithAllItsDeliveriesOrNotAtAll() {
        for (int i = 0; i < 8; i++) { // on several event loops
            RawClient subscriber = broker.persistent("s" + i);
            subscriber.subscribe("t", 2);
            if (i % 2 == 0) {
                subscriber.disconnect();
                broker.awaitOffline("s" + i);
            }
        }
        RawClient publisher = broker.persistent("p");
        broker.store.hold();
        publisher.send(message("x", 2, 5));
        broker.awaitPending();
        publisher.expectNothing();
        assertThat(broker.store.commitOne()).isTrue();
        boolean known = broker.store.received("p").contains(5);
        for (int i = 0; i < 8; i++) {
            assertThat(broker.store.messages("s" + i)).hasSize(known ? 1 : 0);
        }
        broker.kill();
        RawClient again = broker.resumed("p");
        again.send(message("x", 2, 5).dup()).expect(MqttMessageType.PUBREC);
        for (int i = 0; i < 8; i++) {
            RawClient resumed = broker.resumed("s" + i);
            resumed.expectPublish("t", "x");
            resumed.expectNothing();
        }
    }

    @Test
    void whatWasNotCommittedIsForgotten() {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 1);
        subscriber.disconnect();
        broker.awaitOffline("s");
        RawClient publisher = broker.clean("p");
        publisher.publish("t", "kept", 1);
        broker.store.hold();
        publisher.send(message("lost", 1, 100));
        broker.awaitPending();
        publisher.expectNothing();
        broker.kill();
        RawClient resumed = broker.resumed("s");
        resumed.expectPublish("t", "kept");
        resumed.expectNothing();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void retainedMessagesAreThereAgain(boolean killed) {
        RawClient publisher = broker.clean("p");
        publisher.publish(PublishBytes.to("r/1").payload("one").qos(1).retained());
        publisher.publish(PublishBytes.to("r/2").payload("two").qos(0).retained());
        publisher.publish(PublishBytes.to("r/3").payload("three").qos(1).retained());
        publisher.publish(PublishBytes.to("r/3").payload("").qos(1).retained());
        await().until(() -> broker.store.retained().size() == 2);
        if (killed) {
            broker.kill();
        } else {
            broker.restart();
        }
        RawClient subscriber = broker.clean("s");
        subscriber.subscribe("r/#", 1);
        subscriber.expectPublish("r/1", "one");
        subscriber.expectPublish("r/2", "two");
        subscriber.expectNothing();
    }

    @Test
    void whatTheLimitsNoLongerAllowStaysInTheStoreAndDoesNotComeBackOlderThanWhatWasPublishedSince() {
        AtomicInteger limit = new AtomicInteger(10);
        try (DurableBroker limited = new DurableBroker(config -> config.limits(
                LimitsConfig.builder().maxRetainedMessages(limit.get()).build()))) {
            RawClient publisher = limited.clean("p");
            for (String topic : List.of("r/1", "r/2", "r/3", "r/4")) {
                publisher.publish(PublishBytes.to(topic).payload("old").qos(1).retained());
            }
            limit.set(1);
            limited.kill();
            assertThat(limited.store.retained()).hasSize(4);
            publisher = limited.clean("p");
            publisher.send(PublishBytes.to("r/2").payload("").retained());
            await().until(() -> limited.store.retained().size() == 3);
            publisher.send(PublishBytes.to("r/3").payload("new").qos(1, 1).retained());
            assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x97);
            await().until(() -> limited.store.retained().size() == 2);
            limit.set(10);
            limited.kill();
            RawClient subscriber = limited.clean("s");
            subscriber.subscribe("r/#", 0);
            subscriber.expectPublish("r/1", "old");
            subscriber.expectPublish("r/4", "old");
            subscriber.expectNothing();
        }
    }

    @Test
    void aSessionExpiresByElapsedTime() { // [MQTT-3.1.2-23]
        broker.persistent("c").disconnect();
        broker.awaitOffline("c");
        broker.advance(Duration.ofSeconds(900));
        broker.kill();
        broker.advance(Duration.ofSeconds(99));
        RawClient client = broker.resumed("c");
        client.disconnect();
        broker.awaitOffline("c");
        broker.advance(Duration.ofSeconds(900));
        broker.kill();
        broker.advance(Duration.ofSeconds(101));
        await().until(() -> broker.store.session("c").isEmpty());
        assertThat(broker.open(ProtocolVersion.MQTT_5)
                        .connect(ConnectBytes.of("c").persistent(1_000))
                        .sessionPresent())
                .isFalse();
    }

    @Test
    void theTimeOfASessionBeginsWithTheRestartIfItsClientWasConnected() {
        broker.persistent("c");
        broker.kill();
        broker.advance(Duration.ofSeconds(999));
        broker.resumed("c");
        broker.kill();
        broker.advance(Duration.ofSeconds(1_001));
        await().until(() -> broker.store.session("c").isEmpty());
    }

    @Test
    void aWillThatWaitsIsPublishedAfterTheRestartInItsTime() { // [MQTT-3.1.2-8] [MQTT-3.1.3-9]
        RawClient client = broker.open(ProtocolVersion.MQTT_5);
        ConnectBytes connect = ConnectBytes.of("c")
                .persistent(1_000)
                .will(PublishBytes.to("will").payload("gone").qos(1));
        client.connect(connect);
        RawClient watcher = broker.persistent("w");
        watcher.subscribe("will", 1);
        broker.kill();
        broker.resumed("w").expectPublish("will", "gone");
        await().until(() -> broker.store.session("c").orElseThrow().will() == null);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 10})
    void aWillIsStoredUntilItsMessageIs(int delaySeconds) { // [MQTT-3.1.2-8]
        RawClient watcher = broker.persistent("w");
        watcher.subscribe("will", 1);
        watcher.disconnect();
        broker.awaitOffline("w");
        PublishBytes will = PublishBytes.to("will").payload("gone").qos(1);
        will.properties().willDelay(delaySeconds);
        RawClient client = broker.open(ProtocolVersion.MQTT_5);
        client.connect(ConnectBytes.of("c").persistent(1_000).will(will));
        if (delaySeconds > 0) {
            client.abort();
            broker.awaitOffline("c");
            await().until(() -> broker.store.session("c").orElseThrow().willAtMillis() > 0);
            broker.store.hold();
            broker.advance(Duration.ofSeconds(delaySeconds + 1));
        } else {
            broker.store.hold();
            client.abort();
        }
        broker.awaitPending();
        broker.store.commitOne();
        broker.kill();
        broker.letTimePassUntil(() -> !broker.store.messages("w").isEmpty());
        RawClient resumed = broker.resumed("w");
        resumed.acknowledge(0x40, resumed.expectPublish("will", "gone").packetId());
        await().until(() -> broker.store.session("c").orElseThrow().will() == null);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aWillOfASessionThatEndsIsStoredUntilItsMessageIs(int commits) { // [MQTT-3.1.2-10]
        RawClient watcher = broker.persistent("w");
        watcher.subscribe("will", 1);
        watcher.disconnect();
        broker.awaitOffline("w");
        PublishBytes will = PublishBytes.to("will").payload("gone").qos(1);
        will.properties().willDelay(1_000);
        RawClient client = broker.open(ProtocolVersion.MQTT_5);
        client.connect(ConnectBytes.of("c").persistent(10).will(will));
        client.abort();
        broker.awaitOffline("c");
        await().until(() -> broker.store.session("c").orElseThrow().willAtMillis() > 0);
        broker.store.hold();
        broker.advance(Duration.ofSeconds(11));
        broker.awaitPending();
        for (int i = 0; i < commits; i++) {
            broker.store.commitOne();
        }
        broker.kill();
        broker.letTimePassUntil(() -> !broker.store.messages("w").isEmpty());
        RawClient resumed = broker.resumed("w");
        resumed.acknowledge(0x40, resumed.expectPublish("will", "gone").packetId());
        await().until(() -> broker.store.session("c").isEmpty());
    }

    @Test
    void aWillIsPublishedByTheRolesOfItsClient() {
        broker.close();
        Authenticator grants = request -> new Authentication.Accepted("u", Set.of("publisher")).now();
        Authorizer asks = request -> Mono.just(
                request.action() == AccessAction.SUBSCRIBE
                                || request.client().roles().contains("publisher")
                        ? AccessDecision.ALLOW
                        : AccessDecision.DENY);
        try (DurableBroker guarded = new DurableBroker(
                config -> config, parts -> parts.authenticator(grants).authorizer(asks))) {
            RawClient watcher = guarded.persistent("w");
            watcher.subscribe("will", 1);
            guarded.open(ProtocolVersion.MQTT_5)
                    .connect(ConnectBytes.of("c")
                            .persistent(1_000)
                            .will(PublishBytes.to("will").payload("gone").qos(1)));
            guarded.kill();
            guarded.resumed("w").expectPublish("will", "gone");
        }
    }

    @Test
    void aClientThatIsRefusedChangesNothingOfItsSession() {
        RawClient watcher = broker.persistent("w");
        watcher.subscribe("will", 1);
        PublishBytes will = PublishBytes.to("will").payload("gone").qos(1);
        RawClient client = broker.open(ProtocolVersion.MQTT_5);
        will.properties().willDelay(100);
        client.connect(ConnectBytes.of("c").persistent(1_000).will(will));
        client.abort();
        broker.awaitOffline("c");
        broker.store.fail();
        RawClient refused = broker.open(ProtocolVersion.MQTT_5);
        refused.send(ConnectBytes.of("c").persistent(1_000)).expect(MqttMessageType.CONNACK);
        refused.expectClosed();
        broker.store.heal();
        broker.advance(Duration.ofSeconds(101));
        ReceivedPacket published = watcher.expectPublish("will", "gone");
        watcher.acknowledge(0x40, published.packetId());
        await().until(() -> broker.store.session("c").orElseThrow().will() == null);
        await().until(() -> broker.store.messages("w").isEmpty());
        broker.kill();
        broker.resumed("w").expectNothing();
    }

    @Test
    void aMessageExpiresOverARestart() { // [MQTT-3.3.2-5] [MQTT-3.3.2-6]
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 1);
        subscriber.disconnect();
        broker.awaitOffline("s");
        RawClient publisher = broker.clean("p");
        PublishBytes shortLived = PublishBytes.to("t").payload("short").qos(1);
        shortLived.properties().u32(0x02, 10);
        PublishBytes longLived = PublishBytes.to("t").payload("long").qos(1);
        longLived.properties().u32(0x02, 100);
        publisher.publish(shortLived);
        publisher.publish(longLived);
        broker.advance(Duration.ofSeconds(6));
        broker.kill();
        broker.advance(Duration.ofSeconds(5));
        RawClient resumed = broker.resumed("s");
        assertThat(resumed.expectPublish("t", "long").number(0x02)).isEqualTo(89);
        resumed.expectNothing();
    }

    @Test
    void whatWasSentAtQos1IsNotSentAgainWhenItHasExpired() { // [MQTT-4.3.3-7] [MQTT-3.3.2-6]
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 2);
        RawClient publisher = broker.clean("p");
        for (int qos : new int[] {1, 2}) {
            for (int seconds : new int[] {10, 100}) {
                PublishBytes message =
                        PublishBytes.to("t").payload(qos + " " + seconds).qos(qos);
                message.properties().messageExpiry(seconds);
                publisher.publish(message);
                subscriber.expectPublish("t", qos + " " + seconds);
            }
        }
        await().until(() -> broker.store.messages("s").size() == 4);
        broker.advance(Duration.ofSeconds(6));
        broker.kill();
        broker.advance(Duration.ofSeconds(5));
        RawClient resumed = broker.resumed("s");
        assertThat(resumed.expectPublish("t", "1 100").number(0x02)).isEqualTo(89);
        assertThat(resumed.expectPublish("t", "2 10").dup()).isTrue();
        assertThat(resumed.expectPublish("t", "2 100").dup()).isTrue();
        resumed.expectNothing();
        await().until(() -> broker.store.messages("s").size() == 3);
    }

    @Test
    void subscriptionsKeepTheirOptionsAndIdentifiers() {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe(SubscribeBytes.of(1)
                .filter("t", 1 | SubscribeBytes.NO_LOCAL | SubscribeBytes.RETAIN_AS_PUBLISHED)
                .identifier(77));
        subscriber.disconnect();
        broker.awaitOffline("s");
        RawClient publisher = broker.clean("p");
        publisher.publish(PublishBytes.to("t").payload("before").qos(1).retained());
        broker.kill();
        broker.clean("p").publish(PublishBytes.to("t").payload("after").qos(1).retained());
        RawClient resumed = broker.resumed("s");
        for (String payload : List.of("before", "after")) {
            ReceivedPacket received = resumed.expectPublish("t", payload);
            assertThat(received.retain()).isTrue();
            assertThat(received.number(0x0B)).isEqualTo(77);
        }
        resumed.send(message("own", 1, 9)).expect(MqttMessageType.PUBACK);
        resumed.expectNothing();
    }

    @Test
    void aGracefulEndLosesNothing() {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 1);
        broker.store.hold();
        broker.clean("p").send(message("x", 1, 1));
        subscriber.expectPublish("t", "x");
        broker.restart();
        assertThat(broker.resumed("s").expectPublish("t", "x").dup()).isTrue();
    }
}
