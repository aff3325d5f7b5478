// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.cluster.MemoryNetwork;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two nodes of one JVM over a network that a test divides. */
@Tag("slow")
@Timeout(120)
class ObjectsInClusterTest {

    private final MemoryNetwork network = new MemoryNetwork();
    private final ObjectNode a = ObjectNode.in(network, "a");
    private final ObjectNode b = ObjectNode.in(network, "b");

    @AfterEach
    void stop() {
        a.close();
        b.close();
        network.close();
    }

    private static void awaitText(ObjectNode node, String id, String text) {
        await().atMost(ObjectNode.PATIENCE).until(() -> text.equals(node.text(id)));
    }

    @Test
    void bothNodesApplyTheChangesOfEach() {
        LiveObject<String> made = a.put("x", "1", Expected.NOTHING);
        awaitText(b, "x", "1");
        assertThat(b.notes.get("x")).isEqualTo(made);

        b.put("x", "2", Expected.version(made.version()));
        awaitText(a, "x", "2");
        a.delete("x");
        await().atMost(ObjectNode.PATIENCE).until(() -> b.seen.contains("x is gone"));
        assertThat(b.notes.list()).isEmpty();
    }

    @Test
    void aNodeThatJoinsHasThem() {
        a.put("x", "1", Expected.NOTHING);
        try (ObjectNode c = ObjectNode.in(network, "c")) {
            awaitText(c, "x", "1");
        }
    }

    @Test
    void afterAPartitionTheLaterChangeIsInForceOnBothSides() {
        a.put("x", "1", Expected.NOTHING);
        a.put("deleted", "1", Expected.NOTHING);
        awaitText(b, "deleted", "1");
        awaitText(b, "x", "1");

        network.partition("a");
        LiveObject<String> earlier = a.put("x", "of a", Expected.SOMETHING);
        a.delete("deleted");
        a.put("only a", "1", Expected.NOTHING);
        // within a millisecond neither change is the later one
        await().until(() -> System.currentTimeMillis() > earlier.version());
        b.put("x", "of b", Expected.SOMETHING);
        b.put("only b", "1", Expected.NOTHING);
        network.heal();

        awaitText(a, "only b", "1");
        awaitText(b, "only a", "1");
        awaitText(a, "x", "of b");
        awaitText(b, "x", "of b");
        await().atMost(ObjectNode.PATIENCE).until(() -> b.text("deleted") == null);
        assertThat(a.notes.list()).isEqualTo(b.notes.list());
    }
}
