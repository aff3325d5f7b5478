// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What waits for absent members of a shared group goes to one that is there, on whichever node it waits. */
@Tag("slow")
@Timeout(180)
class SharedAcrossNodesTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();

    /** More than a node hands over when it is asked once. */
    private static final int MESSAGES = 600;

    /** More than one queue holds, and less than two. */
    private static final int MANY = 1_600;

    private static final int FEW = 20;
    private static final int RECEIVE_MAXIMUM = 0x21;

    @RegisterExtension
    static final BrokerExtension A = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension B = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension C = CLUSTER.broker(true);

    @RegisterExtension
    static final BrokerExtension D = CLUSTER.broker(true);

    private static int tests;

    private final String topic = "backlog/" + ++tests;
    private final String filter = "$share/g/" + topic;

    private RawClient member(int broker, String name, boolean present) {
        return CLUSTER.persistent(broker, name + topic, present).deadline(BrokerCluster.PATIENCE);
    }

    private void joinAndLeave(int broker, String name) {
        joinAndLeave(broker, name, 1);
    }

    private void joinAndLeave(int broker, String name, int qos) {
        try (RawClient member = member(broker, name, false)) {
            member.subscribe(filter, qos);
        }
        await().atMost(BrokerCluster.PATIENCE).until(() -> CLUSTER.connected(name + topic) == 0);
    }

    private void publish(int broker, int from, int to) {
        publish(broker, topic, from, to, 1);
    }

    private void publish(int broker, String where, int from, int to, int qos) {
        try (RawClient publisher =
                CLUSTER.get(broker).open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE)) {
            publisher.connect("publisher" + topic);
            for (int i = from; i < to; i++) {
                int packetId = publisher.nextPacketId();
                publisher.send(PublishBytes.to(where).payload(String.valueOf(i)).qos(qos, packetId));
                MqttMessageType answer = qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC;
                assertThat(publisher.expect(answer).reasonCode()).isZero();
                if (qos == 2) {
                    publisher.acknowledge(0x62, packetId).expect(MqttMessageType.PUBCOMP);
                }
            }
        }
    }

    private static void receivesAllOnce(RawClient member, int count) {
        TreeSet<Integer> numbers = new TreeSet<>();
        for (int i = 0; i < count; i++) {
            numbers.add(Integer.valueOf(BrokerCluster.nextMessage(member).text()));
        }
        assertThat(numbers)
                .containsExactlyElementsOf(IntStream.range(0, count).boxed().toList());
        BrokerCluster.receivesNothing(member);
    }

    private long waiting(int broker) {
        return CLUSTER.waitingForGroups(broker);
    }

    private void awaitWaiting(int broker, long count) {
        await().atMost(BrokerCluster.PATIENCE)
                .untilAsserted(() -> assertThat(waiting(broker)).isEqualTo(count));
    }

    /** Nobody was there; then a member returns on the node on which nothing waits. */
    @ParameterizedTest
    @CsvSource({"0, 1", "2, 3", "0, 3", "2, 1"})
    void aMemberThatReturnsGetsWhatWaitsOnAnotherNode(int holder, int other) {
        joinAndLeave(holder, "one-");
        joinAndLeave(other, "other-");
        publish(holder, 0, MESSAGES);
        awaitWaiting(
                holder,
                MESSAGES); // in memory a message is acknowledged before it is in the queue of another event loop

        try (RawClient returned = member(other, "other-", true)) {
            receivesAllOnce(returned, MESSAGES);
        }

        awaitWaiting(holder, 0);
    }

    /** The node on which all waits has no members, as that of a publisher, and has called before the member is there. */
    @ParameterizedTest
    @CsvSource({"0, 1, 1", "2, 3, 1", "0, 3, 2", "2, 1, 2"})
    void aMemberThatReturnsGetsWhatWaitsOnANodeWithoutMembers(int holder, int other, int qos) {
        joinAndLeave(other, "other-", qos);
        int before = CLUSTER.calls();
        publish(holder, topic, 0, FEW, qos);
        awaitWaiting(holder, FEW);
        await().atMost(BrokerCluster.PATIENCE).until(() -> CLUSTER.calls() > before);

        try (RawClient returned = member(other, "other-", true)) {
            receivesAllOnce(returned, FEW);
        }
        awaitWaiting(holder, 0);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "2, 3"})
    void aCallThatIsLostIsRepeated(int holder, int other) {
        joinAndLeave(other, "other-");
        CLUSTER.loseCalls(true);
        int before = CLUSTER.calls();
        publish(holder, 0, FEW);
        awaitWaiting(holder, FEW);
        try (RawClient returned = member(other, "other-", true)) {
            await().atMost(BrokerCluster.PATIENCE).until(() -> CLUSTER.calls() > before);

            CLUSTER.loseCalls(false);

            await().atMost(BrokerCluster.PATIENCE).until(() -> {
                CLUSTER.get(holder).ticker().advance(Duration.ofSeconds(1)); // a digest
                return waiting(holder) == 0;
            });
            receivesAllOnce(returned, FEW);
        } finally {
            CLUSTER.loseCalls(false);
        }
    }

    /** It is away again before it has taken all: what has come for it and what has stayed is there for whoever returns. */
    @ParameterizedTest
    @CsvSource({"0, 1", "2, 3"})
    void whatWasHandedOverIsThereForTheOthersToo(int holder, int other) {
        joinAndLeave(holder, "one-");
        joinAndLeave(other, "other-");
        publish(holder, 0, FEW);
        try (RawClient returned = member(other, "other-", true)) {
            assertThat(returned.expect(MqttMessageType.PUBLISH).text()).isEqualTo("0"); // not acknowledged
        }
        await().atMost(BrokerCluster.PATIENCE).until(() -> CLUSTER.connected("other-" + topic) == 0);

        try (RawClient first = member(holder, "one-", true)) {
            receivesAllOnce(first, FEW);
        }
    }

    /** The member is there all the time, behind a cut. */
    @ParameterizedTest
    @CsvSource({"0, 1", "2, 3"})
    void whatWaitedBecauseOfACutGoesToTheMemberThatIsThere(int holder, int other) {
        joinAndLeave(holder, "one-");
        try (RawClient there = member(other, "other-", false)) {
            there.subscribe(filter, 1);
            CLUSTER.cutOff(holder);
            publish(holder, 0, FEW);
            awaitWaiting(holder, FEW);

            CLUSTER.heal(holder);

            receivesAllOnce(there, FEW);
        }
        awaitWaiting(holder, 0);
    }

    /** What another node has asked for and has no room for any more stays, or waits there. */
    @ParameterizedTest
    @CsvSource({"0, 1", "2, 3"})
    void whatAnotherNodeHasNoRoomForWaits(int holder, int other) {
        joinAndLeave(holder, "one-");
        publish(holder, topic, 0, FEW, 1);
        try (RawClient full = CLUSTER.get(other).open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE)) {
            ConnectBytes slow = ConnectBytes.of("full-" + topic);
            slow.properties().u16(RECEIVE_MAXIMUM, 1);
            full.connect(slow);
            full.subscribe("own/" + topic, 1);
            publish(other, "own/" + topic, 0, MESSAGES, 1); // it acknowledges none: more than half of its queue
            assertThat(full.expect(MqttMessageType.PUBLISH).text()).isEqualTo("0");
            full.subscribe(filter, 1);
            long before = CLUSTER.forwarded(holder);

            CLUSTER.call(holder, other, filter);
            await().atMost(BrokerCluster.PATIENCE).until(() -> CLUSTER.forwarded(holder) >= before + FEW);
            await().atMost(BrokerCluster.PATIENCE).until(() -> waiting(holder) + waiting(other) == FEW);

            try (RawClient returned = member(holder, "one-", true)) {
                receivesAllOnce(returned, FEW);
            }
        }
        awaitWaiting(holder, 0);
        awaitWaiting(other, 0);
    }

    /** Two members have as much as two queues hold on one node; one returns on the other node. */
    @ParameterizedTest
    @CsvSource({"0, 1, 1", "2, 3, 1", "0, 1, 2", "2, 3, 2"})
    void aMemberThatReturnsElsewhereGetsWhatWaitedForBoth(int holder, int other, int qos) {
        joinAndLeave(holder, "one-", qos);
        joinAndLeave(holder, "two-", qos);
        publish(holder, topic, 0, MANY, qos);
        awaitWaiting(holder, MANY);

        try (RawClient returned = member(other, "two-", true)) {
            receivesAllOnce(returned, MANY);
        }
        awaitWaiting(holder, 0);
        awaitWaiting(other, 0);
    }

    /** A message looks for a member on a few nodes only; the one that is there asks for it. */
    @ParameterizedTest
    @CsvSource({"0, 1, 2, 3", "2, 3, 0, 1"})
    void aMessageThatWasSoughtOnTheWrongNodesIsFound(int holder, int second, int third, int there) {
        for (int broker : List.of(holder, second, third)) {
            joinAndLeave(broker, "away-" + broker + "-");
        }
        try (RawClient member = member(there, "there-", false)) {
            member.subscribe(filter, 1);
            publish(holder, 0, FEW);

            receivesAllOnce(member, FEW);
        }
    }
}
