// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.test.cluster.Simulation;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A simulated cluster: nodes with replicas, perhaps a front node without, and the groups. Group 0 is that of the cluster,
 * with all replicas; group {@code n} is that of node {@code n - 1}, with the two nodes behind it as followers.
 */
final class Model {

    /** The group that knows the owners of client identifiers and the retained messages. */
    static final int CLUSTER = 0;

    private final Simulation simulation;
    private final @Nullable Mistake mistake;
    private final int replicas;
    private final Audit audit;
    private final Links links;
    private final List<Node> nodes = new ArrayList<>();

    Model(Simulation simulation, @Nullable Mistake mistake, int replicas, boolean front) {
        this.simulation = simulation;
        this.mistake = mistake;
        this.replicas = replicas;
        audit = new Audit(simulation);
        int all = replicas + (front ? 1 : 0);
        links = new Links(simulation, all, (from, to, message) -> nodes.get(to).arrive(from, message));
        Consensus.Engine engine = FaultyEngines.of(mistake);
        for (int id = 0; id < all; id++) {
            nodes.add(new Node(this, id, engine));
        }
    }

    @Nullable
    Mistake mistake() {
        return mistake;
    }

    boolean has(Mistake some) {
        return mistake == some;
    }

    Simulation simulation() {
        return simulation;
    }

    Random random() {
        return simulation.random();
    }

    long nanoTime() {
        return simulation.nanoTime();
    }

    Audit audit() {
        return audit;
    }

    Links links() {
        return links;
    }

    List<Node> nodes() {
        return nodes;
    }

    /** How many nodes hold replicas; the first ones. */
    int replicas() {
        return replicas;
    }

    int groups() {
        return replicas + 1;
    }

    int[] members(int group) {
        return group == CLUSTER
                ? IntStream.range(0, replicas).toArray()
                : new int[] {group - 1, group % replicas, (group + 1) % replicas};
    }

    /** The group of a node; -1 for a front node. */
    int groupOf(int node) {
        return node < replicas ? node + 1 : -1;
    }
}
