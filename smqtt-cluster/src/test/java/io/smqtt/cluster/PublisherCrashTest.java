// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessDecision;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.store.ManualStore;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The node of a publisher is killed while it forwards QoS 2 messages to subscribers of another node, and the publisher sends them again. */
@Tag("slow")
class PublisherCrashTest {

    private static final String TOPIC = "crash";
    private static final int ID = 7;

    private final LoopbackHub hub = new LoopbackHub();
    private ManualStore store = new ManualStore(System::nanoTime);
    private final ManualStore full = new ManualStore(System::nanoTime);
    private final Set<String> denied = new CopyOnWriteArraySet<>();
    private TestBroker receiver;
    private @Nullable TestBroker refusing;
    private @Nullable TestBroker sender;

    @BeforeEach
    void startReceiver() {
        receiver = hub.start("receiver", new ManualStore(System::nanoTime));
        receiver.client(ProtocolVersion.MQTT_5, "probed").subscribe("probe", 1);
    }

    @AfterEach
    void close() {
        if (sender != null) {
            sender.close();
        }
        if (refusing != null) {
            refusing.close();
        }
        receiver.close();
    }

    /** A subscriber on a node that can store nothing from {@link ManualStore#fail} on, and refuses its messages then. */
    private RawClient otherSubscriber() {
        TestBroker started = hub.start("full", full);
        refusing = started;
        RawClient client = started.open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
        client.connect(ConnectBytes.of("other").persistent(1_000));
        client.subscribe(TOPIC, 2);
        return client;
    }

    /** All nodes know the subscriptions of the node of a client then. */
    private static void awaitKnown(RawClient ofNode) {
        ofNode.subscribe("known", 0);
    }

    private RawClient subscriber(boolean persistent) {
        RawClient client = receiver.open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
        client.connect(persistent ? ConnectBytes.of("subscriber").persistent(1_000) : ConnectBytes.of("subscriber"));
        client.subscribe(TOPIC, 2);
        return client;
    }

    /** Starts the node of the publisher, which knows the subscriptions of the other one then. */
    private RawClient startSender(ProtocolVersion version, boolean present) {
        TestBroker started = hub.start(
                "sender",
                store,
                parts -> parts.authorizer(request ->
                        (denied.contains(request.topic()) ? AccessDecision.DENY : AccessDecision.ALLOW).now()));
        sender = started;
        try (RawClient probing = started.client(ProtocolVersion.MQTT_5, "probing")) {
            probing.deadline(BrokerCluster.PATIENCE);
            await().atMost(BrokerCluster.PATIENCE).until(() -> {
                probing.send(PublishBytes.to("probe").qos(1, probing.nextPacketId()));
                return probing.expect(MqttMessageType.PUBACK).reason() == ReasonCode.SUCCESS;
            });
        }
        RawClient client = started.open(version).deadline(BrokerCluster.PATIENCE);
        assertThat(client.connect(ConnectBytes.of("publisher").persistent(1_000))
                        .sessionPresent())
                .isEqualTo(present);
        return client;
    }

    /** The node ends as a killed process does, and the other one notices. */
    private void kill() {
        store.kill();
        hub.crash("sender");
        hub.noticed("sender");
        Objects.requireNonNull(sender).close();
        store = store.reopened(System::nanoTime);
    }

    /** Connects the publisher again, to its node. */
    private RawClient open(ProtocolVersion version) {
        RawClient client = Objects.requireNonNull(sender).open(version).deadline(BrokerCluster.PATIENCE);
        client.connect(ConnectBytes.of("publisher").persistent(1_000));
        return client;
    }

    private static PublishBytes message(int packetId, String payload) {
        return PublishBytes.to(TOPIC).payload(payload).qos(2, packetId);
    }

    private static void release(RawClient publisher, int packetId) {
        publisher.acknowledge(0x62, packetId);
        publisher.expect(MqttMessageType.PUBCOMP);
    }

    private static void complete(RawClient subscriber, String payload) {
        ReceivedPacket publish = subscriber.expectPublish(TOPIC, payload);
        subscriber.pubRecAndComp(publish);
    }

    private void awaitSubmitted() {
        ManualStore held = store;
        await().atMost(BrokerCluster.PATIENCE).until(() -> held.pending() > 0);
    }

    @ParameterizedTest
    @CsvSource({"MQTT_5, true", "MQTT_5, false", "MQTT_3_1_1, true"})
    void aMessageThatWasForwardedBeforeItsIdentifierWasStoredComesOnce(ProtocolVersion version, boolean persistent) {
        RawClient subscriber = subscriber(persistent);
        RawClient first = startSender(version, false);
        store.hold();
        first.send(message(ID, "x"));
        complete(subscriber, "x");
        awaitSubmitted();
        kill();

        RawClient second = startSender(version, true);
        second.send(message(ID, "x").dup());

        second.expect(MqttMessageType.PUBREC);
        release(second, ID);
        subscriber.expectNothing();
        second.send(message(ID, "x")); // another message with the same identifier
        second.expect(MqttMessageType.PUBREC);
        complete(subscriber, "x");
        subscriber.expectNothing();
    }

    @Test
    void aMessageThatDidNotArriveBeforeItsNodeWasKilledComes() {
        RawClient subscriber = subscriber(true);
        RawClient first = startSender(ProtocolVersion.MQTT_5, false);
        hub.lose("sender", "receiver");
        first.send(message(ID, "x"));
        first.ping();
        kill();
        hub.carry("sender", "receiver");

        RawClient second = startSender(ProtocolVersion.MQTT_5, true);
        second.send(message(ID, "x").dup());

        assertThat(second.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        complete(subscriber, "x");
        subscriber.expectNothing();
    }

    @Test
    void aMessageThatIsSentAgainTwiceComesOnce() {
        RawClient subscriber = subscriber(true);
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        store.hold();
        client.send(message(ID, "x"));
        complete(subscriber, "x");
        for (int i = 0; i < 2; i++) {
            awaitSubmitted();
            kill();
            client = startSender(ProtocolVersion.MQTT_5, true);
            if (i == 0) {
                store.hold();
            }
            client.send(message(ID, "x").dup());
        }
        client.expect(MqttMessageType.PUBREC);
        subscriber.expectNothing();
    }

    /** A client whose first attempt was lost sends its first PUBLISH with the flag. */
    @Test
    void aNewMessageWithTheIdentifierOfAReleasedOneComes() {
        RawClient subscriber = subscriber(true);
        RawClient first = startSender(ProtocolVersion.MQTT_5, false);
        first.send(message(ID, "x"));
        first.expect(MqttMessageType.PUBREC);
        complete(subscriber, "x");
        release(first, ID);
        kill();

        RawClient second = startSender(ProtocolVersion.MQTT_5, true);
        second.send(message(ID, "x").dup());

        second.expect(MqttMessageType.PUBREC);
        complete(subscriber, "x");
    }

    /** The node of the subscriber has the message in its store only: both nodes are killed. */
    @Test
    void aMessageComesOnceIfTheNodeOfTheSubscriberIsKilledToo() {
        ManualStore other = new ManualStore(System::nanoTime);
        TestBroker second = hub.start("second", other);
        RawClient subscriber = second.open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
        subscriber.connect(ConnectBytes.of("subscriber").persistent(1_000));
        subscriber.subscribe(TOPIC, 2);
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        store.hold();
        client.send(message(ID, "x"));
        complete(subscriber, "x");
        awaitSubmitted();
        await().atMost(BrokerCluster.PATIENCE)
                .until(() -> other.messages("subscriber").isEmpty());
        other.kill();
        hub.crash("second");
        hub.noticed("second");
        second.close();
        kill();

        TestBroker again = hub.start("second", other.reopened(System::nanoTime));
        RawClient resumed = again.open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
        assertThat(resumed.connect(ConnectBytes.of("subscriber").persistent(1_000))
                        .sessionPresent())
                .isTrue();
        client = startSender(ProtocolVersion.MQTT_5, true);
        RawClient probe = again.client(ProtocolVersion.MQTT_5, "probe-2");
        probe.subscribe(TOPIC, 0); // the route of the node is known then
        client.send(message(ID, "x").dup());

        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        probe.expectPublish(TOPIC, "x");
        resumed.expectNothing();
        again.close();
    }

    private RawClient member(String name) {
        RawClient client = receiver.open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
        client.connect(ConnectBytes.of(name).persistent(1_000));
        client.subscribe("$share/group/" + TOPIC, 2);
        return client;
    }

    @Test
    void aMessageOfAGroupIsNotGivenToAnotherMember() {
        RawClient first = member("first");
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        store.hold();
        client.send(message(ID, "x"));
        complete(first, "x");
        awaitSubmitted();
        kill();
        RawClient second = member("second");
        client = startSender(ProtocolVersion.MQTT_5, true);
        client.send(message(ID, "x").dup());

        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        release(client, ID);
        first.expectNothing();
        second.expectNothing();
    }

    @Test
    void aMessageThatNoMemberOfAGroupHasComes() {
        RawClient member = member("member");
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        hub.lose("sender", "receiver");
        client.send(message(ID, "x"));
        client.ping();
        kill();
        hub.carry("sender", "receiver");
        client = startSender(ProtocolVersion.MQTT_5, true);
        client.send(message(ID, "x").dup());

        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        complete(member, "x");
        member.expectNothing();
    }

    /** The queue of the group has it: its member was absent. */
    @Test
    void aMessageThatWaitsForAGroupIsNotGivenToAMember() {
        member("absent").disconnect();
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        store.hold();
        client.send(message(ID, "x"));
        client.ping();
        kill();
        client = startSender(ProtocolVersion.MQTT_5, true);
        client.send(message(ID, "x").dup());
        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);

        RawClient member = member("member");

        complete(member, "x");
        member.expectNothing();
    }

    /** The identifier is free after a refusal. A client whose first attempt was lost sends its first PUBLISH with the flag. */
    @Test
    void aNewMessageWithTheIdentifierOfARefusedOneComes() {
        RawClient subscriber = subscriber(true);
        RawClient other = otherSubscriber();
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        awaitKnown(other);
        full.fail();
        client.send(message(ID, "x"));
        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        complete(subscriber, "x");
        full.heal();
        client.send(message(ID, "y").dup());
        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);

        complete(subscriber, "y");
        complete(other, "y");
        assertThat(store.received("publisher")).containsExactly(ID);
    }

    @Test
    void aRefusalLeavesWhenTheStoreHasTheNumberOfTheNextMessage() {
        RawClient subscriber = subscriber(true);
        RawClient other = otherSubscriber();
        RawClient first = startSender(ProtocolVersion.MQTT_5, false);
        awaitKnown(other);
        full.fail();
        store.hold();
        first.send(message(ID, "x"));
        first.send(PublishBytes.to("nowhere").qos(1, ID + 1));
        complete(subscriber, "x");
        awaitSubmitted();
        first.ping(); // neither answer has come, since the first one must

        store.release();

        assertThat(first.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(first.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(ID + 1);
        full.heal();
        hub.lose("sender", "receiver");
        first.send(message(ID, "y")); // the node is killed before another one has it
        first.ping();
        kill();
        hub.carry("sender", "receiver");
        RawClient second = startSender(ProtocolVersion.MQTT_5, true);
        second.send(message(ID, "y").dup());
        assertThat(second.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        complete(subscriber, "y");
        subscriber.expectNothing();
    }

    @Test
    void aMessageComesOnceIfItsNodeIsKilledBeforeItsRefusal() {
        RawClient subscriber = subscriber(true);
        RawClient other = otherSubscriber();
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        awaitKnown(other);
        full.fail();
        store.hold();
        client.send(message(ID, "x"));
        complete(subscriber, "x");
        awaitSubmitted();
        kill();
        full.heal();

        client = startSender(ProtocolVersion.MQTT_5, true);
        awaitKnown(other);
        client.send(message(ID, "x").dup());

        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        complete(other, "x");
        subscriber.expectNothing();
    }

    @Test
    void aClientIsDisconnectedIfTheNumberOfTheNextMessageCannotBeStored() {
        RawClient subscriber = subscriber(true);
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        store.fail();
        client.send(message(ID, "x"));
        complete(subscriber, "x");
        client.expectDisconnect(ReasonCode.QUOTA_EXCEEDED);
        store.heal();

        client = open(ProtocolVersion.MQTT_5);
        client.send(message(ID, "x").dup());

        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        release(client, ID);
        subscriber.expectNothing();
        client.send(message(ID, "y"));
        client.expect(MqttMessageType.PUBREC);
        complete(subscriber, "y");
    }

    /** No other node has a message, so that its client need not wait, and is not disconnected. */
    @Test
    void aMessageForThisNodeAloneIsRefusedByAReasonThoughNothingCanBeStored() {
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        RawClient own = Objects.requireNonNull(sender).open(ProtocolVersion.MQTT_5);
        own.deadline(BrokerCluster.PATIENCE).connect(ConnectBytes.of("own").persistent(1_000));
        own.subscribe("own", 2);
        store.fail();
        client.send(PublishBytes.to("own").payload("x").qos(2, ID));
        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        store.heal();
        client.send(PublishBytes.to("own").payload("y").qos(2, ID));
        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        own.expectPublish("own", "y");
    }

    /** A client has lost the right to a message that it sends again. */
    @Test
    void aNewMessageWithTheIdentifierOfADeniedRepetitionComes() {
        RawClient subscriber = subscriber(true);
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        store.hold();
        client.send(message(ID, "x"));
        complete(subscriber, "x");
        awaitSubmitted();
        kill();
        client = startSender(ProtocolVersion.MQTT_5, true);
        denied.add(TOPIC);
        client.send(message(ID, "x").dup());
        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        denied.clear();
        hub.lose("sender", "receiver");
        client.send(message(ID, "y"));
        client.ping();
        kill();
        hub.carry("sender", "receiver");

        client = startSender(ProtocolVersion.MQTT_5, true);
        client.send(message(ID, "y").dup());

        assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        complete(subscriber, "y");
    }

    /** MQTT 3.1.1 has no reasons: the client is disconnected, and comes back with the message. Other nodes may have it, and this one has dropped it. */
    @Test
    void aMessageComesOnceIfItsClientIsDisconnectedInPlaceOfAReason() {
        RawClient subscriber = subscriber(true);
        RawClient other = otherSubscriber();
        RawClient client = startSender(ProtocolVersion.MQTT_3_1_1, false);
        RawClient own = Objects.requireNonNull(sender).open(ProtocolVersion.MQTT_5);
        own.deadline(BrokerCluster.PATIENCE).connect(ConnectBytes.of("own").persistent(1_000));
        own.subscribe(TOPIC, 2);
        awaitKnown(other);
        full.fail();
        client.send(message(ID, "x"));
        complete(subscriber, "x");
        client.expectClosed();
        own.expectNothing();
        full.heal();

        client = open(ProtocolVersion.MQTT_3_1_1);
        client.send(message(ID, "x").dup());

        client.expect(MqttMessageType.PUBREC);
        release(client, ID);
        complete(other, "x");
        complete(own, "x");
        subscriber.expectNothing();
        client.send(message(ID, "y"));
        client.expect(MqttMessageType.PUBREC);
        complete(subscriber, "y");
    }

    /** A client without its state uses the packet identifier for another message, which its node loses. */
    @Test
    void aNewMessageOfAClientThatHasForgottenTheRefusedOneComes() {
        RawClient subscriber = subscriber(true);
        RawClient other = otherSubscriber();
        RawClient client = startSender(ProtocolVersion.MQTT_3_1_1, false);
        awaitKnown(other);
        full.fail();
        client.send(message(ID, "x"));
        complete(subscriber, "x");
        client.expectClosed();
        full.heal();
        client = open(ProtocolVersion.MQTT_3_1_1);
        hub.lose("sender", "receiver");
        client.send(message(ID, "y"));
        client.ping();
        kill();
        hub.carry("sender", "receiver");

        client = startSender(ProtocolVersion.MQTT_3_1_1, true);
        client.send(message(ID, "y").dup());

        client.expect(MqttMessageType.PUBREC);
        complete(subscriber, "y");
    }

    /** The client has another connection when its message is refused. */
    @ParameterizedTest
    @EnumSource(
            value = ProtocolVersion.class,
            names = {"MQTT_5", "MQTT_3_1_1"})
    void aMessageThatIsRefusedOnTheNextConnectionComesOnce(ProtocolVersion version) {
        RawClient subscriber = subscriber(true);
        RawClient other = otherSubscriber();
        RawClient client = startSender(version, false);
        awaitKnown(other);
        full.hold();
        client.send(message(ID, "x"));
        complete(subscriber, "x");
        client = open(version);
        client.send(message(ID, "x").dup());
        client.ping();
        full.fail();
        full.release();

        if (version.isV5()) {
            assertThat(client.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        } else {
            client.expectClosed();
            client = open(version);
        }
        full.heal();
        client.send(message(ID, version.isV5() ? "y" : "x").dup());
        client.expect(MqttMessageType.PUBREC);
        if (version.isV5()) {
            complete(subscriber, "y");
        }
        subscriber.expectNothing();
    }

    /** The client takes over its session on its node. */
    @Test
    void aMessageThatComesWhileNumbersAreShortenedComesOnce() {
        RawClient subscriber = subscriber(true);
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        for (int i = 1; i <= 1_024; i++) {
            client.send(PublishBytes.to("nowhere").qos(2, i));
            client.expect(MqttMessageType.PUBREC);
            if (i == 1_024) {
                store.hold();
            }
            client.acknowledge(0x62, i);
            if (i < 1_024) {
                client.expect(MqttMessageType.PUBCOMP);
            }
        }
        awaitSubmitted();
        RawClient next = Objects.requireNonNull(sender).open(ProtocolVersion.MQTT_5);
        next.deadline(BrokerCluster.PATIENCE)
                .send(ConnectBytes.of("publisher").persistent(1_000))
                .send(message(ID, "x"));
        commitFirstOf(2); // the number for all
        commitFirstOf(2); // the session of the new connection, behind it the removal of the other numbers
        next.expect(MqttMessageType.CONNACK);
        subscriber.expectNothing();
        kill();

        next = startSender(ProtocolVersion.MQTT_5, true);
        next.send(message(ID, "x").dup());

        assertThat(next.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.SUCCESS);
        complete(subscriber, "x");
        subscriber.expectNothing();
    }

    private void commitFirstOf(int pending) {
        ManualStore held = store;
        await().atMost(BrokerCluster.PATIENCE).until(() -> held.pending() >= pending);
        held.commitOne();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 30})
    void theNumbersOfAClientThatUsesAllIdentifiersStayFew(int window) {
        int messages = 2_100;
        RawClient client = startSender(ProtocolVersion.MQTT_5, false);
        RawClient subscriber = receiver.client(ProtocolVersion.MQTT_5, "subscriber");
        subscriber.deadline(BrokerCluster.PATIENCE).subscribe(TOPIC, 0);
        for (int i = 1; i <= messages + window; i++) {
            if (i <= messages) {
                client.send(message(i, "m"));
            }
            if (i > window) {
                client.acknowledge(0x62, acknowledged(client, i - window));
            }
        }
        ReceivedPacket packet = client.receive();
        while (packet != null && (packet.type() != MqttMessageType.PUBCOMP || packet.packetId() != messages)) {
            packet = client.receive();
        }
        assertThat(store.released("publisher")).hasSizeLessThan(1_024 + 2 * window + 2);

        store.hold();
        client.send(message(5, "again"));
        awaitSubmitted();
        kill();
        client = startSender(ProtocolVersion.MQTT_5, true);
        client.send(message(5, "again").dup());
        client.expect(MqttMessageType.PUBREC);
        for (int i = 0; i < messages; i++) {
            subscriber.expectPublish(TOPIC, "m");
        }
        subscriber.expectPublish(TOPIC, "again");
        subscriber.expectNothing();
    }

    /** Waits for the PUBREC of a message; PUBCOMPs of others may come before. */
    private static int acknowledged(RawClient client, int packetId) {
        ReceivedPacket packet = Objects.requireNonNull(client.receive());
        while (packet.type() == MqttMessageType.PUBCOMP) {
            packet = Objects.requireNonNull(client.receive());
        }
        assertThat(packet.type()).isEqualTo(MqttMessageType.PUBREC);
        assertThat(packet.packetId()).isEqualTo(packetId);
        return packetId;
    }
}
