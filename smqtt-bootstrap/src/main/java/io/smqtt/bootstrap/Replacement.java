// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The start of a node in the place of one whose machine or disk is lost. */
final class Replacement {

    private Replacement() {}

    /**
     * Checks that this process can take the place of a node. Blocks.
     *
     * @param lost the name of the node, which is that of this one
     * @throws ConfigurationException if there is no such node with replicas, or the data directory is not empty
     */
    static void require(String lost, BrokerConfig config) {
        StorageConfig storage = config.storage();
        if (storage.replicas() < 2) {
            throw new ConfigurationException("--replace " + lost + ": storage.replicas is " + storage.replicas()
                    + ", so no other node has what this one stored: restore a backup");
        }
        if (!lost.equals(config.cluster().nodeId()) || !config.cluster().isReplicaNode()) {
            throw new ConfigurationException("--replace " + lost + ": is none of cluster.nodes, "
                    + String.join(", ", config.cluster().replicaNames()));
        }
        if (!isEmpty(storage.dir())) {
            throw new ConfigurationException("--replace " + lost + ": the data directory "
                    + storage.dir().toAbsolutePath()
                    + " is not empty: name an empty one, or continue what is in it without --replace");
        }
    }

    private static boolean isEmpty(Path directory) {
        if (!Files.isDirectory(directory)) {
            return true;
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.allMatch(file -> file.endsWith("lost+found")); // of a disk of its own
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
