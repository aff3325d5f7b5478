// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeConfigBuilder;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BridgeStatus.State;
import io.smqtt.spi.Bridges.Operation;
import io.smqtt.spi.Election;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Bridges of the nodes of a cluster, of which one or each connects. The nodes share views, and no messages. */
class BridgeNodesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int SHARED_AVAILABLE = 0x2a;
    private static final int MESSAGES = 20;

    private final SimulatedNodes nodes = new SimulatedNodes("n1", "n2");

    private static BridgeConfigBuilder to(int port, String... topics) {
        return BridgeConfig.builder("127.0.0.1:" + port, topics)
                .clientId(DialledBroker.ID)
                .minDelay(Duration.ofMillis(20))
                .maxDelay(Duration.ofMillis(50));
    }

    private DialledBroker node(String name, BridgeConfig bridge) {
        return DialledBroker.with(bridge, nodes.module(name));
    }

    private static void awaitState(DialledBroker broker, State state) {
        await().atMost(PATIENCE).until(() -> broker.status().state() == state);
    }

    @Test
    void oneNodeConnectsAndAnotherOneWhenItFails() {
        try (DialledBroker remote = DialledBroker.without(0)) {
            BridgeConfig bridge = to(remote.port(), "out/# out 1").build();
            String chosen = Election.isChosen("cloud", nodes.view("n1", 0)) ? "n1" : "n2";
            String other = chosen.equals("n1") ? "n2" : "n1";
            try (DialledBroker second = node(other, bridge)) {
                try (DialledBroker first = node(chosen, bridge)) {
                    awaitState(first, State.CONNECTED);
                    assertThat(second.status().state()).isEqualTo(State.STANDBY);
                    assertThat(second.connected()).isEmpty();
                    second.module().operate("cloud", Operation.STOP);
                    assertThat(second.status().state()).isEqualTo(State.STOPPED);
                    second.module().operate("cloud", Operation.RESTART);
                    assertThat(second.status().state()).isEqualTo(State.STANDBY);
                    await().atMost(PATIENCE).until(() -> first.isSubscribed("out/#"));
                    assertThat(second.isSubscribed("out/#")).isFalse();
                }

                nodes.fails(chosen);

                awaitState(second, State.CONNECTED);
                await().atMost(PATIENCE).until(() -> second.isSubscribed("out/#"));
                assertThat(remote.connected()).containsExactly(DialledBroker.ID);
            }
        }
    }

    /** Whichever node connects next. */
    @Test
    void theStopOfAnOperatorHoldsForAllNodes() {
        try (DialledBroker remote = DialledBroker.without(0);
                LoggedLines log = new LoggedLines()) {
            BridgeConfig bridge = to(remote.port(), "out/# out 1").build();
            String chosen = Election.isChosen("cloud", nodes.view("n1", 0)) ? "n1" : "n2";
            String other = chosen.equals("n1") ? "n2" : "n1";
            try (DialledBroker first = node(chosen, bridge)) {
                awaitState(first, State.CONNECTED);
                first.module().operate("cloud", Operation.STOP);
                try (DialledBroker second = node(other, bridge)) { // it has not been there
                    awaitState(second, State.STOPPED);
                    await().atMost(PATIENCE).until(() -> remote.connected().isEmpty());

                    nodes.fails(chosen);
                    await().atMost(PATIENCE)
                            .until(() -> log.with("this node connects it from now on")
                                            .size()
                                    == 2);
                    assertThat(second.status().state()).isEqualTo(State.STOPPED);

                    second.module().operate("cloud", Operation.START);
                    awaitState(second, State.CONNECTED);
                }
            }
        }
    }

    @Test
    void eachNodeSendsTheMessagesOfItsOwnClients() throws Exception {
        try (DialledBroker remote = DialledBroker.without(0)) {
            BridgeConfig bridge = to(remote.port(), "out/# out 1")
                    .nodes(BridgeConfig.Nodes.EACH)
                    .build();
            try (DialledBroker one = node("n1", bridge);
                    DialledBroker two = node("n2", bridge);
                    RawClient there = remote.client("there");
                    RawClient onOne = one.client("on-one");
                    RawClient onTwo = two.client("on-two")) {
                there.subscribe("out/#", 1);
                awaitState(one, State.CONNECTED);
                awaitState(two, State.CONNECTED);
                assertThat(remote.connected()).contains(DialledBroker.ID + "-n1", DialledBroker.ID + "-n2");

                onOne.publish("out/a", "1", 1);
                there.expectPublish("out/a", "1");
                onTwo.publish("out/a", "2", 1);
                there.expectPublish("out/a", "2");
                assertThat(one.status().sent()).isEqualTo(1);
                assertThat(two.status().sent()).isEqualTo(1);
            }
        }
    }

    /** A node that goes away says nothing about the others. */
    @Test
    void eachNodeHasAStateOfItsOwn() {
        try (RemoteStub remote = new RemoteStub()) {
            BridgeConfig bridge = to(remote.port(), "out/# out 1")
                    .nodes(BridgeConfig.Nodes.EACH)
                    .notifications(BridgeConfig.Notifications.BOTH)
                    .build();
            String state = "$SYS/broker/connection/" + DialledBroker.ID + "-n1/state";
            try (DialledBroker node = node("n1", bridge);
                    RawClient here = node.client("here")) {
                RawClient connection = RawClient.over(remote.acceptSocket(), ProtocolVersion.MQTT_5);
                byte[] connect = connection.expect(MqttMessageType.CONNECT).bytes();
                assertThat(new String(connect, StandardCharsets.UTF_8)).contains(state);
                RemoteStub.connAck(connection, 0, PropertyBytes.none());
                assertThat(RemoteStub.nextPublish(connection).topic()).isEqualTo(state);
                awaitState(node, State.CONNECTED);
                here.subscribe(state, 0);
                assertThat(here.expect(MqttMessageType.PUBLISH).topic()).isEqualTo(state);
                connection.close();
            }
        }
    }

    /** Such a filter is not opened before the first connection in a cluster. */
    @Test
    void aSubscriptionThatThisBrokerRefusesIsLogged() {
        String deep = "x/".repeat(200) + '#';
        try (LoggedLines log = new LoggedLines();
                RemoteStub remote = new RemoteStub();
                DialledBroker node =
                        node("n1", to(remote.port(), deep + " out 1").build())) {
            nodes.fails("n2");
            remote.accept(PropertyBytes.none());
            awaitState(node, State.CONNECTED);
            log.awaitLine("this broker refuses the subscription to " + deep + " with reason 0x8f");
        }
    }

    @Test
    void theNodesShareWhatComesIn() throws Exception {
        try (DialledBroker remote = DialledBroker.without(0)) {
            BridgeConfig bridge = to(remote.port(), "in/# in 1")
                    .nodes(BridgeConfig.Nodes.EACH)
                    .build();
            try (DialledBroker one = node("n1", bridge);
                    DialledBroker two = node("n2", bridge);
                    RawClient there = remote.client("there")) {
                awaitState(one, State.CONNECTED);
                awaitState(two, State.CONNECTED);
                await().atMost(PATIENCE).until(() -> remote.isSubscribedBy(2, "$share/cloud/in/#"));

                for (int i = 0; i < MESSAGES; i++) {
                    there.publish("in/a", String.valueOf(i), 1);
                }

                await().atMost(PATIENCE)
                        .until(() -> one.status().received() + two.status().received() == MESSAGES);
                assertThat(one.status().received()).isPositive();
                assertThat(two.status().received()).isPositive();
            }
        }
    }

    @Test
    void aRemoteWithoutSharedSubscriptionsIsOneClearError() {
        try (RemoteStub remote = new RemoteStub()) {
            BridgeConfig bridge = to(remote.port(), "in/# in 1")
                    .nodes(BridgeConfig.Nodes.EACH)
                    .build();
            try (DialledBroker one = node("n1", bridge)) {
                remote.accept(PropertyBytes.none().u8(SHARED_AVAILABLE, 0));

                awaitState(one, State.DISCONNECTED);
                assertThat(one.status().lastError())
                        .isEqualTo("it has no shared subscriptions, which nodes: each needs for topics that come in");
            }
        }
    }

    @Test
    void whatCannotBeRightWithEachNodeIsRefused() {
        List<String> problems = new ArrayList<>();
        for (BridgeConfigBuilder wrong :
                List.of(to(1883, "a/# both 1"), to(1883, "a/# in 1").version("3.1.1"))) {
            assertThatThrownBy(() -> wrong.nodes(BridgeConfig.Nodes.EACH).build())
                    .isInstanceOf(ConfigurationException.class)
                    .satisfies(error -> problems.add(String.valueOf(error.getMessage())));
        }
        assertThat(problems.get(0)).contains("must be out or in, not both");
        assertThat(problems.get(1)).contains("needs shared subscriptions");
    }

    /** The session at the other broker has subscriptions of the node that has failed. */
    @Test
    void aTopicThatIsNoLongerConfiguredIsUnsubscribedByTheNextNode() {
        String chosen = Election.isChosen("cloud", nodes.view("n1", 0)) ? "n1" : "n2";
        String other = chosen.equals("n1") ? "n2" : "n1";
        try (RemoteStub remote = new RemoteStub();
                DialledBroker first = node(
                        chosen,
                        to(remote.port(), "a/# in 1", "b/# in 1").hopLimit(0).build())) {
            RawClient former = remote.accept(PropertyBytes.none());
            for (int i = 0; i < 2; i++) {
                int request = former.expect(MqttMessageType.SUBSCRIBE).packetId();
                former.send(PacketBytes.packet(0x90).u16(request).u8(0).u8(1));
            }
            awaitState(first, State.CONNECTED);
            try (DialledBroker second = node(
                    other, to(remote.port(), "b/# in 1", "c/# in 1").hopLimit(0).build())) {
                nodes.fails(chosen);

                RawClient bridge = acceptPresent(remote);
                ReceivedPacket end = bridge.expect(MqttMessageType.UNSUBSCRIBE);
                assertThat(new String(end.bytes(), StandardCharsets.UTF_8)).endsWith("a/#");
                assertThat(bridge.expect(MqttMessageType.SUBSCRIBE).packetId()).isNotEqualTo(end.packetId());
                bridge.expect(MqttMessageType.SUBSCRIBE);
                bridge.abort(); // without an answer: it is asked again

                bridge = acceptPresent(remote);
                int request = bridge.expect(MqttMessageType.UNSUBSCRIBE).packetId();
                bridge.send(PacketBytes.packet(0xb0).u16(request).u8(0).u8(0));
                bridge.expect(MqttMessageType.SUBSCRIBE);
                bridge.expect(MqttMessageType.SUBSCRIBE);
                awaitState(second, State.CONNECTED);
                bridge.abort();

                await().atMost(PATIENCE)
                        .until(
                                () -> { // it is noted soon after the answer
                                    try (RawClient again = acceptPresent(remote)) {
                                        return Objects.requireNonNull(again.receive())
                                                        .type()
                                                == MqttMessageType.SUBSCRIBE;
                                    }
                                });
            }
        }
    }

    /** Nothing connects to it any more, so its session there keeps what is subscribed. */
    @Test
    void anAddressThatIsNoLongerConfiguredIsLogged() {
        String chosen = Election.isChosen("cloud", nodes.view("n1", 0)) ? "n1" : "n2";
        String other = chosen.equals("n1") ? "n2" : "n1";
        try (LoggedLines log = new LoggedLines();
                RemoteStub old = new RemoteStub();
                RemoteStub remote = new RemoteStub();
                DialledBroker first =
                        node(chosen, to(old.port(), "a/# in 1").hopLimit(0).build())) {
            old.accept(PropertyBytes.none()).expect(MqttMessageType.SUBSCRIBE);
            awaitState(first, State.CONNECTED);
            try (DialledBroker second =
                    node(other, to(remote.port(), "a/# in 1").hopLimit(0).build())) {
                nodes.fails(chosen);
                remote.accept(PropertyBytes.none());
                awaitState(second, State.CONNECTED);
                await().atMost(PATIENCE)
                        .until(() -> !log.with(old.address() + " is not in addresses any more")
                                .isEmpty());
                assertThat(log.with("keeps its subscriptions until it ends: a/#"))
                        .hasSize(1);
            }
        }
    }

    private static RawClient acceptPresent(RemoteStub remote) {
        RawClient bridge = remote.acceptConnect();
        bridge.send(PacketBytes.packet(0x20)
                .u8(1)
                .u8(0)
                .properties(PropertyBytes.none().fields()));
        return bridge;
    }
}
