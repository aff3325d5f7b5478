// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk of one of three nodes with replicas becomes full, under its own clients or under those of another node. Needs root to mount a disk. */
class ReplicatedFullDiskProof {

    private static final int MEGABYTES = 192;
    private static final String TOPIC = "full";
    private static final String PADDING = " " + "x".repeat(16 << 10);
    private static final int BEFORE = 200;
    private static final int AFTER = 200;
    private static final int REFUSED = 0x80;
    private static final int QUOTA_EXCEEDED = 0x97;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private SmallDisk diskOfNode0() throws IOException {
        return SmallDisk.at(directory.resolve("n0").resolve("data"), MEGABYTES);
    }

    @Test
    void aLeaderWithoutRoomRefusesAndLosesNothing() throws IOException {
        try (SmallDisk disk = diskOfNode0();
                ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            subscribe(cluster, 0);
            int accepted = publish(cluster, 0, 0, BEFORE);
            disk.fill();
            try (RawClient publisher = cluster.open(0)) {
                publisher.connect("publisher");
                int answer = 0;
                while (answer < REFUSED) {
                    answer = publish(publisher, accepted);
                    accepted += answer < REFUSED ? 1 : 0;
                    assertThat(accepted).as("the disk is full").isLessThan(MEGABYTES << 10);
                }
                assertThat(answer).isEqualTo(QUOTA_EXCEEDED);
            }
            int refused = accepted;
            awaitEnd(cluster);
            giveRoom(disk, cluster);

            accepted = publish(cluster, 0, accepted, AFTER);
            List<Integer> received = take(cluster, 0, accepted);
            assertThat(received.stream().distinct().toList()).isEqualTo(numbers(accepted));
            // the others may have stored the one that was refused, which is published again here
            assertThat(received.stream().filter(number -> number != refused).toList())
                    .doesNotHaveDuplicates();
            System.out.println("leader: " + accepted + " messages accepted, all received");
        }
    }

    @Test
    void aFollowerWithoutRoomHoldsNoPublisherUp() throws IOException {
        try (SmallDisk disk = diskOfNode0();
                ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            subscribe(cluster, 1);
            int accepted = publish(cluster, 1, 0, BEFORE);
            disk.fill();
            while (cluster.get(0, "/health/ready").statusCode() == 200) {
                accepted = publish(cluster, 1, accepted, 10); // fails if one is refused
                assertThat(accepted).as("the disk is full").isLessThan(MEGABYTES << 10);
            }
            awaitEnd(cluster);
            accepted = publish(cluster, 1, accepted, AFTER);
            giveRoom(disk, cluster);

            accepted = publish(cluster, 1, accepted, AFTER);
            assertThat(take(cluster, 1, accepted)).containsExactlyElementsOf(numbers(accepted));
            System.out.println("follower: " + accepted + " messages accepted, all received");
        }
    }

    private static void subscribe(ReplicatedCluster cluster, int node) {
        try (RawClient stored = cluster.open(node)) {
            stored.connect(ConnectBytes.of("stored").persistent(3_600));
            stored.subscribe(TOPIC, 1);
            stored.disconnect();
        }
    }

    private static int publish(ReplicatedCluster cluster, int node, int from, int count) {
        try (RawClient publisher = cluster.open(node)) {
            publisher.connect("publisher");
            for (int i = 0; i < count; i++) {
                assertThat(publish(publisher, from + i)).isLessThan(REFUSED);
            }
        }
        return from + count;
    }

    private static int publish(RawClient client, int number) {
        client.send(PublishBytes.to(TOPIC).payload(number + PADDING).qos(1, client.nextPacketId()));
        return client.expect(MqttMessageType.PUBACK).reasonCode();
    }

    /** Waits until node 0 says that its replicas have ended. */
    private static void awaitEnd(ReplicatedCluster cluster) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(cluster.get(0, "/health/ready").statusCode()).isEqualTo(503);
            assertThat(cluster.get(0, "/cluster").body()).containsIgnoringCase("no space left");
        });
        assertThat(cluster.get(0, "/health/live").statusCode()).isEqualTo(200);
    }

    /** Gives the disk room. Node 0 continues by itself, or asks for a restart. */
    private static void giveRoom(SmallDisk disk, ReplicatedCluster cluster) throws IOException {
        disk.free();
        await().atMost(PATIENCE)
                .until(() -> cluster.get(0, "/health/live").statusCode() == 503
                        || cluster.get(0, "/health/ready").statusCode() == 200);
        boolean asks = cluster.get(0, "/health/live").statusCode() == 503;
        System.out.println(asks ? "the node asks for a restart" : "the node continues without a restart");
        if (asks) {
            cluster.kill(0);
            cluster.start(0);
            await().atMost(PATIENCE).until(() -> cluster.get(0, "/health/ready").statusCode() == 200);
        }
    }

    private static List<Integer> take(ReplicatedCluster cluster, int node, int count) {
        try (RawClient stored = cluster.open(node)) {
            ReceivedPacket answer = stored.connect(ConnectBytes.of("stored").persistent(3_600));
            assertThat(answer.sessionPresent()).isTrue();
            return Numbers.take(stored, count);
        }
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }
}
