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
 * Limits the received frames that are not yet handled, per peer and in total. A thread that delivers a frame of a peer above its limit
 * waits, so that the transport slows that peer; other peers are not affected. A waiting thread holds no lock, and the cluster's loop never
 * waits for a transport, so the loop always makes room.
 */
@AnyThread
final class FrameGate {

    /** The overhead per frame, which also limits the number of small ones. */
    static final int FRAME_OVERHEAD = 128;

    private static final long PEER_BYTES = 4L * 1024 * 1024;
    private static final long ALL_BYTES = 32L * 1024 * 1024;

    /** A peer with fewer bytes does not wait for others. */
    private static final long FREE_BYTES = 64 * 1024;

    /** Half of the threads of the transport: the others are for heartbeats, and for peers below their limit. */
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

    /** Creates a gate with the limits of a node. */
    FrameGate() {
        this(PEER_BYTES, ALL_BYTES);
    }

    /**
     * Creates a gate.
     *
     * @param peerBytes limit of one peer, except for a single larger frame
     * @param allBytes limit of all peers together, except for a small allowance of each peer
     */
    FrameGate(long peerBytes, long allBytes) {
        this.peerBytes = peerBytes;
        this.allBytes = allBytes;
    }

    /**
     * Admits a received frame. Waits while there is no room for it.
     *
     * @param from its sender
     * @param length its size in bytes
     * @return the argument for {@link #handled}; null if the frame must be dropped, because the gate was closed, the thread interrupted,
     *     or too many threads wait
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
            waiting++; // before the check: from now on a release notifies this thread
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

    /** Notifies late, with room for several frames, because waking a thread costs more than a frame. */
    private boolean hasRoom(Line line) {
        long mine = line.bytes.get();
        return mine <= peerBytes / 2 && (mine <= FREE_BYTES || all.get() <= allBytes / 2);
    }

    /** Releases a frame that was handled or dropped. */
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

    /** Removes unreachable peers without frames. */
    void keepOnly(Set<Peer> present) {
        lines.entrySet()
                .removeIf(line -> !present.contains(line.getKey())
                        && line.getValue().bytes.get() == 0);
    }

    /** Closes the gate: frames without room are dropped instead of waiting. */
    void close() {
        closed = true;
        synchronized (change) {
            change.notifyAll();
        }
    }

    /** Bytes of waiting frames, with the overhead of each frame. */
    long bytes() {
        return all.get();
    }

    /** The number of waiting threads. */
    int waiting() {
        return waiting;
    }
}
