// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.thread.AnyThread;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Bounds what has come from peers and was not handled yet, of each and of all. Who delivers the frame of a peer that has
 * too much here waits, so that the transport slows that peer; others go on. A thread that waits takes no lock along, and
 * nothing that the cluster's loop does waits for a transport: whatever the loop handles lets it go on.
 */
@AnyThread
final class FrameGate {

    /** What a frame costs beyond its bytes; bounds the number of small ones, too. */
    static final int FRAME_OVERHEAD = 128;

    private static final long PEER_BYTES = 4L * 1024 * 1024;
    private static final long ALL_BYTES = 32L * 1024 * 1024;

    /** Who has less here does not wait for others. */
    private static final long FREE_BYTES = 64 * 1024;

    /** Half of the threads that the transport has: the others are for heartbeats, and for peers that need not wait. */
    private static final int MAXIMUM_WAITING = 16;

    private final long peerBytes;
    private final long allBytes;
    private final Map<Peer, Line> lines = new ConcurrentHashMap<>();
    private final AtomicLong all = new AtomicLong();
    private final Object change = new Object();
    private volatile int waiting; // written under the lock
    private volatile boolean closed;

    /** Frames of one peer. */
    static final class Line {

        private final AtomicLong bytes = new AtomicLong();
    }

    /** Creates a gate with the bounds of a node. */
    FrameGate() {
        this(PEER_BYTES, ALL_BYTES);
    }

    /**
     * Creates a gate.
     *
     * @param peerBytes of one peer, except for a single frame that is longer
     * @param allBytes of all peers together, except for what each has when it has hardly anything
     */
    FrameGate(long peerBytes, long allBytes) {
        this.peerBytes = peerBytes;
        this.allBytes = allBytes;
    }

    /**
     * A frame has come. Waits while there is no room for it.
     *
     * @param from whose it is
     * @param length its bytes
     * @return what {@link #handled} wants; null if the frame is to be thrown away, because the gate was closed, the thread
     *     interrupted, or too many threads wait
     */
    @Nullable
    Line enter(Peer from, int length) {
        Line line = lines.get(from);
        if (line == null) {
            line = lines.computeIfAbsent(from, key -> new Line());
        }
        long cost = (long) length + FRAME_OVERHEAD;
        long mine = line.bytes.getAndAdd(cost);
        long total = all.getAndAdd(cost);
        if (mine > 0 && mine + cost > peerBytes || mine > FREE_BYTES && total + cost > allBytes) {
            return enterLater(line, cost);
        }
        return line;
    }

    private @Nullable Line enterLater(Line line, long cost) {
        take(line, cost);
        synchronized (change) {
            if (waiting >= MAXIMUM_WAITING) {
                return null;
            }
            waiting++; // before looking: who takes something out from now on tells
            try {
                while (!closed && !hasRoom(line)) {
                    change.wait();
                }
                if (closed) {
                    return null;
                }
                line.bytes.addAndGet(cost);
                all.addAndGet(cost);
                return line;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return null;
            } finally {
                waiting--;
            }
        }
    }

    /** Not as soon as there is room for one frame: a thread that wakes up costs more than a frame does. */
    private boolean hasRoom(Line line) {
        long mine = line.bytes.get();
        return mine <= peerBytes / 2 && (mine <= FREE_BYTES || all.get() <= allBytes / 2);
    }

    /** A frame was handled, or is not going to be. */
    void handled(Line line, int length) {
        take(line, (long) length + FRAME_OVERHEAD);
    }

    private void take(Line line, long cost) {
        long mine = line.bytes.addAndGet(-cost);
        long total = all.addAndGet(-cost);
        if (waiting > 0
                && (falls(mine, cost, peerBytes / 2)
                        || falls(mine, cost, FREE_BYTES)
                        || falls(total, cost, allBytes / 2))) {
            synchronized (change) {
                change.notifyAll();
            }
        }
    }

    private static boolean falls(long now, long difference, long bound) {
        return now <= bound && now + difference > bound;
    }

    /** Forgets peers that are not there and of which nothing is here. */
    void keepOnly(Set<Peer> present) {
        lines.entrySet()
                .removeIf(line -> !present.contains(line.getKey())
                        && line.getValue().bytes.get() == 0);
    }

    /** Nobody waits any more: what there is no room for is thrown away. */
    void close() {
        closed = true;
        synchronized (change) {
            change.notifyAll();
        }
    }

    /** What waits, in bytes, with what each frame costs beyond its own. */
    long bytes() {
        return all.get();
    }

    /** How many threads wait now. */
    int waiting() {
        return waiting;
    }
}
