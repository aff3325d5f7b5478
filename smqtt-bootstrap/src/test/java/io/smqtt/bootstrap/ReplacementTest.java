// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node in the place of a lost one. */
class ReplacementTest {

    @TempDir
    Path directory;

    private BrokerConfig config(int replicas) {
        return BrokerConfig.builder()
                .cluster(ClusterConfig.builder()
                        .enabled(true)
                        .nodeId("c")
                        .secret("at-least-16-characters")
                        .nodes(List.of("a=127.0.0.1:7801", "b=127.0.0.1:7802", "c=127.0.0.1:7803"))
                        .build())
                .storage(StorageConfig.builder()
                        .kind(StorageConfig.Kind.ROCKSDB)
                        .dir(directory)
                        .replicas(replicas)
                        .build())
                .build();
    }

    @Test
    void itBeginsWithAnEmptyDirectory() throws IOException {
        assertThatCode(() -> Replacement.require("c", config(3))).doesNotThrowAnyException();
        Files.createDirectory(directory.resolve("lost+found"));
        assertThatCode(() -> Replacement.require("c", config(3))).doesNotThrowAnyException();
        Files.createDirectory(directory.resolve("replicas"));

        assertThatThrownBy(() -> Replacement.require("c", config(3)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("--replace c: the data directory " + directory
                        + " is not empty: name an empty one, or continue what is in it without --replace");
    }

    @Test
    void itIsOneOfTheNodesWithReplicas() {
        assertThatThrownBy(() -> Replacement.require("d", config(3)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("--replace d: is none of cluster.nodes, a, b, c");
        assertThatThrownBy(() -> Replacement.require("c", config(1)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage(
                        "--replace c: storage.replicas is 1, so no other node has what this one stored: restore a backup");
    }
}
