// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplicaPlanTest {

    @TempDir
    private Path data;

    private static ReplicaPlan plan(String self, int replicas, int nodes) {
        SortedMap<String, String> addresses = new TreeMap<>();
        IntStream.range(0, nodes).forEach(node -> addresses.put("n" + node, "127.0.0.1:" + (7_801 + node)));
        return new ReplicaPlan(self, addresses, replicas);
    }

    @Test
    void ofThreeNodesEachHoldsAll() {
        ReplicaPlan plan = plan("n1", 3, 3);

        assertThat(plan.homes()).containsExactly("n0", "n1", "n2");
        assertThat(plan.membersOf("n2")).containsExactly("n0", "n1", "n2");
        assertThat(plan.numberOf("n2")).isEqualTo(2);
        assertThat(plan.address()).isEqualTo("127.0.0.1:7802");
    }

    @Test
    void allNodesComputeTheSame() {
        for (int node = 0; node < 9; node++) {
            String home = "n" + node;
            assertThat(plan("n0", 3, 9).membersOf(home))
                    .isEqualTo(plan("n8", 3, 9).membersOf(home))
                    .hasSize(3)
                    .contains(home);
        }
    }

    @Test
    void placesDoNotChangeWithTheVersion() {
        assertThat(plan("n0", 3, 9).membersOf("n0")).containsExactly("n0", "n3", "n4");
    }

    @Test
    void aDirectoryIsThatOfOneNodeAndItsNodes() throws IOException {
        Files.createDirectories(data.resolve("replicas"));
        ReplicaIdentity.write(data, plan("n1", 3, 3));

        ReplicaIdentity.require(data, plan("n1", 3, 3));
        assertThatThrownBy(() -> ReplicaIdentity.require(data, plan("n2", 3, 3)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("cluster.node-id is n2, but " + data + " is the data of node n1");
        assertThatThrownBy(() -> ReplicaIdentity.require(data, plan("n1", 3, 4)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("3 of n0, n1, n2, n3, but ")
                .hasMessageContaining("has replicas of 3 of n0, n1, n2.");
    }

    @Test
    void aDirectoryHasAnOwner() throws IOException {
        assertThatThrownBy(() -> ReplicaIdentity.owner(data)).isInstanceOf(StoreUnusableException.class);
        Files.createDirectories(data.resolve("replicas"));
        ReplicaIdentity.write(data, plan("n1", 3, 3));

        assertThat(ReplicaIdentity.owner(data)).isEqualTo("n1");
        Files.writeString(data.resolve("replicas").resolve("OWNER"), "smqtt replicas format 9\n");
        assertThatThrownBy(() -> ReplicaIdentity.owner(data)).hasMessageContaining("a file of another version");
    }
}
