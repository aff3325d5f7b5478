// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.PublishResult;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.StorageConfig;
import io.smqtt.config.StorageConfig.Sync;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing is acknowledged before it is safe, and what cannot be made safe is refused. */
class AcknowledgementTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final ProtocolVersion V311 = ProtocolVersion.MQTT_3_1_1;
    private static final int QUOTA_EXCEEDED = 0x97;

    private final DurableBroker broker = new DurableBroker();

    @AfterEach
    void close() {
        broker.close();
    }

    private void subscribed(String clientId, int qos) {
        subscribed(broker, clientId, qos);
    }

    private static void subscribed(DurableBroker broker, String clientId, int qos) {
        RawClient subscriber = broker.persistent(clientId);
        subscriber.subscribe("t", qos);
        subscriber.disconnect();
        broker.awaitOffline(clientId);
    }

    private static PublishBytes message(String payload, int qos, int packetId) {
        return PublishBytes.to("t").payload(payload).qos(qos, packetId);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aPublisherIsAnsweredWhenItsMessageIsSafe(int qos) {
        subscribed("s", 2);
        RawClient publisher = broker.clean("p");
        broker.store.hold();
        publisher.send(message("a", qos, 1));
        broker.awaitPending();
        publisher.expectNothing();
        broker.store.commit();
        ReceivedPacket answer = publisher.expect(qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC);
        assertThat(answer.packetId()).isEqualTo(1);
        assertThat(answer.reasonCode()).isZero();
        assertThat(broker.store.messages("s")).hasSize(1);
    }

    @Test
    void aPublisherWithAStoredSessionIsAnsweredAtQos2WhenItsIdentifierIsSafe() {
        RawClient publisher = broker.persistent("p");
        broker.store.hold();
        publisher.send(message("nobody wants it", 2, 9));
        broker.awaitPending();
        publisher.expectNothing();
        broker.store.commit();
        publisher.expect(MqttMessageType.PUBREC);
        assertThat(broker.store.received("p")).containsExactly(9);
        publisher.acknowledge(0x62, 9);
        broker.awaitPending();
        publisher.expectNothing();
        broker.store.commit();
        publisher.expect(MqttMessageType.PUBCOMP);
        assertThat(broker.store.received("p")).isEmpty();
    }

    @Test
    void answersKeepTheOrderOfTheMessages() { // [MQTT-4.6.0-2] [MQTT-4.6.0-3]
        subscribed("s", 2);
        RawClient publisher = broker.clean("p");
        broker.store.hold();
        publisher.send(message("a", 1, 1));
        publisher.send(PublishBytes.to("other").payload("b").qos(1, 2));
        publisher.send(message("c", 1, 3));
        broker.awaitPending();
        publisher.expectNothing();
        broker.store.release();
        assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(1);
        assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(2);
        assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aMessageThatCannotBeKeptIsRefused(int qos) {
        subscribed("s", 2);
        RawClient publisher = broker.clean("p");
        RawClient older = broker.clean(V311, "old");
        RawClient bystander = broker.clean("b");
        bystander.subscribe("q", 0);
        broker.store.fail();
        publisher.send(message("a", qos, 1));
        ReceivedPacket answer = publisher.expect(qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC);
        assertThat(answer.reasonCode()).isEqualTo(QUOTA_EXCEEDED);
        older.send(message("a", qos, 1));
        older.expectClosed(); // there is no way to say no
        publisher.send(PublishBytes.to("q").payload("live").qos(0));
        bystander.expectPublish("q", "live");
        publisher.publish("q", "nobody stores this", 1);
        bystander.expectPublish("q", "nobody stores this");
        broker.store.heal();
        publisher.send(message("b", qos, 2));
        assertThat(publisher
                        .expect(qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC)
                        .reasonCode())
                .isZero();
        RawClient resumed = broker.resumed("s");
        resumed.expectPublish("t", "b");
        resumed.expectNothing();
    }

    @Test
    void aFailedMessageThatComesAgainIsANewOne() {
        subscribed("s", 2);
        RawClient publisher = broker.persistent("p");
        broker.store.fail();
        publisher.send(message("a", 2, 1));
        assertThat(publisher.expect(MqttMessageType.PUBREC).reasonCode()).isEqualTo(QUOTA_EXCEEDED);
        broker.store.heal();
        publisher.send(message("a", 2, 1));
        assertThat(publisher.expect(MqttMessageType.PUBREC).reasonCode()).isZero();
        RawClient resumed = broker.resumed("s");
        resumed.expectPublish("t", "a");
        resumed.expectNothing();
    }

    @Test
    void aSubscriptionIsAcknowledgedWhenItIsSafe() {
        RawClient subscriber = broker.persistent("s");
        broker.store.hold();
        subscriber.send(SubscribeBytes.of(1).filter("t", 1));
        broker.awaitPending();
        subscriber.expectNothing();
        broker.store.commit();
        assertThat(subscriber.expect(MqttMessageType.SUBACK).reasonCodes()).containsExactly(1);
        assertThat(broker.store.subscriptions("s")).containsExactly("t");
        subscriber.send(PacketBytes.packet(0xA2).u16(2).noPropertiesIn(V5).string("t"));
        broker.awaitPending();
        subscriber.expectNothing();
        broker.store.commit();
        assertThat(subscriber.expect(MqttMessageType.UNSUBACK).reasonCodes()).containsExactly(0);
        assertThat(broker.store.subscriptions("s")).isEmpty();
    }

    @Test
    void aSubscriptionThatCannotBeKeptIsRefusedAndTheOneBeforeStays() {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 0);
        broker.store.fail();
        assertThat(subscriber
                        .subscribe(SubscribeBytes.of(7).filter("t", 1).filter("u", 1))
                        .reasonCodes())
                .containsExactly(QUOTA_EXCEEDED, QUOTA_EXCEEDED);
        RawClient publisher = broker.clean("p");
        publisher.publish("u", "not subscribed", 0);
        publisher.publish("t", "at most once", 1);
        assertThat(subscriber.expectPublish("t", "at most once").qos()).isZero();
        subscriber.expectNothing();
    }

    @Test
    void aClientIsConnectedWhenItsSessionIsSafe() {
        broker.store.hold();
        RawClient client = broker.open(V5);
        client.send(ConnectBytes.of("c").persistent(100));
        broker.awaitPending();
        assertThat(broker.store.session("c")).isEmpty();
        broker.store.commit();
        assertThat(client.expect(MqttMessageType.CONNACK).reasonCode()).isZero();
        assertThat(broker.store.session("c")).isPresent();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSessionThatCannotBeKeptIsRefusedAndCleanOnesGoOn(boolean exists) {
        if (exists) {
            subscribed("c", 1);
        }
        broker.store.fail();
        RawClient client = broker.open(V5);
        ReceivedPacket refused =
                client.send(ConnectBytes.of("c").persistent(100)).expect(MqttMessageType.CONNACK);
        assertThat(refused.reasonCode()).isEqualTo(QUOTA_EXCEEDED);
        client.expectClosed();
        RawClient old = broker.open(V311);
        assertThat(old.send(ConnectBytes.of("d").persistent(100))
                        .expect(MqttMessageType.CONNACK)
                        .reasonCode())
                .isEqualTo(3);
        broker.clean("e").ping();
        broker.store.heal();
        RawClient again = broker.open(V5);
        assertThat(again.connect(ConnectBytes.of("c").persistent(100)).sessionPresent())
                .isEqualTo(exists);
    }

    @Test
    void aRetainedMessageIsAcknowledgedWhenItIsSafe() {
        RawClient publisher = broker.clean("p");
        broker.store.hold();
        publisher.send(message("kept", 1, 1).retained());
        broker.awaitPending();
        publisher.expectNothing();
        broker.store.commit();
        publisher.expect(MqttMessageType.PUBACK);
        assertThat(broker.store.retained()).hasSize(1);
        broker.store.release();
        publisher.publish(PublishBytes.to("t").payload("").qos(1).retained());
        assertThat(broker.store.retained()).isEmpty();
    }

    @Test
    void aRetainedMessageIsGoneWhenThatIsSafeAlsoForWhoClearsItAgain() {
        RawClient publisher = broker.clean("p");
        publisher.publish(PublishBytes.to("t").payload("kept").qos(1).retained());
        broker.store.fail();
        for (int packetId = 1; packetId <= 2; packetId++) {
            publisher.send(message("", 1, packetId).retained());
            assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(QUOTA_EXCEEDED);
        }
        assertThat(broker.store.retained()).hasSize(1);
        broker.store.heal();
        publisher.publish(PublishBytes.to("t").payload("").qos(1).retained());
        assertThat(broker.store.retained()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1_000})
    void aCleanStartIsAcknowledgedWhenTheSessionBeforeItIsGone(int expirySeconds) throws IOException { // [MQTT-3.1.2-4]
        subscribed("c", 1);
        broker.store.hold();
        RawClient client = broker.open(V5);
        client.send(ConnectBytes.of("c").persistent(expirySeconds).cleanStart(true));
        broker.awaitPending();
        RawClient other = broker.clean("other");
        for (int i = 0; i < 20; i++) {
            other.ping();
        }
        assertThat(client.socket().getInputStream().available()).isZero();
        RawClient third = broker.open(V5);
        third.send(ConnectBytes.of("c").persistent(expirySeconds).cleanStart(true));
        broker.store.release();
        ReceivedPacket answer = third.expect(MqttMessageType.CONNACK);
        assertThat(answer.reasonCode()).isZero();
        assertThat(answer.sessionPresent()).isFalse();
        broker.kill();
        assertThat(broker.open(V5).connect(ConnectBytes.of("c").persistent(100)).sessionPresent())
                .isEqualTo(expirySeconds > 0);
        assertThat(broker.store.subscriptions("c")).isEmpty();
    }

    /** A broker that takes ten messages before it has acknowledged one, whose older publisher has sent more of them. */
    private static DurableBroker pipelined(int messages, Consumer<RawClient> then) {
        DurableBroker narrow = new DurableBroker(config -> config.limits(
                LimitsConfig.builder().receiveMaximum(10).maxAwaitingRelease(10).build()));
        subscribed(narrow, "s", 1);
        RawClient publisher = narrow.clean(V311, "p");
        narrow.store.hold();
        for (int packetId = 1; packetId <= messages; packetId++) {
            publisher.send(message(String.valueOf(packetId), 1, packetId));
        }
        then.accept(publisher);
        narrow.awaitPending();
        narrow.store.release();
        return narrow;
    }

    @Test
    void anOlderPublisherThatWaitsForNoAnswerIsSlowedNotRefused() {
        try (DurableBroker narrow = pipelined(200, publisher -> {})) {
            RawClient publisher = narrow.client(1);
            for (int packetId = 1; packetId <= 200; packetId++) {
                assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(packetId);
            }
            publisher.ping();
            assertThat(narrow.store.messages("s")).hasSize(200);
        }
    }

    @Test
    void whatAnOlderPublisherHasSentWhenItLeavesIsStored() {
        try (DurableBroker narrow = pipelined(50, publisher -> publisher.send((byte) 0xE0, (byte) 0))) {
            await().until(() -> narrow.store.messages("s").size() == 50);
            narrow.awaitOffline("p");
        }
    }

    @Test
    void aListenerThatWaitsDoesSoUntilPubCompThoughTheBrokerDoesNot() {
        ListenerConfig listener = ListenerConfig.tcp(0).toBuilder()
                .host("127.0.0.1")
                .sync(ListenerConfig.Sync.SYNC)
                .build();
        try (DurableBroker hasty =
                new DurableBroker(config -> waiting(config, Sync.NONE).listeners(Map.of("mqtt", listener)))) {
            RawClient publisher = hasty.persistent("p");
            await().until(() -> hasty.store.session("p").isPresent());
            hasty.store.hold();
            publisher.send(message("x", 2, 7));
            hasty.awaitPending();
            publisher.expectNothing();
            hasty.store.commit();
            publisher.expect(MqttMessageType.PUBREC);
            int syncs = hasty.store.syncs();
            publisher.acknowledge(0x62, 7);
            hasty.awaitPending();
            publisher.expectNothing();
            hasty.store.commit();
            publisher.expect(MqttMessageType.PUBCOMP);
            assertThat(hasty.store.syncs()).isEqualTo(syncs + 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anApplicationWaitsAsTheBrokerDoes(Sync sync) {
        try (DurableBroker hasty = new DurableBroker(config -> waiting(config, sync))) {
            subscribed(hasty, "s", 1);
            await().until(() -> hasty.store.session("s").isPresent() && hasty.store.pending() == 0);
            hasty.store.hold();
            int syncs = hasty.store.syncs();
            CompletableFuture<PublishResult> published = hasty.broker()
                    .publish(ApplicationMessage.builder("t")
                            .payload("x")
                            .qos(QoS.AT_LEAST_ONCE)
                            .build())
                    .toFuture();
            hasty.awaitPending();
            if (sync == Sync.NONE) {
                assertThat(published).succeedsWithin(Duration.ofSeconds(30));
            } else {
                assertThat(published).isNotDone();
            }
            hasty.store.release();
            assertThat(published).succeedsWithin(Duration.ofSeconds(30));
            assertThat(hasty.store.syncs() - syncs).isEqualTo(sync == Sync.SYNC ? 1 : 0);
        }
    }

    private static BrokerConfigBuilder waiting(BrokerConfigBuilder config, Sync sync) {
        return config.storage(StorageConfig.builder().sync(sync).build());
    }

    @Test
    void aStoreThatNobodyWaitsForStillKnowsQos2Identifiers() {
        try (DurableBroker hasty = new DurableBroker(config -> waiting(config, Sync.NONE))) {
            RawClient publisher = hasty.persistent("p");
            publisher.send(message("x", 2, 7)).expect(MqttMessageType.PUBREC);
            await().until(() -> hasty.store.received("p").equals(List.of(7)));
            publisher.acknowledge(0x62, 7).expect(MqttMessageType.PUBCOMP);
            await().until(() -> hasty.store.received("p").isEmpty());
        }
    }

    @Test
    void cleanSessionsNeverTouchTheStore() {
        RawClient subscriber = broker.clean("s");
        subscriber.subscribe("t", 2);
        RawClient publisher = broker.clean("p");
        for (int qos = 0; qos <= 2; qos++) {
            publisher.publish("t", "x", qos);
            ReceivedPacket received = subscriber.expectPublish("t", "x");
            if (qos == 1) {
                subscriber.acknowledge(0x40, received.packetId());
            } else if (qos == 2) {
                subscriber.acknowledge(0x50, received.packetId()).expect(MqttMessageType.PUBREL);
                subscriber.acknowledge(0x70, received.packetId());
            }
        }
        subscriber.unsubscribe("t");
        subscriber.disconnect();
        assertThat(broker.store.isUntouched()).isTrue();
    }

    @Test
    void aMessageLeavesAtQos1AtOnceAndAtQos2WhenItIsSafe() {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 2);
        RawClient publisher = broker.clean("p");
        broker.store.hold();
        publisher.send(message("1", 1, 1));
        ReceivedPacket first = subscriber.expectPublish("t", "1");
        publisher.send(message("2", 2, 2));
        broker.awaitPending();
        subscriber.expectNothing();
        broker.store.commit();
        ReceivedPacket second = subscriber.expectPublish("t", "2");
        assertThat(second.packetId()).isEqualTo(first.packetId() + 1);
        subscriber.acknowledge(0x40, first.packetId());
        subscriber.acknowledge(0x50, second.packetId());
        broker.awaitPending();
        subscriber.expectNothing(); // the PUBREL comes when the state is safe
        broker.store.commit();
        assertThat(subscriber.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(second.packetId());
        subscriber.acknowledge(0x70, second.packetId());
        broker.store.release();
        await().until(() -> broker.store.messages("s").isEmpty());
    }

    @Test
    void whatItsReceiverAcknowledgesAtOnceIsAnsweredWithoutTheStore() {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 1);
        RawClient publisher = broker.clean("p");
        await().until(() -> answeredWithoutTheStore(publisher, subscriber)); // a slow machine may be too late
        assertThat(broker.store.messages("s")).isEmpty();
        subscriber.disconnect();
        broker.resumed("s").expectNothing();
    }

    private boolean answeredWithoutTheStore(RawClient publisher, RawClient subscriber) throws IOException {
        broker.store.hold();
        publisher.send(message("x", 1, 1));
        subscriber.acknowledge(0x40, subscriber.expectPublish("t", "x").packetId());
        InputStream answers = publisher.socket().getInputStream();
        await().until(() -> answers.available() > 0 || broker.store.pending() > 0);
        boolean unwritten = broker.store.pending() == 0;
        broker.store.release();
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isZero();
        return unwritten;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatItsReceiverDoesNotAcknowledgeIsWrittenBeforeItsPublisherIsAnswered(boolean stays) {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 1);
        RawClient publisher = broker.clean("p");
        broker.store.hold();
        publisher.send(message("x", 1, 1));
        subscriber.expectPublish("t", "x");
        if (!stays) {
            subscriber.close();
        }
        broker.awaitPending();
        publisher.expectNothing();
        broker.store.release();
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isZero();
        assertThat(broker.store.messages("s")).hasSize(1);
        broker.kill();
        assertThat(broker.resumed("s").expectPublish("t", "x").dup()).isTrue();
    }

    @Test
    void aMessageThatWasSentAndCouldNotBeStoredGoesItsWay() {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 2);
        RawClient publisher = broker.clean("p");
        broker.store.fail();
        publisher.send(message("1", 1, 1));
        ReceivedPacket first = subscriber.expectPublish("t", "1");
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(QUOTA_EXCEEDED);
        publisher.send(message("2", 2, 2));
        assertThat(publisher.expect(MqttMessageType.PUBREC).reasonCode()).isEqualTo(QUOTA_EXCEEDED);
        subscriber.expectNothing();
        broker.store.heal();
        subscriber.acknowledge(0x40, first.packetId());
        publisher.publish("t", "3", 2);
        subscriber.expectPublish("t", "3");
    }

    @Test
    void theEndOfASessionIsStored() {
        RawClient client = broker.persistent("c");
        client.subscribe("t", 1);
        assertThat(broker.store.session("c")).isPresent();
        client.send(PacketBytes.packet(0xE0)
                .u8(0)
                .properties(PacketBytes.fields().u8(0x11).u32(0)));
        client.expectClosed();
        await().until(() -> broker.store.session("c").isEmpty());
        assertThat(broker.store.subscriptions("c")).isEmpty();
    }

    @Test
    void aWriteErrorOfWhatNobodyWaitsForIsMadeGood() {
        RawClient subscriber = broker.persistent("s");
        subscriber.subscribe("t", 1);
        broker.clean("p").publish("t", "x", 1);
        ReceivedPacket received = subscriber.expectPublish("t", "x");
        assertThat(broker.store.messages("s")).hasSize(1);
        broker.store.fail();
        subscriber.acknowledge(0x40, received.packetId());
        subscriber.expectNothing();
        assertThat(broker.store.messages("s")).hasSize(1);
        broker.store.heal();
        broker.advance(Duration.ofSeconds(1));
        await().until(() -> broker.store.messages("s").isEmpty());
    }
}
