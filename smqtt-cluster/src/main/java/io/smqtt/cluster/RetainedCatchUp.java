// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The changes that other nodes have acknowledged without this one: while this node did not run, did not respond, or was on the smaller side of a partition.
 * When it reaches them again it is behind until it has compared its retained messages with those of each of them, as they are after its
 * question: answers to earlier ones, which may have waited here for long, do not count. Meanwhile its clients wait for their SUBACK.
 */
@OnClusterLoop
final class RetainedCatchUp {

    /** The longest wait of a client. */
    static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** The longest wait after a pause until nodes that were reachable before accept this one again. */
    private static final long RETURN_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The time in which the nodes of one view are connected at the latest. */
    private static final long TOGETHER_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The ticks after which a question is repeated: the other node may not know this one yet. */
    private static final int AGAIN_TICKS = 3;

    private final RetainedEntries entries;
    private final RetainedWrites writes;
    private final RetainedWire wire;
    private final LongSupplier nanoTime;
    private final Pauses pauses;
    private final Map<Peer, Open> open = new LinkedHashMap<>();
    private final List<Waiter> waiting = new ArrayList<>();
    private long lastNumber;
    private boolean behind = true;
    private boolean caughtUp;
    private long caughtUpNanos;
    private boolean paused;
    private long pausedNanos;
    private volatile boolean closed;

    private long attempts;

    /**
     * Creates it for a node that has just been started.
     *
     * @param entries the retained messages of this node
     * @param writes the changes that are not in the tree yet
     * @param wire asks other nodes
     * @param nanoTime the broker's monotonic clock
     * @param pauses notices that this process has not run
     */
    RetainedCatchUp(
            RetainedEntries entries, RetainedWrites writes, RetainedWire wire, LongSupplier nanoTime, Pauses pauses) {
        this.entries = entries;
        this.writes = writes;
        this.wire = wire;
        this.nanoTime = nanoTime;
        this.pauses = pauses;
        pauses.whenPaused(this::paused);
    }

    /** The comparison with one node. */
    private static final class Open {

        private final long number;
        private int ticks;

        /** The parts that may differ; null before the answer. */
        private @Nullable BitSet due;

        private long[] theirs = {};

        Open(long number) {
            this.number = number;
        }
    }

    private record Waiter(Runnable then, long deadlineNanos) {}

    /** Whether clients that subscribe wait. */
    @AnyThread
    boolean isClosed() {
        return closed || pauses.isOverdue();
    }

    /** Whether all is known here that the reachable nodes have acknowledged without this one. */
    boolean isOver() {
        return open.isEmpty() && writes.isEmpty();
    }

    /** Runs a task when this node has caught up, or after the longest wait. */
    void whenOver(Runnable then) {
        long now = nanoTime.getAsLong();
        pauses.alive(now);
        if (closed) {
            waiting.add(new Waiter(then, now + LONGEST_NANOS));
        } else {
            then.run();
        }
    }

    /** This node is connected to a process. */
    void connected(Peer peer) {
        if (behind || (caughtUp && nanoTime.getAsLong() - caughtUpNanos < TOGETHER_NANOS)) {
            begin(peer);
            update();
        }
    }

    /** A node is no longer reachable: the others may acknowledge changes without this one from now on. */
    void left() {
        behind |= wire.isSmallerSide();
    }

    private void paused() {
        Set<Peer> reachable = wire.retainers();
        if (!reachable.isEmpty()) {
            behind = true;
            paused = true;
            pausedNanos = nanoTime.getAsLong();
            reachable.forEach(this::begin);
            update();
        }
    }

    private void begin(Peer peer) {
        Open next = new Open(++lastNumber);
        open.put(peer, next);
        wire.sendFirst(peer, new Frame.RetainedAsk(next.number));
    }

    /** A node has become unreachable. */
    void gone(Peer peer) {
        pauses.alive(nanoTime.getAsLong()); // nodes that this one has lost during a pause were reachable before
        open.remove(peer);
        update();
    }

    /**
     * A node has announced its hashes.
     *
     * @param answers the number of the question that it answers; 0 without one
     * @return the parts that must be compared with it; null if it is not awaited
     */
    @Nullable
    BitSet heard(Peer peer, long[] theirs, long answers) {
        Open known = open.get(peer);
        if (known == null || theirs.length != RetainedEntries.PARTS || (known.due == null && known.number != answers)) {
            return null;
        }
        if (known.due == null) {
            known.due = new BitSet(RetainedEntries.PARTS);
            known.due.set(0, RetainedEntries.PARTS);
        }
        known.theirs = theirs;
        for (int part = 0; part < theirs.length; part++) {
            check(known, part);
        }
        BitSet due = known.due;
        update();
        return due.isEmpty() ? null : due;
    }

    /** The newer messages of a node in a part have come. */
    void compared(Peer peer, int part) {
        Open known = open.get(peer);
        if (known != null && known.due != null) {
            known.due.clear(part);
        }
        open.values().forEach(other -> check(other, part));
        update();
    }

    private void check(Open other, int part) {
        if (other.due != null
                && (other.theirs[part] == entries.hash(part) || other.theirs[part] == 0)) { // or it has none
            other.due.clear(part);
        }
    }

    private void update() {
        if (open.values().removeIf(other -> other.due != null && other.due.isEmpty()) && open.isEmpty()) {
            behind = false;
            paused = false;
            caughtUp = true;
            caughtUpNanos = nanoTime.getAsLong();
        }
        paused &= nanoTime.getAsLong() - pausedNanos < RETURN_NANOS;
        if (!open.isEmpty() || paused) {
            closed = true;
        } else if (closed) {
            long attempt = ++attempts;
            writes.whenWritten(() -> {
                if (attempt == attempts && open.isEmpty() && !paused) { // otherwise more has come since
                    over();
                }
            });
        }
    }

    private void over() {
        closed = false;
        List<Waiter> all = List.copyOf(waiting);
        waiting.clear();
        all.forEach(waiter -> waiter.then.run());
    }

    /** Repeats questions, and ends waits that take too long. Called periodically. */
    void tick() {
        if (!closed) {
            return;
        }
        open.keySet().retainAll(wire.retainers());
        open.forEach((peer, other) -> {
            other.ticks++;
            if (other.due == null && other.ticks % AGAIN_TICKS == 0) {
                wire.sendFirst(peer, new Frame.RetainedAsk(other.number));
            }
        });
        update();
        long now = nanoTime.getAsLong();
        Iterator<Waiter> waiters = waiting.iterator();
        while (waiters.hasNext()) {
            Waiter waiter = waiters.next();
            if (now - waiter.deadlineNanos < 0) {
                return; // later ones have come later
            }
            waiters.remove();
            waiter.then.run();
        }
    }
}
