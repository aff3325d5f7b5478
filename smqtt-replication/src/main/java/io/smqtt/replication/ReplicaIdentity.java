// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.config.ConfigurationException;
import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The owner of a directory of replicas, in a file: the name of the node, the nodes, and the number of replicas. */
final class ReplicaIdentity {

    /** The directory of all replicas, in the data directory. */
    static final String DIRECTORY = "replicas";

    private static final String FILE = "OWNER"; // no name of a node, which is a directory here
    private static final String FORMAT = "smqtt replicas format 1";

    private ReplicaIdentity() {}

    /**
     * Checks that a data directory is that of a node with these replicas, or empty. Changes nothing. Blocks.
     *
     * @throws ConfigurationException if it is another one's
     * @throws StoreUnusableException if it cannot be read
     */
    static void require(Path data, ReplicaPlan plan) {
        Holding holding = Places.of(data).holding(plan.self());
        if (!holding.equals(Holding.first(plan.self())) && !holding.node().equals(plan.node())) {
            throw new ConfigurationException(PlaceChanges.refusal(plan.self(), holding.node(), plan.node()));
        }
        Path file = data.resolve(DIRECTORY).resolve(FILE);
        if (!Files.exists(file)) {
            return;
        }
        List<String> lines = read(file);
        if (lines.size() != 3 || !lines.get(0).equals(FORMAT)) {
            throw new ConfigurationException(
                    "storage.dir", "has a file " + file.toAbsolutePath() + " of another version");
        }
        if (!lines.get(1).equals(plan.self())) {
            throw new ConfigurationException(
                    "cluster.node-id",
                    "is " + plan.self() + ", but " + data.toAbsolutePath() + " is the data of node " + lines.get(1));
        }
        if (!lines.get(2).equals(plan.agreement())) {
            throw new ConfigurationException(
                    "cluster.nodes",
                    "and storage.replicas are " + plan.agreement() + ", but " + data.toAbsolutePath()
                            + " has replicas of " + lines.get(2) + ". They cannot be changed yet");
        }
    }

    /**
     * The node whose replicas are in a data directory. Blocks.
     *
     * @throws StoreUnusableException if there are none, or the directory cannot be read
     */
    static String owner(Path data) {
        Path file = data.resolve(DIRECTORY).resolve(FILE);
        List<String> lines = read(file);
        if (lines.size() != 3 || !lines.get(0).equals(FORMAT)) {
            throw StoreUnusableException.of(file, new IOException("it is a file of another version"));
        }
        return lines.get(1);
    }

    private static List<String> read(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw StoreUnusableException.of(file, e);
        }
    }

    /** Writes the owner of the directory to stable storage, when its replicas exist. Blocks. */
    static void write(Path data, ReplicaPlan plan) {
        Path file = data.resolve(DIRECTORY).resolve(FILE);
        if (!Files.exists(file)) {
            Places.replace(file, String.join("\n", FORMAT, plan.self(), plan.agreement()) + "\n");
        }
    }
}
