// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import io.smqtt.test.cluster.Simulation;
import java.util.Arrays;
import java.util.Random;

/** The network between nodes: it delays, reorders, loses, doubles and cuts. */
final class Network {

    /** Receives what arrives at a node. */
    @FunctionalInterface
    interface Receiver {
        void receive(int from, int to, Object message);
    }

    private final Simulation simulation;
    private final Random random;
    private final Receiver receiver;
    private final boolean[][] cut;
    private int faultyPercent;

    Network(Simulation simulation, int nodes, Receiver receiver) {
        this.simulation = simulation;
        this.random = simulation.random();
        this.receiver = receiver;
        cut = new boolean[nodes][nodes];
    }

    void send(int from, int to, Object message) {
        if (from == to) {
            simulation.after(0, () -> receiver.receive(from, to, message));
            return;
        }
        boolean faulty = faultyPercent > 0 && random.nextInt(100) < faultyPercent;
        int fault = faulty ? random.nextInt(3) : -1;
        if (cut[from][to] || fault == 0) {
            return;
        }
        deliver(from, to, message, 0);
        if (fault == 1) {
            deliver(from, to, message, random.nextInt(1_500_000_000));
        }
    }

    private void deliver(int from, int to, Object message, long late) {
        long delay = 300_000 + random.nextInt(2_000_000) + late;
        simulation.after(delay, () -> receiver.receive(from, to, message));
    }

    /** The share of messages that are lost or doubled. */
    void faultyPercent(int percent) {
        faultyPercent = percent;
    }

    void cut(int from, int to) {
        cut[from][to] = true;
    }

    void heal() {
        for (boolean[] row : cut) {
            Arrays.fill(row, false);
        }
        faultyPercent = 0;
    }

    boolean isGood() {
        return faultyPercent == 0
                && Arrays.stream(cut).noneMatch(row -> {
                    for (boolean one : row) {
                        if (one) {
                            return true;
                        }
                    }
                    return false;
                });
    }
}
