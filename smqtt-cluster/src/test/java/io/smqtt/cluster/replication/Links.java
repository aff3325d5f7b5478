// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.test.cluster.Simulation;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;

/** The network between nodes: it delays, reorders, loses, duplicates and cuts. */
final class Links {

    /**
     * Share of messages with a fault, 0 to 1.
     *
     * @param loss lost
     * @param doubled delivered twice
     * @param held delivered up to 1.5 s late
     */
    record Faults(double loss, double doubled, double held) {

        static final Faults NONE = new Faults(0, 0, 0);
    }

    /** Receives what arrives at a node. */
    @FunctionalInterface
    interface Receiver {
        void receive(int from, int to, Object message);
    }

    private static final long NEVER = Long.MAX_VALUE;

    private final Simulation simulation;
    private final Random random;
    private final Receiver receiver;
    private final boolean[][] cut;
    private final long[] minoritySince;
    private Faults faults = Faults.NONE;

    Links(Simulation simulation, int nodes, Receiver receiver) {
        this.simulation = simulation;
        this.random = simulation.random();
        this.receiver = receiver;
        cut = new boolean[nodes][nodes];
        minoritySince = new long[nodes];
        Arrays.fill(minoritySince, NEVER);
    }

    void send(int from, int to, Object message) {
        if (from == to) {
            simulation.after(0, () -> receiver.receive(from, to, message));
            return;
        }
        if (cut[from][to] || random.nextDouble() < faults.loss) {
            return;
        }
        deliver(from, to, message);
        if (random.nextDouble() < faults.doubled) {
            deliver(from, to, message);
        }
    }

    private void deliver(int from, int to, Object message) {
        long delay = 300_000 + random.nextInt(2_000_000);
        if (random.nextDouble() < faults.held) {
            delay += random.nextInt(1_500_000_000);
        }
        simulation.after(delay, () -> receiver.receive(from, to, message));
    }

    void faults(Faults next) {
        faults = next;
    }

    /** Cuts one direction. */
    void cut(int from, int to) {
        cut[from][to] = true;
    }

    /**
     * Separates some nodes from all others.
     *
     * @param side the nodes on one side
     * @param replicas how many of the nodes, the first ones, hold replicas
     */
    void partition(Set<Integer> side, int replicas) {
        long inside = side.stream().filter(node -> node < replicas).count();
        for (int a = 0; a < cut.length; a++) {
            for (int b = 0; b < cut.length; b++) {
                cut[a][b] |= side.contains(a) != side.contains(b);
            }
            boolean minority = (side.contains(a) ? inside : replicas - inside) <= replicas / 2;
            if (minority && minoritySince[a] == NEVER) {
                minoritySince[a] = simulation.nanoTime();
            }
        }
    }

    void heal() {
        for (boolean[] row : cut) {
            Arrays.fill(row, false);
        }
        Arrays.fill(minoritySince, NEVER);
    }

    /** Whether a node has been on the side without a majority since before a moment. */
    boolean isMinoritySince(int node, long nanos) {
        return minoritySince[node] < nanos;
    }
}
