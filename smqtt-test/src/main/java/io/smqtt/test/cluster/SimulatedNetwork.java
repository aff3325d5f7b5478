// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.cluster;

import io.smqtt.spi.ClusterTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Carries frames between simulated processes and does to them what {@link Faults} says. A process sees another one as long
 * as it lives and frames from there can arrive; it learns of a change some time after. Not thread-safe.
 *
 * <pre>{@code
 * import io.smqtt.test.cluster.SimulatedNetwork;
 * import io.smqtt.test.cluster.Simulation;
 * import java.time.Duration;
 *
 * Simulation simulation = new Simulation(42);
 * SimulatedNetwork network = new SimulatedNetwork(simulation);
 * Endpoint a = network.start("a");
 * Endpoint b = network.start("b");
 * network.cut("a", "b");
 * simulation.run(Duration.ofSeconds(30));
 * network.healAll();
 * }</pre>
 */
public final class SimulatedNetwork {

    private final Simulation simulation;
    private final List<Endpoint> processes = new ArrayList<>();
    private final Set<Link> cuts = new HashSet<>();
    private Faults faults = Faults.NONE;
    private Listener listener = (from, to, frame) -> {};
    private long carriedFrames;
    private long carriedBytes;

    /**
     * Creates a network without faults.
     *
     * @param simulation whose time it lives in
     */
    public SimulatedNetwork(Simulation simulation) {
        this.simulation = simulation;
    }

    /**
     * Faults of the simulated network.
     *
     * @param shortest the shortest delay
     * @param longest the longest delay; delays that differ put frames out of order
     * @param inOrder whether frames of one direction keep their order nevertheless
     * @param loss the share of frames that are lost, 0 to 1
     * @param doubled the share of frames that arrive twice, 0 to 1
     * @param detection how long it takes at most until a process learns that it sees another one, or does not any more
     */
    public record Faults(
            Duration shortest, Duration longest, boolean inOrder, double loss, double doubled, Duration detection) {

        /** A good network: half a millisecond, nothing lost. */
        public static final Faults NONE =
                new Faults(Duration.ofNanos(500_000), Duration.ofNanos(500_000), true, 0, 0, Duration.ofMillis(100));
    }

    private record Link(String from, String to) {}

    /** Is shown frames. */
    @FunctionalInterface
    public interface Listener {

        /**
         * A process gives a frame to the network, which may lose it.
         *
         * @param from the process
         * @param to where it goes
         * @param frame a copy of the bytes
         */
        void carried(Endpoint from, Endpoint to, byte[] frame);
    }

    /**
     * Shows frames to somebody from now on, so that a test can keep them and play them again.
     *
     * @param next who sees them; replaces the one before
     */
    public void listen(Listener next) {
        listener = next;
    }

    /**
     * Sets what happens to frames that are sent from now on.
     *
     * @param next the faults
     */
    public void faults(Faults next) {
        faults = next;
    }

    /**
     * Frames that were given to the network, lost ones included.
     *
     * @return frames
     */
    public long carriedFrames() {
        return carriedFrames;
    }

    /**
     * Bytes of these frames.
     *
     * @return bytes
     */
    public long carriedBytes() {
        return carriedBytes;
    }

    /**
     * Starts a process. One that starts again is another process on the same machine.
     *
     * @param machine the name of the machine, which cuts go by
     * @return the process, with its transport
     */
    public Endpoint start(String machine) {
        Endpoint process = new Endpoint(machine, processes.size());
        processes.add(process);
        return process;
    }

    /**
     * Cuts one direction: what the first sends does not reach the second.
     *
     * @param from a machine
     * @param to another machine
     */
    public void cut(String from, String to) {
        cuts.add(new Link(from, to));
        look();
    }

    /** Repairs all links. */
    public void healAll() {
        cuts.clear();
        look();
    }

    private boolean isOpen(Endpoint from, Endpoint to) {
        return from.alive && to.alive && !cuts.contains(new Link(from.machine, to.machine));
    }

    /** Lets all processes learn in a while what they see now. */
    private void look() {
        for (Endpoint process : processes) {
            for (Endpoint other : processes) {
                if (process != other && process.alive && process.handler != null) {
                    simulation.after(between(Duration.ZERO, faults.detection()), () -> process.notice(other));
                }
            }
        }
    }

    private long between(Duration shortest, Duration longest) {
        long range = longest.toNanos() - shortest.toNanos();
        return shortest.toNanos()
                + (range <= 0 ? 0 : (long) (simulation.random().nextDouble() * range));
    }

    /** One end of the network, as a process of its own. */
    public final class Endpoint implements ClusterTransport, ClusterTransport.Peer {

        private final String machine;
        private final int number;
        private final Set<Endpoint> seen = new HashSet<>();
        private final List<Long> lastArrivals = new ArrayList<>();
        private @Nullable Handler handler;
        private boolean alive = true;

        private Endpoint(String machine, int number) {
            this.machine = machine;
            this.number = number;
        }

        /**
         * Where it runs.
         *
         * @return the name of the machine
         */
        public String machine() {
            return machine;
        }

        /**
         * Tells whether it runs.
         *
         * @return false after {@link #crash()}
         */
        public boolean isAlive() {
            return alive;
        }

        @Override
        public Mono<Void> start(Handler first) {
            return Mono.fromRunnable(() -> {
                handler = first;
                look();
            });
        }

        @Override
        public boolean send(Peer peer, byte[] frame, boolean bulk) {
            if (!alive || !(peer instanceof Endpoint to)) {
                return false;
            }
            carriedFrames++;
            carriedBytes += frame.length;
            listener.carried(this, to, frame.clone());
            carry(to, frame);
            if (simulation.random().nextDouble() < faults.doubled()) {
                carry(to, frame);
            }
            return true;
        }

        private void carry(Endpoint to, byte[] frame) {
            if (!isOpen(this, to) || simulation.random().nextDouble() < faults.loss()) {
                return;
            }
            long arrival = simulation.nanoTime() + between(faults.shortest(), faults.longest());
            while (lastArrivals.size() <= to.number) {
                lastArrivals.add(0L);
            }
            if (faults.inOrder()) {
                arrival = Math.max(arrival, lastArrivals.get(to.number));
                lastArrivals.set(to.number, arrival);
            }
            simulation.after(arrival - simulation.nanoTime(), () -> {
                Handler receiver = to.handler;
                if (to.alive && receiver != null) {
                    receiver.received(this, frame.clone());
                }
            });
        }

        private void notice(Endpoint other) {
            Handler told = handler;
            if (!alive || told == null) {
                return;
            }
            boolean sees = other.handler != null && isOpen(other, this);
            if (sees && seen.add(other)) {
                told.up(other);
            } else if (!sees && seen.remove(other)) {
                told.down(other);
            }
        }

        @Override
        public Mono<Void> stop() {
            return Mono.fromRunnable(this::crash);
        }

        /** Ends the process from one moment to the next. */
        public void crash() {
            alive = false;
            look();
        }

        @Override
        public String toString() {
            return machine + '#' + number;
        }
    }
}
