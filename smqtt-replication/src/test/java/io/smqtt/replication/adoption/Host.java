// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import io.smqtt.test.cluster.Simulation;
import java.util.ArrayList;
import java.util.List;

/** The process of a node: it runs, is frozen, or is down. */
final class Host {

    private final Simulation simulation;
    private List<Runnable> held = new ArrayList<>();
    private boolean up;
    private boolean frozen;
    private int run;
    private long frozenNanos;

    Host(Simulation simulation) {
        this.simulation = simulation;
    }

    boolean isUp() {
        return up;
    }

    boolean isFrozen() {
        return frozen;
    }

    /** Whether a client has waited for so long for an answer that it gives up. */
    boolean isFrozenFor(long millis) {
        return frozen && simulation.nanoTime() - frozenNanos > millis * 1_000_000;
    }

    /** Counts the runs of the process. */
    int run() {
        return run;
    }

    void start() {
        up = true;
        run++;
    }

    void crash() {
        up = false;
        frozen = false;
        held.clear();
    }

    void freeze() {
        frozen = true;
        frozenNanos = simulation.nanoTime();
    }

    /** Goes on with all that has happened meanwhile. */
    void wake() {
        frozen = false;
        List<Runnable> tasks = held;
        held = new ArrayList<>();
        tasks.forEach(Runnable::run);
    }

    /** Runs a task of a run, if that has not ended; when it is frozen, later. */
    void execute(int ofRun, Runnable task) {
        if (!up || run != ofRun) {
            return;
        }
        if (frozen) {
            held.add(() -> execute(ofRun, task));
        } else {
            task.run();
        }
    }

    /** Runs a task of the current run later. */
    void after(long millis, Runnable task) {
        int current = run;
        simulation.after(millis * 1_000_000, () -> execute(current, task));
    }
}
