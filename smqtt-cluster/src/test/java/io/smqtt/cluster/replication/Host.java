// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import io.smqtt.test.cluster.Simulation;
import java.util.ArrayList;
import java.util.List;

/** A process that crashes, starts again, and freezes. Its tasks are lost in a crash and late after a freeze. */
final class Host {

    private final Simulation simulation;
    private final List<Runnable> late = new ArrayList<>();
    private int life;
    private boolean up;
    private boolean frozen;

    Host(Simulation simulation) {
        this.simulation = simulation;
    }

    /** How many runs of the process there were: the incarnation of this one. */
    int life() {
        return life;
    }

    boolean isUp() {
        return up;
    }

    boolean isFrozen() {
        return frozen;
    }

    /** Runs a task later, if this run of the process still exists then. */
    void after(long millis, Runnable task) {
        int current = life;
        simulation.after(millis * 1_000_000, () -> run(current, task));
    }

    /** Runs a task in one run of the process only. */
    void run(int expectedLife, Runnable task) {
        if (!up || expectedLife != life) {
            return;
        }
        if (frozen) {
            late.add(() -> run(expectedLife, task));
        } else {
            task.run();
        }
    }

    void start() {
        life++;
        up = true;
    }

    void crash() {
        up = false;
        frozen = false;
        late.clear();
    }

    void freeze() {
        frozen = up;
    }

    /** Does everything that became due while the process was frozen, in that order. */
    void wake() {
        frozen = false;
        List<Runnable> tasks = List.copyOf(late);
        late.clear();
        tasks.forEach(Runnable::run);
    }
}
