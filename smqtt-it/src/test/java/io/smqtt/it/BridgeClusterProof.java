// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A bridge to a mosquitto, connected by one of two nodes or by both, of which one is killed and returns. Run by {@code smqtt-it/prove bridge}. */
class BridgeClusterProof {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SETTLED = Duration.ofSeconds(3);
    private static final int PART = 100;

    @TempDir
    Path directory;

    private final List<String> arrived = new ArrayList<>();

    @Test
    void anotherNodeConnectsWhenTheOneThatDidIsKilled() throws Exception {
        int port = LoopbackPorts.one();
        try (CapturedProcess mosquitto = mosquitto(port);
                LoopbackCluster cluster = LoopbackCluster.start(
                        directory,
                        2,
                        "rocksdb",
                        "bridges.cloud.addresses=127.0.0.1:" + port,
                        "bridges.cloud.client-id=plant",
                        "bridges.cloud.min-delay=100ms",
                        "bridges.cloud.topics=out/# out 1");
                RawClient there = RawClient.to(new InetSocketAddress("127.0.0.1", port), ProtocolVersion.MQTT_5)) {
            there.connect("there");
            there.subscribe("out/#", 1);
            int first = awaitChosen(cluster);
            int other = 1 - first;
            try (RawClient publisher = cluster.client(other, "publisher")) {
                awaitForwarding(publisher, there);
                publish(publisher, 0);
                awaitPart(there, 0);

                cluster.broker(first).kill9();
                long killed = System.nanoTime();
                publish(publisher, 1); // for the session of the node that is gone
                assertThat(awaitConnected(cluster, other)).isEqualTo(other);
                System.out.printf(
                        "nodes one: connected by the other node %d ms after the kill%n",
                        Duration.ofNanos(System.nanoTime() - killed).toMillis());
                publish(publisher, 2);
                awaitPart(there, 2);

                cluster.restart(first);
                assertThat(awaitConnected(cluster, first)).isEqualTo(first);
                publish(publisher, 3);
                awaitPart(there, 3);
                awaitPart(there, 1);
            }
            assertThat(cluster.metrics(other, "smqtt_bridge_connected")).isZero();
            assertThat(arrived.stream().filter(text -> !text.startsWith("1-")))
                    .as("what was published while a node was connected")
                    .doesNotHaveDuplicates();
            System.out.printf(
                    "nodes one: %d of %d messages arrived in order, %d of them twice%n",
                    new LinkedHashSet<>(arrived).size(),
                    4 * PART,
                    arrived.size() - new LinkedHashSet<>(arrived).size());
        }
    }

    /** A message that the other broker has for the node that is away waits there. */
    @Test
    void eachNodeConnectsAndNothingIsLostWhenOneIsKilled() throws Exception {
        int port = LoopbackPorts.one();
        try (CapturedProcess mosquitto = mosquitto(port);
                LoopbackCluster cluster = LoopbackCluster.start(
                        directory,
                        2,
                        "rocksdb",
                        "bridges.cloud.addresses=127.0.0.1:" + port,
                        "bridges.cloud.client-id=plant",
                        "bridges.cloud.nodes=each",
                        "bridges.cloud.min-delay=100ms",
                        "bridges.cloud.topics=out/# out 1,in/# in 1");
                RawClient there = RawClient.to(new InetSocketAddress("127.0.0.1", port), ProtocolVersion.MQTT_5);
                RawClient here = cluster.stored(0, "here");
                RawClient onOne = cluster.client(0, "on-one")) {
            there.connect("there");
            there.subscribe("out/#", 1);
            here.subscribe("in/#", 1);
            for (int node = 0; node < 2; node++) {
                awaitConnected(cluster, node);
            }
            awaitForwarding(onOne, there);
            try (RawClient onTwo = cluster.client(1, "on-two")) {
                publish(onOne, 0);
                publish(onTwo, 1);
                awaitPart(there, 0);
                awaitPart(there, 1);
                publish(onTwo, 2);
            }
            cluster.broker(1).kill9();
            publish(onOne, 3);
            awaitPart(there, 3);
            for (int i = 0; i < PART; i++) {
                there.publish("in/part", "4-" + i, 1);
            }
            cluster.restart(1);
            awaitConnected(cluster, 1);
            awaitPart(there, 2);
            awaitSet(here, 4);
            assertThat(arrived.stream().filter(text -> !text.startsWith("2-"))).doesNotHaveDuplicates();
            System.out.printf(
                    "nodes each: %d of %d messages arrived, %d of them twice%n",
                    new LinkedHashSet<>(arrived).size(),
                    5 * PART,
                    arrived.size() - new LinkedHashSet<>(arrived).size());
        }
    }

    /** The node that has connected the bridge: the first one to start did so alone, until the other one was there. */
    private static int awaitChosen(LoopbackCluster cluster) {
        int[] chosen = {-1};
        long[] sinceNanos = {System.nanoTime()};
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(() -> {
            double first = cluster.metrics(0, "smqtt_bridge_connected");
            double second = cluster.metrics(1, "smqtt_bridge_connected");
            int now = first + second == 1 ? (int) second : -1;
            if (now != chosen[0]) {
                chosen[0] = now;
                sinceNanos[0] = System.nanoTime();
            }
            return now >= 0 && System.nanoTime() - sinceNanos[0] > SETTLED.toNanos();
        });
        return chosen[0];
    }

    /** The one of these nodes that has connected the bridge. */
    private static int awaitConnected(LoopbackCluster cluster, int... nodes) {
        int[] found = {-1};
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(() -> {
            for (int node : nodes) {
                if (cluster.metrics(node, "smqtt_bridge_connected") == 1) {
                    found[0] = node;
                }
            }
            return found[0] >= 0;
        });
        return found[0];
    }

    private static void publish(RawClient publisher, int part) {
        for (int i = 0; i < PART; i++) {
            publisher.publish("out/part", part + "-" + i, 1);
        }
    }

    private static Set<String> part(int part) {
        Set<String> texts = new LinkedHashSet<>();
        for (int i = 0; i < PART; i++) {
            texts.add(part + "-" + i);
        }
        return texts;
    }

    private void awaitPart(RawClient there, int part) {
        Set<String> expected = part(part);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(() -> {
            take(there);
            return arrived.containsAll(expected);
        });
        assertThat(arrived.stream().filter(expected::contains).distinct()).containsExactlyElementsOf(expected);
    }

    /** As {@link #awaitPart}, in any order. */
    private void awaitSet(RawClient client, int part) {
        Set<String> expected = part(part);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(() -> {
            take(client);
            return arrived.containsAll(expected);
        });
    }

    private void take(RawClient there) {
        there.expectNothingBut(packet -> {
            if (packet.type() == MqttMessageType.PUBLISH) {
                if (packet.qos() == 1) {
                    there.pubAck(packet);
                }
                if (packet.topic().endsWith("/part")) {
                    arrived.add(packet.text());
                }
            }
        });
    }

    /** Publishes until a message has passed. */
    private static void awaitForwarding(RawClient from, RawClient to) {
        boolean[] passed = {false};
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(300)).until(() -> {
            from.publish("out/up", "", 0);
            to.expectNothingBut(packet -> passed[0] |= packet.type() == MqttMessageType.PUBLISH);
            return passed[0];
        });
    }

    private CapturedProcess mosquitto(int port) throws Exception {
        Path conf = Files.writeString(directory.resolve("mosquitto.conf"), """
                listener %d 127.0.0.1
                allow_anonymous true
                max_queued_messages 0
                """.formatted(port));
        CapturedProcess mosquitto = CapturedProcess.start(
                "mosquitto", new ProcessBuilder(ForeignProgram.path("mosquitto"), "-c", conf.toString()));
        InstalledMosquitto.awaitListening(port, mosquitto);
        return mosquitto;
    }
}
