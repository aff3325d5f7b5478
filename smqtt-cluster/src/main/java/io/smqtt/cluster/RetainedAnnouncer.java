// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Announces the changes of retained messages to all nodes, several in a frame, and releases the tickets of their publishers when all reachable
 * nodes have acknowledged them. A frame is acknowledged on its own, in any order, and sent again to the nodes that have not; tickets are released
 * in the order of the frames. Acknowledgements are requested from the first publisher on that waits.
 *
 * <p>While no frame waits for an acknowledgement, the next one leaves at once; otherwise changes are collected until it has come, a flush interval
 * at most.
 */
@OnClusterLoop
final class RetainedAnnouncer {

    /** The maximum number of frames that are sent again at a time. */
    private static final int AGAIN_PER_TICK = 8;

    private final ClusterSettings settings;
    private final LongSupplier nanoTime;
    private final Executor loop;
    private final Consumer<Runnable> soon;
    private final RetainedWire wire;

    private final Map<String, RetainedRow> unsaid = new LinkedHashMap<>();
    private int unsaidBytes;
    private boolean flushDue;
    private boolean flushNow;
    private volatile boolean wanted;

    /** The tickets of changes that are not announced yet. */
    private List<RouteTicket> waiting = new ArrayList<>();

    /** The frames that are not acknowledged, or behind such ones, by number. */
    private final Map<Long, Said> said = new LinkedHashMap<>();

    private long lastNumber;
    private long saidRows;
    private long saidBytes;
    private long unawaited;

    /** A frame, and the nodes that have not acknowledged it. */
    private static final class Said {

        private final List<RetainedRow> rows;
        private final long bytes;
        private final Set<Peer> missing;
        private final List<RouteTicket> tickets;
        private long sentNanos;

        Said(List<RetainedRow> rows, long bytes, Set<Peer> missing, List<RouteTicket> tickets, long sentNanos) {
            this.rows = rows;
            this.bytes = bytes;
            this.missing = missing;
            this.tickets = tickets;
            this.sentNanos = sentNanos;
        }
    }

    /**
     * Creates it without changes.
     *
     * @param settings sizes, limits and intervals
     * @param nanoTime the broker's monotonic clock
     * @param loop the cluster's loop
     * @param soon runs a task on the loop after the flush interval
     * @param wire carries frames
     */
    RetainedAnnouncer(
            ClusterSettings settings,
            LongSupplier nanoTime,
            Executor loop,
            Consumer<Runnable> soon,
            RetainedWire wire) {
        this.settings = settings;
        this.nanoTime = nanoTime;
        this.loop = loop;
        this.soon = soon;
        this.wire = wire;
    }

    /** From now on acknowledgements are requested: a publisher is about to wait. */
    @AnyThread
    void expect() {
        if (!wanted) {
            wanted = true;
        }
    }

    /** Announces a change. */
    void say(RetainedRow row) {
        unsaid.put(row.topic(), row);
        unsaidBytes += row.bytes();
        if (unsaid.size() >= settings.rowsPerFrame() || unsaidBytes >= settings.frameBytes()) {
            flush();
        } else if (!flushDue) {
            flushDue = true;
            soon.accept(() -> {
                flushDue = false;
                flush();
            });
        }
    }

    /** Releases a ticket, which is held for that, when all reachable nodes have the changes that were announced up to now. */
    void await(RouteTicket ticket) {
        if (!unsaid.isEmpty()) {
            waiting.add(ticket);
            if (said.isEmpty() && !flushNow) {
                flushNow = true;
                loop.execute(
                        () -> { // with the changes that are queued before
                            flushNow = false;
                            flush();
                        });
            }
        } else if (said.isEmpty()) {
            ticket.release(true);
        } else {
            last().tickets.add(ticket);
        }
    }

    private Said last() {
        Said last = said.get(lastNumber);
        if (last == null) {
            throw new IllegalStateException("no frame waits");
        }
        return last;
    }

    private void flush() {
        if (unsaid.isEmpty()) {
            return;
        }
        List<RetainedRow> rows = new ArrayList<>(unsaid.values());
        long bytes = unsaidBytes;
        List<RouteTicket> tickets = waiting;
        unsaid.clear();
        unsaidBytes = 0;
        waiting = new ArrayList<>();
        Set<Peer> missing = wanted ? new HashSet<>(wire.retainers()) : Set.of();
        if (!missing.isEmpty()) {
            wire.broadcast(new Frame.RetainedUpdate(rows, ++lastNumber));
            said.put(lastNumber, new Said(rows, bytes, missing, tickets, nanoTime.getAsLong()));
            saidRows += rows.size();
            saidBytes += bytes;
            while (saidRows > settings.queueMessages() || saidBytes > settings.queueBytes()) {
                Iterator<Said> first = said.values().iterator();
                unawaited += settle(first);
            }
        } else {
            wire.broadcast(new Frame.RetainedUpdate(rows));
            if (said.isEmpty()) {
                tickets.forEach(ticket -> ticket.release(true));
            } else {
                last().tickets.addAll(tickets);
            }
        }
    }

    /** Removes the next frame, and releases its tickets; returns the number of its changes. */
    private int settle(Iterator<Said> next) {
        Said first = next.next();
        next.remove();
        saidRows -= first.rows.size();
        saidBytes -= first.bytes;
        first.tickets.forEach(ticket -> ticket.release(true));
        return first.rows.size();
    }

    /** A node has all changes of a frame. */
    void known(Peer peer, long number) {
        Said frame = said.get(number);
        if (frame != null && frame.missing.remove(peer) && frame.missing.isEmpty()) {
            settleKnown();
        }
    }

    /** A node has become unreachable: it compares its messages when it returns. */
    void gone(Peer peer) {
        said.values().forEach(frame -> frame.missing.remove(peer));
        settleKnown();
    }

    private void settleKnown() {
        Iterator<Said> frames = said.values().iterator();
        for (Said first = first(); first != null && first.missing.isEmpty(); first = first()) {
            settle(frames);
        }
        if (said.isEmpty() && !waiting.isEmpty()) {
            flush();
        }
    }

    private @Nullable Said first() {
        Iterator<Said> frames = said.values().iterator();
        return frames.hasNext() ? frames.next() : null;
    }

    /** Awaits the nodes that are reachable, and no others, and sends frames again whose acknowledgement is missing for long. Called periodically. */
    void tick() {
        if (said.isEmpty()) {
            return;
        }
        Set<Peer> reachable = wire.retainers();
        said.values().forEach(frame -> frame.missing.retainAll(reachable));
        settleKnown();
        long now = nanoTime.getAsLong();
        int again = 0;
        for (Map.Entry<Long, Said> each : said.entrySet()) {
            Said frame = each.getValue();
            if (again >= AGAIN_PER_TICK
                    || now - frame.sentNanos < settings.retransmit().toNanos()) {
                return; // later ones were sent later
            }
            if (!frame.missing.isEmpty()) {
                frame.sentNanos = now;
                again++;
                frame.missing.forEach(peer -> wire.send(peer, new Frame.RetainedUpdate(frame.rows, each.getKey())));
            }
        }
    }

    /** Whether all changes were announced. */
    boolean hasNothingToSay() {
        return unsaid.isEmpty();
    }

    /** The number of changes that were not awaited any more, because too many wait for a node. */
    long unawaited() {
        return unawaited;
    }

    /** The number of frames that wait for an acknowledgement, or behind such ones. */
    int unacknowledged() {
        return said.size();
    }
}
