// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages do not go in circles. */
@Timeout(60)
class BridgeRingTest {

    private static final String HOPS = "smqtt-hops";

    private static BridgedBroker node(int port, int next, int hopLimit) {
        return BridgedBroker.with(
                        "next",
                        BridgedBroker.bridge("127.0.0.1:" + next, "a/# both 1").hopLimit(hopLimit))
                .port(port)
                .start();
    }

    private static void awaitConnected(BridgedBroker... nodes) {
        for (BridgedBroker node : nodes) {
            await().atMost(Duration.ofSeconds(20)).until(() -> node.isConnected("next"));
            await().atMost(Duration.ofSeconds(20)).until(() -> hasSubscribed(node, 2));
        }
    }

    /** Whether the bridge that dials in has its subscriptions. */
    private static boolean hasSubscribed(BridgedBroker node, int subscriptions) {
        var client = node.broker().client("plant").block(Duration.ofSeconds(20));
        return client != null && client.subscriptions().size() >= subscriptions;
    }

    @Test
    void inARingOfThreeAMessageArrivesOnceOnEachSide() {
        List<Integer> ports = LoopbackPorts.some(3);
        try (BridgedBroker one = node(ports.get(0), ports.get(1), 8);
                BridgedBroker two = node(ports.get(1), ports.get(2), 8);
                BridgedBroker three = node(ports.get(2), ports.get(0), 8);
                RawClient atOne = one.client("at-one");
                RawClient atTwo = two.client("at-two");
                RawClient atThree = three.client("at-three")) {
            awaitConnected(one, two, three);
            atOne.subscribe("a/#", 0);
            atTwo.subscribe("a/#", 0);
            atThree.subscribe("a/#", 0);

            atOne.send(PublishBytes.to("a/b").payload("x"));

            // it comes by both ways around, and by neither back to where it was
            assertThat(atOne.expectPublish("a/b", "x").userProperties()).isEmpty();
            for (RawClient client : List.of(atTwo, atThree)) {
                String first = hops(client.expectPublish("a/b", "x"));
                String second = hops(client.expectPublish("a/b", "x"));
                assertThat(List.of(first.split(",").length, second.split(",").length))
                        .containsExactlyInAnyOrder(1, 2);
            }
            atOne.send(PublishBytes.to("a/b").payload("end"));
            atOne.expectPublish("a/b", "end");
            for (RawClient client : List.of(atTwo, atThree)) {
                client.expectPublish("a/b", "end");
                client.expectPublish("a/b", "end");
                client.expectNothing();
            }
            atOne.expectNothing();
        }
    }

    private static String hops(ReceivedPacket message) {
        List<String> hops = message.userProperties().stream()
                .filter(property -> property.startsWith(HOPS))
                .toList();
        assertThat(hops).hasSize(1);
        return hops.get(0);
    }

    /** Between two brokers No Local is enough, also without counting. */
    @Test
    void bothOnOneTopicDeliversOnce() {
        List<Integer> ports = LoopbackPorts.some(2);
        try (BridgedBroker one = node(ports.get(0), ports.get(1), 0);
                BridgedBroker two = BridgedBroker.plain().port(ports.get(1)).start();
                RawClient atOne = one.client("at-one");
                RawClient atTwo = two.client("at-two")) {
            await().atMost(Duration.ofSeconds(20)).until(() -> one.isConnected("next"));
            await().atMost(Duration.ofSeconds(20)).until(() -> hasSubscribed(two, 1));
            atOne.subscribe("a/#", 0);
            atTwo.subscribe("a/#", 0);

            atOne.send(PublishBytes.to("a/b").payload("1"));
            atTwo.expectPublish("a/b", "1");
            atTwo.send(PublishBytes.to("a/b").payload("2"));

            assertThat(atOne.expectPublish("a/b", "1").userProperties()).isEmpty();
            atOne.expectPublish("a/b", "2");
            atTwo.expectPublish("a/b", "2");
            atOne.expectNothing();
            atTwo.expectNothing();
        }
    }

    @Test
    void aMessageThatHasPassedTooManyBridgesGoesNoFurther() {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with(
                                "next",
                                BridgedBroker.bridge(remote.address(), "a/# both 1")
                                        .hopLimit(3))
                        .start();
                RawClient client = broker.client("client")) {
            client.subscribe("a/#", 0);
            RawClient bridge = remote.accept(PropertyBytes.none());
            bridge.expect(MqttMessageType.SUBSCRIBE);
            broker.awaitConnected("next");
            bridge.send(withHops("in", "x,y,z"));
            bridge.send(withHops("in", "x,y"));
            assertThat(client.expect(MqttMessageType.PUBLISH).text()).isEqualTo("in x,y");
            client.send(withHops("out", "x,y,z"));
            client.send(withHops("out", "x,y"));

            ReceivedPacket passed = RemoteStub.nextPublish(bridge);
            assertThat(passed.text()).isEqualTo("out x,y");
            assertThat(passed.userProperties()).hasSize(3).contains("other=1", "third=3");
            assertThat(hops(passed)).contains("x,y,");
            client.expectPublish("a/b", "out x,y,z"); // its own broker has it in any case
            client.expectPublish("a/b", "out x,y");
            client.expectNothing();
        }
    }

    /** With one more broker it would be longer than a string can be, and the other broker could not read the packet. */
    @ParameterizedTest
    @ValueSource(ints = {1, 65_530})
    void aPathThatNoBrokerHasWrittenGoesNoFurther(int length) {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with("next", BridgedBroker.bridge(remote.address(), "a/# out 1"))
                        .start();
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            broker.awaitConnected("next");
            client.publish(withHops("first", "x".repeat(length)).qos(1));
            client.publish("a/b", "second", 1);

            ReceivedPacket passed = RemoteStub.nextPublish(bridge);
            if (length == 1) {
                assertThat(hops(passed)).contains("=x,");
                passed = RemoteStub.nextPublish(bridge);
            }
            assertThat(passed.text()).isEqualTo("second");
        }
    }

    /** It is written into each message. */
    @ParameterizedTest
    @ValueSource(strings = {"", "x,y", "a b"})
    void anIdentifierThatNoBrokerHasIsIgnored(String id) {
        assertThat(identified(id).next(null)).isEmpty();
        assertThat(identified("x".repeat(HopCheck.LONGEST_ID + 1)).next(null)).isEmpty();
        assertThat(identified("x".repeat(HopCheck.LONGEST_ID)).next(null))
                .hasSizeLessThanOrEqualTo(HopCheck.growth(true));
    }

    private static HopCheck identified(String id) {
        HopCheck check = new HopCheck("own", 8, false);
        check.remote(id);
        return check;
    }

    private static PublishBytes withHops(String text, String path) {
        PublishBytes message = PublishBytes.to("a/b").payload(text + ' ' + path);
        message.properties().user("other", "1").user(HOPS, path).user("third", "3");
        return message;
    }
}
