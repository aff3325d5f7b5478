// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes with {@code storage.replicas: 3}: one is killed, and its clients find their sessions at the others, and at it when it is back. */
class AdoptedSessionsIT {

    private static final int MESSAGES = 50;
    private static final int PACKET_ID = 77;
    private static final int PUBREC = 0x50;
    private static final int PUBREL = 0x62;
    private static final int PUBCOMP = 0x70;
    private static final Duration FOUND_WITHIN = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    @Test
    @Tag("long")
    void clientsOfAKilledNodeFindTheirSessions() {
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            for (String name : List.of("one", "two", "rest")) {
                try (RawClient client = cluster.open(0)) {
                    client.connect(ConnectBytes.of(name).persistent(3_600));
                    client.subscribe(name + "/#", name.equals("one") ? 1 : 2);
                    client.disconnect();
                }
            }
            RawClient flying = cluster.open(0);
            flying.connect(ConnectBytes.of("flying").persistent(3_600));
            flying.subscribe("flying", 2);
            RawClient sender = cluster.open(0);
            sender.connect(ConnectBytes.of("sender").persistent(3_600));
            try (RawClient publisher = cluster.open(1);
                    RawClient other = cluster.open(2)) {
                publisher.connect("publisher");
                other.connect("other");
                publish(publisher, 0);
                other.publish("flying", "received", 2);
                ReceivedPacket before = flying.expectPublish("flying", "received");
                flying.acknowledge(PUBREC, before.packetId()).expect(MqttMessageType.PUBREL);
                other.publish("flying", "sent", 2);
                flying.expectPublish("flying", "sent");
                sender.send(PublishBytes.to("two/sender").payload("once").qos(2, PACKET_ID))
                        .expect(MqttMessageType.PUBREC);

                cluster.kill(0);
                long killedNanos = System.nanoTime();
                publish(publisher, MESSAGES);
                other.publish("rest/other", "by another node", 2);

                RawClient one = found(cluster, 1, "one");
                assertThat(Duration.ofNanos(System.nanoTime() - killedNanos)).isLessThan(FOUND_WITHIN);
                List<String> ofOne = new ArrayList<>();
                for (int i = 0; i < 2 * MESSAGES; i++) {
                    ReceivedPacket next = one.expect(MqttMessageType.PUBLISH);
                    one.pubAck(next);
                    ofOne.add(next.text());
                }
                assertThat(ofOne).containsExactlyInAnyOrderElementsOf(messages(0, 2 * MESSAGES));
                RawClient senderAgain = found(cluster, 2, "sender");
                senderAgain
                        .send(PublishBytes.to("two/sender")
                                .payload("once")
                                .qos(2, PACKET_ID)
                                .dup())
                        .expect(MqttMessageType.PUBREC);
                senderAgain.acknowledge(PUBREL, PACKET_ID).expect(MqttMessageType.PUBCOMP);
                RawClient flyingAgain = found(cluster, 2, "flying");
                ReceivedPacket release = flyingAgain.expect(MqttMessageType.PUBREL);
                assertThat(release.packetId()).isEqualTo(before.packetId());
                ReceivedPacket sent = flyingAgain.expectPublish("flying", "sent");
                flyingAgain.acknowledge(PUBCOMP, release.packetId());
                flyingAgain.pubRecAndComp(sent);
                RawClient two = found(cluster, 1, "two");
                List<String> expected = new ArrayList<>(messages(0, MESSAGES));
                expected.add("once");
                expected.addAll(messages(MESSAGES, 2 * MESSAGES));
                assertThat(two.receiveExactlyOnce(2 * MESSAGES + 1)).containsExactlyInAnyOrderElementsOf(expected);
                two.expectNothing();

                cluster.start(0);
                publish(publisher, 2 * MESSAGES);
                assertThat(two.receiveExactlyOnce(MESSAGES)).isEqualTo(messages(2 * MESSAGES, 3 * MESSAGES));
                RawClient rest = found(cluster, 0, "rest");
                List<String> received = new ArrayList<>(rest.receiveExactlyOnce(3 * MESSAGES + 1));
                rest.expectNothing();
                assertThat(received.remove("by another node")).isTrue();
                assertThat(received).containsExactlyInAnyOrderElementsOf(messages(0, 3 * MESSAGES));
                List.of(one, two, rest, senderAgain, flyingAgain).forEach(RawClient::close);
            }
        }
    }

    private static RawClient found(ReplicatedCluster cluster, int node, String clientId) {
        RawClient client = cluster.open(node);
        ReceivedPacket answer = client.connect(ConnectBytes.of(clientId).persistent(3_600));
        assertThat(answer.sessionPresent()).as(clientId).isTrue();
        return client;
    }

    /** Publishes with all kinds of acknowledgement; each is awaited. */
    private static void publish(RawClient publisher, int from) {
        for (int i = from; i < from + MESSAGES; i++) {
            publisher.publish("one/" + i % MESSAGES, "message " + i, 1);
            publisher.publish("two/" + i % MESSAGES, "message " + i, 2);
            publisher.publish("rest/" + i % MESSAGES, "message " + i, 2);
        }
    }

    private static List<String> messages(int from, int end) {
        return IntStream.range(from, end).mapToObj(i -> "message " + i).toList();
    }
}
