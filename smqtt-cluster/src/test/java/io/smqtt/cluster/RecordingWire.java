// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.test.cluster.SimulatedLoop;
import io.smqtt.test.cluster.Simulation;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Keeps what is said instead of sending it. */
record RecordingWire(Simulation simulation, SimulatedLoop loop, List<Frame> said) implements ClientWire {

    RecordingWire(Simulation simulation, List<Frame> said) {
        this(simulation, new SimulatedLoop(simulation), said);
    }

    @Override
    public NodeIdentity self() {
        return new NodeIdentity("self", 1);
    }

    @Override
    public Collection<String> others() {
        return List.of();
    }

    @Override
    public boolean reaches(String nodeId, long epoch) {
        return true;
    }

    @Override
    public void send(String nodeId, Frame.Client frame) {
        said.add(frame);
    }

    @Override
    public long nextClock() {
        return simulation.nanoTime();
    }

    @Override
    public void heardClock(long clock) {
        // nobody else is there
    }

    @Override
    public long nanoTime() {
        return simulation.nanoTime();
    }

    @Override
    public void later(long millis, Runnable task) {
        loop.schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }
}
