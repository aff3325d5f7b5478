// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.session.Session;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.store.ManualStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whose packet identifiers of QoS 2 are in the session of a bridge is stored before anything depends on it. */
@Timeout(120)
class BridgeStoredAddressesTest extends TwoRemotes {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int ID = 7;
    private static final String SESSION = "$bridge/cloud";
    private static final long HOUR_SECONDS = 3_600;

    private BridgeConfig config() {
        return toBoth("a/# in 2").build();
    }

    private static void send(RawClient bridge, String text, boolean repeated) {
        PublishBytes message = PublishBytes.to("a/b").payload(text).qos(2, ID);
        bridge.send(repeated ? message.dup() : message);
    }

    private static void answered(RawClient bridge) {
        RemoteStub.next(bridge, MqttMessageType.PUBREC);
    }

    /** Completes with the PUBREC, or with the end of the connection. */
    private static CompletableFuture<Void> answer(RawClient bridge) {
        CompletableFuture<Void> answer = new CompletableFuture<>();
        Thread reader = new Thread(() -> {
            try {
                answered(bridge);
                answer.complete(null);
            } catch (RuntimeException | AssertionError e) {
                answer.completeExceptionally(e);
            }
        });
        reader.setDaemon(true);
        reader.start();
        return answer;
    }

    private static RawClient subscriber(DialledBroker broker) {
        RawClient client = RawClient.to(broker.tcp(), ProtocolVersion.MQTT_5);
        client.connect(ConnectBytes.of("subscriber").persistent(HOUR_SECONDS));
        return client;
    }

    /** A message of the first address, with its exchange open, and the connection gone. */
    private void leaveFirst(DialledBroker broker) {
        try (RawClient client = subscriber(broker)) {
            client.subscribe("a/#", 2);
        }
        RawClient bridge = one.accept(false, false);
        send(bridge, "first", false);
        answered(bridge);
        one.closeConnections();
    }

    static Stream<Arguments> crashes() {
        return IntStream.range(1, 8)
                .boxed()
                .flatMap(commits -> Stream.of(true, false).map(firstOne -> Arguments.of(commits, firstOne)));
    }

    /** Whatever is committed, and whichever address is next. */
    @ParameterizedTest
    @MethodSource("crashes")
    void aCrashWhileTheAddressChangesLosesAndRepeatsNothing(int commits, boolean firstOne) {
        ManualStore store = new ManualStore();
        try (DialledBroker broker = DialledBroker.with(config(), store)) {
            leaveFirst(broker);
            store.hold();
            RawClient bridge = two.accept(false, true);
            send(bridge, "second", false);
            CompletableFuture<Void> answer = answer(bridge);
            for (int i = 0; i < commits; i++) {
                await().atMost(PATIENCE).until(() -> answer.isDone() || store.commitOne());
            }
            store.kill();
        }
        two.closeConnections();
        try (DialledBroker broker = DialledBroker.with(config(), store.reopened(System::nanoTime))) {
            if (!firstOne) {
                one.acceptConnect().close();
            }
            for (RemoteStub remote : firstOne ? List.of(one, two) : List.of(two, one)) {
                RawClient bridge = remote.accept(false, true);
                send(bridge, remote == one ? "first" : "second", true);
                answered(bridge);
                bridge.acknowledge(0x62, ID);
                bridge.expect(MqttMessageType.PUBCOMP);
                send(bridge, remote == one ? "first anew" : "second anew", false);
                answered(bridge);
                remote.closeConnections();
            }
            try (RawClient client = subscriber(broker)) {
                assertThat(client.receiveExactlyOnce(4))
                        .containsExactlyInAnyOrder("first", "second", "first anew", "second anew");
            }
        }
    }

    /** The address that the session is of as the store has it, and the identifiers in it. */
    private static String stored(ManualStore store) {
        String owner = store.retained().stream()
                .filter(message -> message.topic().value().startsWith("$smqtt/bridge-received/"))
                .map(message -> new String(message.payload().toByteArray(), StandardCharsets.UTF_8).split("\0")[2])
                .findFirst()
                .orElse("");
        return owner + ' ' + store.received(SESSION);
    }

    /** Else a crash would leave identifiers of one address for the other one. */
    @Test
    void theSessionChangesAfterTheNoteAndNothingIsHandledBefore() {
        ManualStore store = new ManualStore();
        try (DialledBroker broker = DialledBroker.with(config(), store)) {
            leaveFirst(broker);
            store.hold();
            RawClient bridge = two.accept(false, true);
            send(bridge, "second", false);
            CompletableFuture<Void> answer = answer(bridge);
            Set<String> seen = new LinkedHashSet<>(List.of(stored(store)));
            await().atMost(PATIENCE).until(() -> {
                if (store.commitOne()) {
                    seen.add(stored(store));
                }
                return answer.isDone();
            });
            answer.join();
            assertThat(seen)
                    .containsExactly(
                            one.address() + " [7]", "- [7]", "- []", two.address() + " []", two.address() + " [7]");
        }
    }

    @Test
    void aConnectionWhoseIdentifiersCannotBeStoredEnds() {
        ManualStore store = new ManualStore();
        try (DialledBroker broker = DialledBroker.with(config(), store);
                LoggedLines lines = new LoggedLines()) {
            leaveFirst(broker);
            store.hold();
            RawClient bridge = two.accept(false, true);
            await().atMost(PATIENCE).until(() -> {
                boolean open = broker.status().state() == BridgeStatus.State.CONNECTED;
                return open || (store.commitOne() && false);
            });
            store.fail();
            store.release();
            lines.awaitLine("the packet identifiers of messages of another address cannot be stored");
            one.close();
            store.heal();
            bridge = two.accept(false, true);
            send(bridge, "second", false);
            answered(bridge);
            try (RawClient client = subscriber(broker)) {
                client.expectPublish("a/b", "first");
                client.expectPublish("a/b", "second");
            }
        }
    }

    // --- sessions that meet

    private static Session session(SimulatedNodes nodes) {
        return Objects.requireNonNull(nodes.core("n1").sessions().find(SESSION));
    }

    /** As the session of a node that returns brings it. Its exchange has ended over a connection of this node. */
    private static void meet(SimulatedNodes nodes, int id) {
        CompletableFuture<Void> met = new CompletableFuture<>();
        Session session = session(nodes);
        session.execute(() -> {
            session.inbound().received(id);
            met.complete(null);
        });
        met.join();
    }

    @Test
    void anIdentifierThatAnotherSessionHasBroughtIsOneOfItsOwnOnlyIfItsMessageIsRepeated() {
        SimulatedNodes nodes = new SimulatedNodes("n1");
        BridgeConfig single =
                BridgedBroker.bridge(one.address(), "a/# in 2").hopLimit(0).build();
        try (DialledBroker broker = DialledBroker.with(single, nodes.module("n1"));
                RawClient client = broker.client("subscriber")) {
            client.subscribe("a/#", 0);
            RawClient bridge = one.accept(false, false);
            send(bridge, "first", false);
            answered(bridge);
            client.expectPublish("a/b", "first");
            bridge.acknowledge(0x62, ID);
            bridge.expect(MqttMessageType.PUBCOMP);

            meet(nodes, ID);
            send(bridge, "second", false);
            answered(bridge);
            client.expectPublish("a/b", "second");
            send(bridge, "second", true); // this one is known
            answered(bridge);
            bridge.acknowledge(0x62, ID);
            bridge.expect(MqttMessageType.PUBCOMP);

            meet(nodes, ID);
            send(bridge, "of the other session", true);
            answered(bridge);
            bridge.acknowledge(0x62, ID);
            bridge.expect(MqttMessageType.PUBCOMP);
            send(bridge, "third", false);
            answered(bridge);
            client.expectPublish("a/b", "third");
        }
    }
}
