// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/**
 * Answers requests for the routes of this node: with the missed changes if these are still kept, otherwise with a snapshot of all rows, of
 * which a limited number is in flight at a time. While a node receives a snapshot, later changes are kept for it.
 */
@OnClusterLoop
final class RouteSender {

    private static final long FORGOTTEN_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final OwnRoutes own;
    private final ClusterSettings settings;
    private final LongSupplier nanoTime;
    private final BiConsumer<Peer, Frame> send;
    private final Map<Peer, Snapshot> snapshots = new HashMap<>();
    private long numbers;

    /**
     * Creates a sender.
     *
     * @param own the routes of this node
     * @param settings sizes
     * @param nanoTime the broker's monotonic clock
     * @param send passes a frame to the transport
     */
    RouteSender(OwnRoutes own, ClusterSettings settings, LongSupplier nanoTime, BiConsumer<Peer, Frame> send) {
        this.own = own;
        this.settings = settings;
        this.nanoTime = nanoTime;
        this.send = send;
    }

    /**
     * A node has missed changes.
     *
     * @param known the last change that it has, or {@link Frame#NOTHING}
     */
    void answer(Peer to, long known) {
        snapshots.remove(to);
        if (own.knowsChangesAfter(known)) {
            sendChanges(to, known);
        } else {
            numbers++;
            Snapshot snapshot = new Snapshot(numbers, own.sequence(), rows());
            snapshots.put(to, snapshot);
            push(to, snapshot);
        }
        keep();
    }

    /** A node requests more parts of a snapshot. */
    void answer(Peer to, Frame.More more) {
        Snapshot snapshot = snapshots.get(to);
        if (snapshot == null || snapshot.number != more.number()) {
            if (more.again()) { // the others belong to a replaced snapshot
                answer(to, more.haveSequence());
            }
        } else if (more.part() >= snapshot.parts) {
            answer(to, snapshot.sequence); // later changes
        } else {
            snapshot.asked = Math.max(snapshot.asked, more.part());
            snapshot.next = more.again() ? more.part() : Math.max(snapshot.next, more.part());
            push(to, snapshot);
        }
    }

    private void sendChanges(Peer to, long known) {
        List<RouteRow> rows = own.changesAfter(known);
        int size = settings.rowsPerFrame();
        for (int from = 0; from < rows.size(); from += size) {
            send.accept(to, new Frame.Delta(known + 1 + from, rows.subList(from, Math.min(rows.size(), from + size))));
        }
    }

    private void push(Peer to, Snapshot snapshot) {
        snapshot.askedAtNanos = nanoTime.getAsLong();
        int size = settings.rowsPerFrame();
        int end = Math.min(snapshot.parts, snapshot.asked + settings.snapshotFrames());
        for (; snapshot.next < end; snapshot.next++) {
            int from = snapshot.next * size;
            List<RouteRow> part = snapshot.rows.subList(from, Math.min(snapshot.rows.size(), from + size));
            send.accept(
                    to, new Frame.Snapshot(snapshot.number, snapshot.sequence, snapshot.next, snapshot.parts, part));
        }
    }

    /** Returns a snapshot of all rows; snapshots are shared between nodes, because there may be millions of rows. */
    private List<RouteRow> rows() {
        for (Snapshot other : snapshots.values()) {
            if (other.sequence == own.sequence()) {
                return other.rows;
            }
        }
        return own.all();
    }

    /** A node has become unreachable. */
    void gone(Peer peer) {
        snapshots.remove(peer);
        keep();
    }

    /** Drops snapshots without requests. Called periodically. */
    void tick() {
        if (!snapshots.isEmpty()) {
            long now = nanoTime.getAsLong();
            snapshots.values().removeIf(snapshot -> now - snapshot.askedAtNanos > FORGOTTEN_NANOS);
            keep();
        }
    }

    private void keep() {
        long oldest = Long.MAX_VALUE;
        for (Snapshot snapshot : snapshots.values()) {
            oldest = Math.min(oldest, snapshot.sequence);
        }
        own.keepAfter(oldest);
    }

    /** The transfer of a snapshot to one node. */
    private final class Snapshot {

        private final long number;
        private final long sequence;
        private final List<RouteRow> rows;
        private final int parts;
        private int asked;
        private int next;
        private long askedAtNanos;

        Snapshot(long number, long sequence, List<RouteRow> rows) {
            this.number = number;
            this.sequence = sequence;
            this.rows = rows;
            this.parts = Math.max(1, (rows.size() + settings.rowsPerFrame() - 1) / settings.rowsPerFrame());
        }
    }
}
