// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.cluster;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.smqtt.spi.ClusterTransport;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A network between the brokers of one JVM that form a cluster, in real time, which a test can divide. Frames are carried by one thread, at
 * once and in order. Thread-safe.
 *
 * <pre>{@code
 * MemoryNetwork network = new MemoryNetwork();
 * Broker.builder().module(ClusterModule.of(config, network.transport("a"))) …
 * network.partition("a"); // a sees nobody
 * network.heal();
 * }</pre>
 */
public final class MemoryNetwork implements AutoCloseable {

    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("memory-network", true));

    // of the thread
    private final List<End> ends = new ArrayList<>();
    private Set<String> island = Set.of();

    /** Creates a network in which all see each other. */
    public MemoryNetwork() {}

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
                if (ends.contains(this) && seen.contains(to)) {
                    to.handler().received(this, frame);
                }
            });
            return true;
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
