// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Retained messages of three real processes that restart with their stores: the latest change counts, whichever node starts first. */
class ClusterRetainedIT {

    private static final String LAST = "z";
    private static final Duration LOOK = Duration.ofMillis(200);

    @TempDir
    Path directory;

    @Test
    void whatOneNodeChangedWhileTheOthersWereDownStaysAfterARestartOfAll() {
        try (LoopbackCluster nodes = LoopbackCluster.start(directory, 3)) {
            for (int node = 0; node < 3; node++) {
                retain(nodes, node, LAST, "x");
            }
            retain(nodes, 0, "updated", "old");
            retain(nodes, 0, "removed", "old");
            retain(nodes, 1, "untouched", "old");
            awaitEverywhere(nodes, Map.of("updated", "old", "removed", "old", "untouched", "old"));
            nodes.broker(0).kill9();
            nodes.broker(1).kill9();
            retain(nodes, 2, "updated", "new");
            retain(nodes, 2, "removed", "");
            nodes.broker(2).kill9();
            nodes.restartAll(0, 1, 2);

            awaitEverywhere(nodes, Map.of("updated", "new", "untouched", "old"));
        }
    }

    /** Returns when the change is stored. */
    private static void retain(LoopbackCluster nodes, int node, String topic, String payload) {
        try (RawClient client = nodes.client(node, "retains-" + topic)) {
            client.publish(PublishBytes.to(topic).payload(payload).qos(1).retained());
        }
    }

    private static void awaitEverywhere(LoopbackCluster nodes, Map<String, String> expected) {
        for (int node = 0; node < 3; node++) {
            int looked = node;
            await().atMost(LoopbackCluster.PATIENCE)
                    .pollInterval(LOOK)
                    .until(() -> look(nodes, looked).equals(expected));
        }
    }

    /** What a new subscriber gets, in the order of the topics, before the last one. */
    private static Map<String, String> look(LoopbackCluster nodes, int node) {
        Map<String, String> found = new TreeMap<>();
        try (RawClient client = nodes.client(node, "looks-" + node)) {
            client.subscribe("#", 0);
            for (ReceivedPacket next = client.expect(MqttMessageType.PUBLISH);
                    !next.topic().equals(LAST);
                    next = client.expect(MqttMessageType.PUBLISH)) {
                found.put(next.topic(), next.text());
            }
        }
        return found;
    }
}
