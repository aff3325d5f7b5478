// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import io.smqtt.test.cluster.Simulation;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A simulated cluster. Group {@code n} is that of node {@code n}, with the two nodes behind it as other members. The last group is the register of
 * clients, with all nodes.
 */
final class Model {

    private static final List<String> SUBSCRIBERS = List.of("s0", "s1", "s2");

    private final Simulation simulation;
    private final @Nullable Mistake mistake;
    private final Audit audit;
    private final Network network;
    private final List<Node> nodes = new ArrayList<>();
    private final int[][] members;
    private long unstored;
    private long disturbedNanos;

    Model(Simulation simulation, @Nullable Mistake mistake, int count) {
        this.simulation = simulation;
        this.mistake = mistake;
        members = new int[count + 1][];
        for (int group = 0; group < count; group++) {
            members[group] = new int[] {group, (group + 1) % count, (group + 2) % count};
        }
        members[count] = IntStream.range(0, count).toArray();
        audit = new Audit(simulation, SUBSCRIBERS);
        network = new Network(simulation, count, this::arrived);
        for (int id = 0; id < count; id++) {
            nodes.add(new Node(this, id));
        }
    }

    private void arrived(int from, int to, Object message) {
        Node node = nodes.get(to);
        node.host().execute(node.host().run(), () -> node.receive(from, message));
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

    Network network() {
        return network;
    }

    List<Node> nodes() {
        return nodes;
    }

    /** The number of the register's group. */
    int register() {
        return members.length - 1;
    }

    int[] members(int group) {
        return members[group];
    }

    /** Something has failed, or has come back. */
    void disturbed() {
        disturbedNanos = nanoTime();
    }

    /** When {@link #disturbed} was called last. */
    long disturbedNanos() {
        return disturbedNanos;
    }

    /** Whether the network is good, and a majority of each group may vote and runs. */
    boolean isGood() {
        if (!network.isGood() || nodes.stream().anyMatch(node -> node.host().isFrozen())) {
            return false;
        }
        for (int group = 0; group < members.length; group++) {
            int current = group;
            long voters = IntStream.of(members[group])
                    .filter(member -> nodes.get(member).mayVote(current))
                    .count();
            if (voters <= members[group].length / 2) {
                return false;
            }
        }
        return true;
    }

    /** The clients that get all messages. */
    List<String> subscribers() {
        return SUBSCRIBERS;
    }

    /** Mistake: a sequence number that no log has given. */
    long unstoredSequence() {
        return ++unstored;
    }
}
