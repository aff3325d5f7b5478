// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.store.ManualStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two addresses, each with a session of its own: packet identifiers of QoS 2 mean something else at each of them. */
@Timeout(60)
class BridgeAddressesTest extends TwoRemotes {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int ID = 7;

    private DialledBroker start(String topic) {
        return start(topic, 0);
    }

    private DialledBroker start(String topic, int hopLimit) {
        return DialledBroker.with(config(topic, hopLimit));
    }

    private BridgeConfig config(String topic, int hopLimit) {
        return toBoth(topic).hopLimit(hopLimit).build();
    }

    private static void take(RawClient bridge, ReceivedPacket message) {
        bridge.acknowledge(0x50, message.packetId());
        assertThat(bridge.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(message.packetId());
        bridge.acknowledge(0x70, message.packetId());
    }

    /** Else the session there would take a later message with the identifier for a repetition. */
    @Test
    void anIdentifierWhoseExchangeHasEndedAtAnotherAddressIsReleased() {
        try (DialledBroker broker = start("a/# out 2");
                RawClient client = broker.client("publisher")) {
            RawClient bridge = one.accept(false, false);
            client.publish("a/b", "first", 2);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            bridge.close(); // it has the message, and its PUBREC is lost

            bridge = two.accept(false, false);
            ReceivedPacket again = RemoteStub.nextPublish(bridge);
            assertThat(again.packetId()).isEqualTo(first.packetId());
            take(bridge, again);
            client.publish("a/b", "second", 2);
            ReceivedPacket second = RemoteStub.nextPublish(bridge);
            bridge.close();

            bridge = one.accept(false, true);
            assertThat(bridge.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(first.packetId());
            bridge.acknowledge(0x70, first.packetId());
            ReceivedPacket there = RemoteStub.nextPublish(bridge);
            assertThat(there.text()).isEqualTo("second");
            assertThat(there.packetId()).isEqualTo(second.packetId());
            take(bridge, there);
            client.publish("a/b", "third", 2);
            take(bridge, RemoteStub.nextPublish(bridge));
            await().atMost(PATIENCE).until(() -> broker.status().queued() == 0);
            assertThat(broker.status().sent()).isEqualTo(3);
        }
    }

    /** The connection may end before the other broker has read the PUBREL. */
    @Test
    void anIdentifierIsReleasedUntilThatIsAnswered() {
        try (DialledBroker broker = start("a/# out 2");
                RawClient client = broker.client("publisher")) {
            RawClient bridge = one.accept(false, false);
            client.publish("a/b", "first", 2);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            bridge.close();
            bridge = two.accept(false, false);
            take(bridge, RemoteStub.nextPublish(bridge));
            two.close();
            bridge.close();

            bridge = one.accept(false, true);
            assertThat(bridge.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(first.packetId());
            bridge.close();
            bridge = one.accept(false, true); // the same address again
            assertThat(bridge.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(first.packetId());
            bridge.acknowledge(0x70, first.packetId());
            bridge.close();

            bridge = one.accept(false, true);
            client.publish("a/b", "second", 2);
            ReceivedPacket second = bridge.expect(MqttMessageType.PUBLISH); // and no PUBREL
            assertThat(second.text()).isEqualTo("second");
            take(bridge, second);
        }
    }

    /** [MQTT-2.2.1-3]: until the PUBREL is answered. The identifiers of requests are those that were used last. */
    @Test
    void anIdentifierThatIsReleasedIsNotThatOfASubscription() {
        try (DialledBroker broker = start("a/# out 2", 8);
                RawClient client = broker.client("publisher")) {
            RawClient bridge = one.accept(false, false);
            client.publish("a/b", "first", 2);
            RemoteStub.nextPublish(bridge);
            bridge.close();

            bridge = two.accept(false, false);
            int id = RemoteStub.nextPublish(bridge).packetId();
            bridge.acknowledge(0x50, id);
            ReceivedPacket next = bridge.receive();
            while (next != null && next.type() != MqttMessageType.PUBREL) {
                next = bridge.receive();
            }
            bridge.acknowledge(0x70, id);
            bridge.close();

            bridge = one.accept(false, true);
            assertThat(bridge.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
            assertThat(bridge.expect(MqttMessageType.SUBSCRIBE).packetId()).isNotEqualTo(id);
        }
    }

    /** It is repeated there, as the same one. */
    @Test
    void anIdentifierThatItsMessageStillHasIsKept() {
        try (DialledBroker broker = start("a/# out 2");
                RawClient client = broker.client("publisher")) {
            RawClient bridge = one.accept(false, false);
            client.publish("a/b", "first", 2);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            bridge.close();
            RemoteStub.nextPublish(two.accept(false, false));
            two.close();

            bridge = one.accept(false, true);
            ReceivedPacket again = bridge.expect(MqttMessageType.PUBLISH);
            assertThat(again.packetId()).isEqualTo(first.packetId());
            assertThat(again.dup()).isTrue();
            take(bridge, again);
            await().atMost(PATIENCE).until(() -> broker.status().queued() == 0);
        }
    }

    /** Our session may end its connection before the channel does. */
    @Test
    void aMessageIsTheSameOneAfterOurSessionHasLeftTheConnection() {
        try (DialledBroker broker = start("a/# out 2");
                RawClient client = broker.client("publisher")) {
            RawClient bridge = one.accept(false, false);
            client.publish("a/b", "first", 2);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            broker.kick("$bridge/cloud");

            RemoteStub.nextPublish(two.accept(false, false)); // without an answer
            two.close();
            bridge = one.accept(false, true);
            ReceivedPacket again = bridge.expect(MqttMessageType.PUBLISH); // and no PUBREL, else it came twice
            assertThat(again.packetId()).isEqualTo(first.packetId());
            assertThat(again.dup()).isTrue();
            take(bridge, again);
        }
    }

    // --- in

    private static RawClient incoming(RemoteStub remote, boolean present) {
        RawClient bridge = remote.accept(false, present);
        bridge.expect(MqttMessageType.SUBSCRIBE);
        return bridge;
    }

    private static void send(RawClient bridge, String text, int id, boolean repeated) {
        PublishBytes message = PublishBytes.to("a/b").payload(text).qos(2, id);
        bridge.send(repeated ? message.dup() : message);
        assertThat(bridge.expect(MqttMessageType.PUBREC).packetId()).isEqualTo(id);
    }

    /** A message of the first address whose exchange is open when the connection ends. */
    private void leaveFirst(RawClient client) {
        client.subscribe("a/#", 0);
        RawClient bridge = incoming(one, false);
        send(bridge, "first", ID, false);
        client.expectPublish("a/b", "first");
        bridge.close(); // without a PUBREL
    }

    private static void release(RawClient bridge, int id) {
        bridge.acknowledge(0x62, id);
        assertThat(bridge.expect(MqttMessageType.PUBCOMP).packetId()).isEqualTo(id);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anIdentifierOfAnotherAddressIsNoRepetition(boolean repeated) {
        try (DialledBroker broker = start("a/# in 2");
                RawClient client = broker.client("subscriber")) {
            leaveFirst(client);

            RawClient bridge = incoming(two, true);
            send(bridge, "second", ID, repeated); // it may have been lost with an earlier connection
            client.expectPublish("a/b", "second");
            send(bridge, "second", ID, true);
            release(bridge, ID);
            send(bridge, "third", ID, false);
            client.expectPublish("a/b", "third");
            assertThat(broker.status().state()).isEqualTo(BridgeStatus.State.CONNECTED);
        }
    }

    @Test
    void anIdentifierThatAnAddressHasLeftIsARepetitionWhenItComesFromThere() {
        try (DialledBroker broker = start("a/# in 2");
                RawClient client = broker.client("subscriber")) {
            leaveFirst(client);
            RawClient bridge = incoming(two, true);
            send(bridge, "second", ID, false);
            client.expectPublish("a/b", "second");
            release(bridge, ID); // not that of the first one
            bridge.close();

            bridge = incoming(one, true);
            send(bridge, "first", ID, true);
            send(bridge, "last", ID + 1, false);
            client.expectPublish("a/b", "last"); // the next one, so the first one has not come twice
            release(bridge, ID);
            send(bridge, "anew", ID, false);
            client.expectPublish("a/b", "anew");
        }
    }

    /** A new session gives them to new messages. */
    @Test
    void whatAnAddressHasLeftEndsWithTheSessionThere() {
        try (DialledBroker broker = start("a/# in 2");
                RawClient client = broker.client("subscriber")) {
            leaveFirst(client);
            incoming(two, false).close();
            RawClient bridge = incoming(one, false);
            send(bridge, "second", ID, false);
            client.expectPublish("a/b", "second");
        }
    }

    /** The connection that has begun it is not used, because a message of the other address is not stored yet. */
    @Test
    void aNewSessionCountsAtTheNextConnectionToo() {
        ManualStore store = new ManualStore();
        try (DialledBroker broker = DialledBroker.with(config("a/# in 2", 0), store);
                RawClient client = broker.client("subscriber")) {
            leaveFirst(client);
            RawClient bridge = incoming(two, true);
            send(bridge, "other", ID + 1, false);
            client.expectPublish("a/b", "other");
            store.hold();
            bridge.send(PublishBytes.to("a/b").payload("held").qos(2, ID));
            client.expectPublish("a/b", "held");
            bridge.close();

            one.accept(false, false).expectClosed();
            store.release();
            incoming(two, true).close();
            RawClient again = incoming(one, true);
            send(again, "second", ID, false);
            client.expectPublish("a/b", "second");
        }
    }

    @Test
    void identifiersOfEachAddressAreKnownAfterACrash() {
        ManualStore store = new ManualStore();
        BridgeConfig config = config("a/# in 2", 0);
        try (DialledBroker broker = DialledBroker.with(config, store)) {
            send(incoming(one, false), "first", ID, false);
            one.closeConnections();
            RawClient bridge = incoming(two, false);
            send(bridge, "other", ID, false);
            send(bridge, "of two", ID + 1, false);
            store.kill();
            bridge.close();
        }
        try (DialledBroker broker = DialledBroker.with(config, store.reopened(System::nanoTime));
                RawClient client = broker.client("subscriber")) {
            client.subscribe("a/#", 0);
            RawClient bridge = incoming(one, true);
            send(bridge, "first", ID, true);
            send(bridge, "of one", ID + 1, true);
            client.expectPublish("a/b", "of one");
            bridge.close();
            bridge = incoming(two, true);
            send(bridge, "other", ID, true);
            send(bridge, "of two", ID + 1, true);
            send(bridge, "last", ID + 2, false);
            client.expectPublish("a/b", "last");
        }
    }

    /** The note is about another client identifier, as one of an earlier version would be about none. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anIdentifierOfAnUnknownAddressIsARepetitionIfItIsMarkedAsOne(boolean repeated) {
        ManualStore store = new ManualStore();
        try (DialledBroker broker = DialledBroker.with(config("a/# in 2", 0), store)) {
            send(incoming(one, false), "first", ID, false);
            store.kill();
            one.closeConnections();
        }
        BridgeConfig renamed =
                config("a/# in 2", 0).toBuilder().clientId("another").build();
        try (DialledBroker broker = DialledBroker.with(renamed, store.reopened(System::nanoTime));
                RawClient client = broker.client("subscriber")) {
            client.subscribe("a/#", 0);
            RawClient bridge = incoming(one, true);
            send(bridge, "second", ID, repeated);
            send(bridge, "last", ID + 1, false);
            client.expectPublish("a/b", repeated ? "last" : "second");
        }
    }

    @Test
    void anAddressThatReplacesTheOnlyOneHasIdentifiersOfItsOwn() {
        ManualStore store = new ManualStore();
        BridgeConfig single =
                BridgedBroker.bridge(one.address(), "a/# in 2").hopLimit(0).build();
        try (DialledBroker broker = DialledBroker.with(single, store)) {
            send(incoming(one, false), "first", ID, false);
            store.kill();
            one.closeConnections();
        }
        BridgeConfig replaced =
                single.toBuilder().addresses(List.of(two.address())).build();
        assertTheSameIdentifierIsAnotherMessage(replaced, store);
    }

    /** The sessions at the other brokers have messages of the former topics. */
    @Test
    void identifiersAreKeptApartAfterTheQosOfATopicIsLowered() {
        ManualStore store = new ManualStore();
        try (DialledBroker broker = DialledBroker.with(config("a/# in 2", 0), store)) {
            send(incoming(one, false), "first", ID, false);
            store.kill();
            one.close();
        }
        assertTheSameIdentifierIsAnotherMessage(config("a/# in 1", 0), store);
    }

    private void assertTheSameIdentifierIsAnotherMessage(BridgeConfig config, ManualStore killed) {
        try (DialledBroker broker = DialledBroker.with(config, killed.reopened(System::nanoTime));
                RawClient client = broker.client("subscriber")) {
            client.subscribe("a/#", 0);
            RawClient bridge = incoming(two, true);
            send(bridge, "second", ID, true);
            client.expectPublish("a/b", "second");
        }
    }

    /** As an imported one may be. It is the same one after another connection to the same address. */
    @Test
    void aMessageWithoutIdentifierIsNotReleased() {
        ManualStore store = new ManualStore();
        StoreWriter writer = store.writer(Runnable::run, new BrokerStore.CommitListener() {
            @Override
            public void committed(long position) {}

            @Override
            public void failed(long position, Throwable cause) {
                throw new AssertionError(cause);
            }
        });
        writer.putRetained(ApplicationMessage.builder("a/b")
                .payload("old")
                .qos(QoS.EXACTLY_ONCE)
                .retain(true)
                .build());
        writer.flush();
        try (DialledBroker broker = DialledBroker.with(config("a/# out 2", 0), store.reopened(System::nanoTime))) {
            RawClient bridge = one.accept(false, false);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            two.close();
            bridge.close();

            bridge = one.accept(false, true);
            ReceivedPacket again = bridge.expect(MqttMessageType.PUBLISH); // and no PUBREL, else it came twice
            assertThat(again.packetId()).isEqualTo(first.packetId());
            take(bridge, again);
            await().atMost(PATIENCE).until(() -> broker.status().queued() == 0);
        }
    }
}
