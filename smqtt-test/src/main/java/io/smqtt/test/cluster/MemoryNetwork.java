// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.cluster;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.smqtt.spi.ClusterTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A network between the brokers of one JVM that form a cluster, in real time, which a test can divide and make a bad one. Frames are carried
 * by one thread, at once and in order unless {@link Faults} say otherwise. Thread-safe.
 *
 * <pre>{@code
 * import io.smqtt.Broker;
 * import io.smqtt.cluster.ClusterModule;
 * import io.smqtt.test.cluster.MemoryNetwork;
 * import java.time.Duration;
 *
 * MemoryNetwork network = new MemoryNetwork();
 * Broker.builder().module(ClusterModule.of(config, network.transport("a"))) …
 * network.partition("a"); // a sees nobody
 * network.heal();
 * network.faults(new MemoryNetwork.Faults(Duration.ofMillis(1), Duration.ofMillis(20), 0.1, 0.1));
 * }</pre>
 */
public final class MemoryNetwork implements AutoCloseable {

    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("memory-network", true));

    // of the thread
    private final List<End> ends = new ArrayList<>();
    private final Random random;
    private Set<String> island = Set.of();
    private Faults faults = Faults.NONE;

    /** Creates a network in which all see each other. */
    public MemoryNetwork() {
        this(1);
    }

    /**
     * Creates a network in which all see each other, with faults of another seed. The same seed decides the fate of the first frame, the
     * second, and so on in the same way; which frame is the first is up to the brokers, which run in real time. So a run that
     * failed is likely to fail again with its seed, and not bound to.
     *
     * @param seed where the choices of {@link Faults} come from
     */
    public MemoryNetwork(long seed) {
        random = new Random(seed);
    }

    /**
     * Faults of the network between nodes. Nodes are not told that a peer is gone: for that there is {@link #partition}.
     *
     * @param shortest the shortest delay of a frame, 0 or more
     * @param longest the longest delay; delays that differ put frames out of order
     * @param loss the share of frames that are lost, 0 to 1
     * @param doubled the share of frames that are carried twice, each with a delay and a chance of loss of its own, 0 to 1
     */
    public record Faults(Duration shortest, Duration longest, double loss, double doubled) {

        /** A good network: all arrives at once. */
        public static final Faults NONE = new Faults(Duration.ZERO, Duration.ZERO, 0, 0);

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException if a delay is negative, the longest is below the shortest, or a share is not 0 to 1
         */
        public Faults {
            if (shortest.isNegative() || longest.compareTo(shortest) < 0) {
                throw new IllegalArgumentException("delays from " + shortest + " to " + longest);
            }
            if (!(loss >= 0 && loss <= 1 && doubled >= 0 && doubled <= 1)) {
                throw new IllegalArgumentException("shares of " + loss + " and " + doubled + " are not 0 to 1");
            }
        }
    }

    /**
     * Sets what happens to frames that are sent from now on. Takes the place of earlier faults; partitions stay.
     *
     * @param next the faults, {@link Faults#NONE} to end them
     */
    public void faults(Faults next) {
        run(() -> faults = next);
    }

    /**
     * A node's end of the network.
     *
     * @param node the name of the node, which partitions go by
     * @return a transport for one module
     */
    public ClusterTransport transport(String node) {
        return new End(node);
    }

    /**
     * Divides the network in two: these nodes on one side, all others on the other. Both sides learn of it before this returns; frames
     * under way are lost. Takes the place of an earlier partition.
     *
     * @param nodes the names of one side
     */
    public void partition(String... nodes) {
        Set<String> side = Set.of(nodes);
        run(() -> {
            island = side;
            ends.forEach(this::look);
        });
    }

    /** Makes the network whole again. All learn of it before this returns. */
    public void heal() {
        partition();
    }

    private void run(Runnable task) {
        Future<?> done = thread.submit(task);
        try {
            done.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a node failed to take the news", e.getCause());
        }
    }

    /** Tells a node what it sees now. */
    private void look(End end) {
        for (End other : ends) {
            boolean sees = other != end && island.contains(end.node) == island.contains(other.node);
            if (sees && end.seen.add(other)) {
                end.handler().up(other);
            } else if (!sees && end.seen.remove(other)) {
                end.handler().down(other);
            }
        }
    }

    /** Ends the network. The brokers are to be closed before. */
    @Override
    public void close() {
        thread.shutdown();
    }

    private final class End implements ClusterTransport, ClusterTransport.Peer {

        private final String node;
        private final Set<End> seen = new HashSet<>();
        private @Nullable Handler handler;

        End(String node) {
            this.node = node;
        }

        private Handler handler() {
            Handler started = handler;
            if (started == null) {
                throw new IllegalStateException(node + " has not started");
            }
            return started;
        }

        @Override
        public Mono<Void> start(Handler first) {
            return Mono.create(sink -> thread.execute(() -> {
                handler = first;
                ends.add(this);
                ends.forEach(MemoryNetwork.this::look);
                sink.success();
            }));
        }

        @Override
        public boolean send(Peer peer, byte[] frame, boolean bulk) {
            if (!(peer instanceof End to) || thread.isShutdown()) {
                return false;
            }
            thread.execute(() -> {
                carry(to, frame);
                if (faults.doubled() > 0 && random.nextDouble() < faults.doubled()) {
                    carry(to, frame.clone()); // what arrives is the receiver's
                }
            });
            return true;
        }

        private void carry(End to, byte[] frame) {
            if (faults.loss() > 0 && random.nextDouble() < faults.loss()) {
                return;
            }
            long range = faults.longest().toNanos() - faults.shortest().toNanos();
            long delay = faults.shortest().toNanos() + (range == 0 ? 0 : (long) (random.nextDouble() * range));
            if (delay == 0) {
                arrive(to, frame);
            } else if (!thread.isShutdown()) {
                thread.schedule(() -> arrive(to, frame), delay, TimeUnit.NANOSECONDS);
            }
        }

        private void arrive(End to, byte[] frame) {
            if (ends.contains(this) && seen.contains(to)) {
                to.handler().received(this, frame);
            }
        }

        @Override
        public Mono<Void> stop() {
            return Mono.create(sink -> thread.execute(() -> {
                ends.remove(this);
                for (End other : ends) {
                    if (other.seen.remove(this)) {
                        other.handler().down(this);
                    }
                }
                seen.clear();
                sink.success();
            }));
        }

        @Override
        public String toString() {
            return node;
        }
    }
}
