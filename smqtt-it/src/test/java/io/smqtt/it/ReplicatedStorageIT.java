// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three nodes with {@code storage.replicas: 3}: one that loses its disk, and nodes that are killed under load. {@code -Dsmqtt.replicas.kills=100} makes it long, {@code
 * -Dsmqtt.replicas.wipe=10} wipes the disk each tenth time, {@code -Dsmqtt.seed} chooses the nodes again.
 */
class ReplicatedStorageIT {

    private static final int KILLS = Integer.getInteger("smqtt.replicas.kills", 1);
    private static final int WIPE = Integer.getInteger("smqtt.replicas.wipe", 1);
    private static final int LONGEST_MILLIS = 500;
    private static final int MESSAGES = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int CONFIGURATION_ERROR = 3;
    private static final int SERVER_UNAVAILABLE = 0x88;
    private static final int QUOTA_EXCEEDED = 0x97;

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @TempDir
    Path directory;

    @Test
    void aNodeThatLosesItsDiskHasItsSessionsAgain() {
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            storeMessages(cluster);
            cluster.kill(0);
            assertThat(cluster.check(0, cluster.backup(0)))
                    .contains("all is well: 1 sessions, 1 subscriptions, " + MESSAGES + " queued messages");
            cluster.wipe(0);
            cluster.start(0);

            assertMessages(cluster);
        }
    }

    private static void storeMessages(ReplicatedCluster cluster) {
        try (RawClient stored = cluster.open(0)) {
            stored.connect(ConnectBytes.of("stored").persistent(600));
            stored.subscribe("topic", 1);
            stored.disconnect();
        }
        try (RawClient publisher = cluster.open(0)) {
            publisher.connect("publisher");
            for (int i = 0; i < MESSAGES; i++) {
                publisher.publish("topic", "message " + i, 1);
            }
        }
    }

    private static void assertMessages(ReplicatedCluster cluster) {
        try (RawClient stored = cluster.open(0)) {
            ReceivedPacket answer = stored.connect(ConnectBytes.of("stored").persistent(600));
            assertThat(answer.sessionPresent()).isTrue();
            for (int i = 0; i < MESSAGES; i++) {
                stored.pubAck(stored.expectPublish("topic", "message " + i));
            }
        }
    }

    @Test
    @Tag("long")
    void theBackupsOfRunningNodesBecomeANewCluster() {
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            storeMessages(cluster);
            List<Path> backups = IntStream.range(0, ReplicatedCluster.NODES)
                    .mapToObj(cluster::backup)
                    .toList();
            for (int node = 0; node < ReplicatedCluster.NODES; node++) {
                cluster.kill(node);
            }
            for (int node = 0; node < ReplicatedCluster.NODES; node++) {
                cluster.wipe(node);
                cluster.restore(node, backups.get(node));
            }
            cluster.startTogether(0, 1, 2);

            assertMessages(cluster);
        }
    }

    /** It is refused by running nodes; or it was alone while they were frozen, and they find it afterwards. */
    @Test
    @Tag("long")
    void aNodeWithOtherNodesIsRefusedOrLeftOut() {
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            cluster.kill(2);
            cluster.wipe(2);
            try (CapturedProcess other = cluster.startWithOtherNodes(2)) {
                assertThat(other.awaitExit(PATIENCE)).isEqualTo(CONFIGURATION_ERROR);
                assertThat(other.report())
                        .contains("must be the same on all nodes")
                        .containsAnyOf( // refused, or on a slow machine left out
                                "running nodes have 3 of n0, n1, n2",
                                "differ from this one, which has 3 of n0, n1, n2, n3");
            }
            cluster.broker(0).signal("STOP");
            cluster.broker(1).signal("STOP");
            try (CapturedProcess other = cluster.startWithOtherNodes(2)) {
                other.awaitLine("a wait", line -> line.contains("waiting for a majority"), PATIENCE);
                cluster.broker(0).signal("CONT");
                cluster.broker(1).signal("CONT");
                assertThat(other.awaitExit(PATIENCE)).isEqualTo(CONFIGURATION_ERROR);
                assertThat(other.report()).contains("most nodes with replicas differ from this one");
            }
            for (int node = 0; node < 2; node++) {
                int each = node;
                await().atMost(PATIENCE)
                        .until(() -> cluster.get(each, "/health/ready").statusCode() == 200);
                try (RawClient stored = cluster.open(node)) {
                    stored.connect(ConnectBytes.of("stored" + node).persistent(600));
                    stored.subscribe("topic", 1);
                }
            }
            cluster.wipe(2);
            cluster.start(2);
        }
    }

    @Test
    @Tag("long")
    void whatIsAcknowledgedSurvivesTheLossOfADisk() {
        System.out.println("seed " + seed);
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            ReplicatedLoad load = new ReplicatedLoad(cluster);
            load.begin();
            int wiped = 0;
            for (int kill = 1; kill <= KILLS; kill++) {
                load.awaitProgress(0, 1, 2);
                await().pollDelay(Duration.ofMillis(1 + random.nextInt(LONGEST_MILLIS)))
                        .until(() -> true);
                int node = random.nextInt(ReplicatedCluster.NODES);
                cluster.kill(node);
                if (kill % WIPE == 0) {
                    cluster.wipe(node);
                    wiped++;
                }
                load.leave();
                cluster.start(node);
                if (random.nextBoolean()) {
                    load.comeBack();
                }
            }
            load.awaitProgress(0, 1, 2);
            load.stopPublishing();

            theLastOfThreeRefusesWhatItCannotKeep(cluster);

            cluster.startTogether(0, 1);
            await().atMost(PATIENCE).until(() -> cluster.get(2, "/health/ready").statusCode() == 200);
            try (RawClient client = cluster.open(2)) {
                client.connect("client");
                client.publish("kept", "stored", 1);
            }
            load.check(KILLS + 1);
            System.out.println("kills " + KILLS + ", disks wiped " + wiped + ", " + load.figures());
        }
    }

    /** The node n3 takes the place of n2, while clients of the others publish for sessions of n2. */
    @Test
    @Tag("long")
    void whatIsAcknowledgedSurvivesTheReplacementOfANode() {
        try (ReplicatedCluster cluster = ReplicatedCluster.start(directory)) {
            ReplicatedLoad load = new ReplicatedLoad(cluster);
            load.begin();
            load.awaitProgress(0, 1, 2);
            assertThat(ctl(cluster, 0, "cluster", "replace", "n2", "n3")).contains("node n2 is connected");
            cluster.kill(2);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(ctl(cluster, 0, "cluster", "replace", "n2", "n3"))
                            .contains("node n3 holds the place of n2 from now on"));
            assertThat(ctl(cluster, 1, "cluster", "replace", "n2", "n3"))
                    .contains("node n3 holds the place of n2 from now on");
            load.awaitProgress(0, 1);
            cluster.startInPlaceOf(2);
            load.awaitProgress(0, 1, 2);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(ctl(cluster, 0, "cluster"))
                            .containsPattern("n3 +reachable")
                            .containsPattern("n3 \\(place n2\\) +n3 +n3")
                            .doesNotContain("n2 "));

            assertReplaced(cluster);
            cluster.killReplacement();
            assertReplaced(cluster); // its disk has all, and the one that has its place is down
            cluster.startInPlaceOf(2);
            load.awaitProgress(0, 1, 2);
            load.stopPublishing();
            load.check(2);
            System.out.println("replaced one node, " + load.figures());
        }
    }

    private static String ctl(ReplicatedCluster cluster, int node, String... arguments) {
        try (CapturedProcess process = cluster.ctl(node, arguments)) {
            process.awaitExit(PATIENCE);
            return process.report();
        }
    }

    private static void assertReplaced(ReplicatedCluster cluster) {
        try (CapturedProcess lost = CapturedProcess.start("n2", cluster.command(2))) {
            assertThat(lost.awaitExit(PATIENCE)).isEqualTo(CONFIGURATION_ERROR);
            assertThat(lost.report())
                    .contains("another node holds the place n2 of cluster.nodes: node n3, not node n2");
        }
    }

    private static void theLastOfThreeRefusesWhatItCannotKeep(ReplicatedCluster cluster) {
        try (RawClient kept = cluster.open(2)) {
            kept.connect(ConnectBytes.of("kept").persistent(600));
            kept.subscribe("kept", 1);
            kept.disconnect();
        }
        cluster.kill(0);
        cluster.kill(1);
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(cluster.get(2, "/health/ready").statusCode()).isEqualTo(503);
            assertThat(cluster.get(2, "/health/ready").body()).contains("no majority, 1 of 3");
        });
        try (RawClient stored = cluster.open(2)) {
            ReceivedPacket refusal =
                    stored.send(ConnectBytes.of("stored").persistent(60)).receive();
            assertThat(refusal).isNotNull();
            assertThat(refusal.type()).isEqualTo(MqttMessageType.CONNACK);
            assertThat(refusal.reasonCode()).isEqualTo(SERVER_UNAVAILABLE);
        }
        try (RawClient clean = cluster.open(2)) {
            clean.connect("clean");
            clean.subscribe("clean", 0);
            clean.send(PublishBytes.to("clean").payload("x"));
            assertThat(clean.receive().text()).isEqualTo("x");
            clean.send(PublishBytes.to("kept").payload("refused").qos(1, 7)); // for a stored session that is away
            ReceivedPacket answer = clean.expect(MqttMessageType.PUBACK);
            assertThat(answer.reasonCode()).isEqualTo(QUOTA_EXCEEDED);
        }
    }
}
