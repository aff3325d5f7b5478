// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.test.cluster.SimulatedLoop;
import io.smqtt.test.cluster.Simulation;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Keeps frames instead of sending them.
 *
 * @param others the nodes that are reachable
 * @param keepers those that keep sessions of others
 * @param earlier those of a version that does not know the adoption of stores
 * @param strangers those that are connected and not known yet
 */
record RecordingWire(
        Simulation simulation,
        SimulatedLoop loop,
        List<Frame> said,
        Collection<String> others,
        Collection<String> keepers,
        Collection<String> earlier,
        Collection<String> strangers)
        implements ClientWire {

    /** Without other nodes. */
    RecordingWire(Simulation simulation, List<Frame> said) {
        this(simulation, said, List.of(), List.of(), List.of());
    }

    RecordingWire(
            Simulation simulation,
            List<Frame> said,
            Collection<String> others,
            Collection<String> keepers,
            Collection<String> earlier) {
        this(simulation, new SimulatedLoop(simulation), said, others, keepers, earlier, List.of());
    }

    RecordingWire(Simulation simulation, List<Frame> said, Collection<String> others, Collection<String> strangers) {
        this(simulation, new SimulatedLoop(simulation), said, others, others, List.of(), strangers);
    }

    @Override
    public boolean knowsOthers() {
        return strangers.isEmpty();
    }

    @Override
    public NodeIdentity self() {
        return new NodeIdentity("self", 1);
    }

    @Override
    public boolean ignoresServers(String nodeId) {
        return earlier.contains(nodeId);
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
        // there is no other clock
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
