// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Records all packets between three nodes, from their start on, while clients publish, subscribe, and move with their sessions. With a
 * secret, nothing of it can be read: there are handshakes of fixed length and sealed records, and one TCP port for each node. Without
 * one, the same search finds what clients have sent. Needs root and {@code python3}.
 */
@Tag("long")
class ClusterWireIT {

    private static final int NODES = 3;
    private static final String SECRET = "the-secret-between-nodes";
    private static final String CLIENT = "identifier-of-a-client";
    private static final String TOPIC = "topic/of/a/message";
    private static final String PAYLOAD = "payload-of-a-message";
    private static final String RETAINED = "payload-of-a-retained-message";
    private static final String WILL = "payload-of-a-will";
    private static final List<String> SENT =
            List.of(CLIENT, TOPIC, PAYLOAD, RETAINED, WILL, ClusterNetwork.USER, "smqtt");

    private static final byte[] PROTOCOL = {'s', 'm', 'q', 1};
    private static final int NONCE_BYTES = 32;
    private static final int PROOF_BYTES = 32;
    private static final int TAG_BYTES = 16;
    private static final int LARGEST_RECORD = 64 * 1024 + TAG_BYTES;

    @TempDir
    Path directory;

    @BeforeEach
    void requireCapture() {
        assumeThat(ClusterNetwork.isAllowed() && Capture.isPossible())
                .as("packets can be recorded here, which takes root, ip and python3")
                .isTrue();
    }

    /** All bytes that nodes have sent each other, by direction of each connection. */
    private Map<Capture.Direction, byte[]> recorded(String secret) throws Exception {
        try (ClusterNetwork network = new ClusterNetwork(directory, NODES, "storage:\n  kind: memory\n", secret);
                Capture capture = new Capture(directory.resolve("frames"), network.cables())) {
            network.startAll();
            use(network);
            List<String> hosts = network.hosts();
            List<ByteBuffer> frames = capture.stop();
            return Capture.streams(frames, hosts);
        }
    }

    private static RawClient open(ClusterNetwork network, int node, String clientId) {
        RawClient client =
                RawClient.to(network.address(node), ProtocolVersion.MQTT_5).deadline(ClusterNetwork.PATIENCE);
        client.connect(ConnectBytes.of(clientId)
                .persistent(1_000)
                .userName(ClusterNetwork.USER)
                .password(ClusterNetwork.PASSWORD)
                .will(PublishBytes.to(TOPIC).payload(WILL)));
        return client;
    }

    /** Every kind of content goes between nodes. */
    private static void use(ClusterNetwork network) {
        try (RawClient subscriber = open(network, 0, CLIENT)) {
            subscriber.subscribe(TOPIC, 0);
            try (RawClient publisher = open(network, 1, "publisher")) {
                await().atMost(ClusterNetwork.PATIENCE)
                        .until(() -> network.view(1).peer("n0").routes() > 0);
                publisher.publish(TOPIC, PAYLOAD, 1);
                subscriber.expectPublish(TOPIC, PAYLOAD);
                publisher.publish(
                        PublishBytes.to("retained").payload(RETAINED).qos(1).retained());
                try (RawClient moved = open(network, 2, CLIENT)) {
                    moved.subscribe("retained", 0);
                    moved.expectPublish("retained", RETAINED);
                    publisher.publish(TOPIC, PAYLOAD, 1);
                    moved.expectPublish(TOPIC, PAYLOAD);
                }
            }
        }
        network.awaitEqualDigests();
    }

    private static boolean contains(byte[] bytes, String text) {
        return new String(bytes, StandardCharsets.ISO_8859_1).contains(text);
    }

    /** One end of each connection is the cluster's port. */
    private static void requireOnePort(Set<Capture.Direction> directions) {
        assertThat(directions).isNotEmpty();
        for (Capture.Direction direction : directions) {
            assertThat(List.of(direction.fromPort(), direction.toPort()))
                    .as("ports of %s", direction)
                    .contains(ClusterNetwork.CLUSTER_PORT);
        }
    }

    @Test
    void withASecretNothingCanBeReadButLengths() throws Exception {
        Map<Capture.Direction, byte[]> streams = recorded(SECRET);
        requireOnePort(streams.keySet());
        int records = 0;
        long bytes = 0;
        int connections = 0;
        for (Map.Entry<Capture.Direction, byte[]> stream : streams.entrySet()) {
            for (String text : SENT) {
                assertThat(contains(stream.getValue(), text))
                        .as("%s in %s", text, stream.getKey())
                        .isFalse();
            }
            records += records(stream.getKey(), stream.getValue());
            bytes += stream.getValue().length;
            boolean dials = stream.getKey().toPort() == ClusterNetwork.CLUSTER_PORT;
            connections += dials && stream.getValue().length > 0 ? 1 : 0;
        }
        System.out.printf(
                "[wire] %d connections, %d bytes in %d sealed records, all to the ports %d: nothing can be read%n",
                connections, bytes, records, ClusterNetwork.CLUSTER_PORT);
        assertThat(records).isGreaterThan(100);
    }

    /** Reads a direction as the documentation says it is, and returns the number of records. */
    private static int records(Capture.Direction direction, byte[] stream) {
        if (stream.length == 0) {
            return 0; // refused, because both nodes have dialled
        }
        boolean dials = direction.toPort() == ClusterNetwork.CLUSTER_PORT;
        assertThat(Arrays.copyOf(stream, PROTOCOL.length)).as("%s", direction).isEqualTo(PROTOCOL);
        ByteBuffer rest = ByteBuffer.wrap(stream).position(PROTOCOL.length + NONCE_BYTES);
        if (rest.remaining() < PROOF_BYTES) {
            assertThat(dials).as("%s ends within its handshake", direction).isFalse();
            return 0;
        }
        rest.position(rest.position() + PROOF_BYTES);
        int count = 0;
        while (rest.remaining() >= Integer.BYTES) { // the last one may be incomplete
            int length = rest.getInt();
            assertThat(length).as("length of a record of %s", direction).isBetween(TAG_BYTES + 1, LARGEST_RECORD);
            rest.position(Math.min(rest.limit(), rest.position() + length));
            count++;
        }
        return count;
    }

    @Test
    void withoutOneTheSearchFindsEverything() throws Exception {
        Map<Capture.Direction, byte[]> streams = recorded("");
        requireOnePort(streams.keySet());
        for (String text : SENT) {
            assertThat(streams.values().stream().anyMatch(stream -> contains(stream, text)))
                    .as(text)
                    .isTrue();
        }
    }
}
