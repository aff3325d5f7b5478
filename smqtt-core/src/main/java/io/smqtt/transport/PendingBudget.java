// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What all connections of one broker hold together that are not let in yet. Each event loop counts its own; past the limit it
 * closes its oldest connections whose CONNECT is not complete, until there is room again.
 *
 * <p>Any thread, unless a method says otherwise.
 */
final class PendingBudget {

    private final Map<EventLoop, PendingConnections> byLoop = new HashMap<>(); // never changed after construction
    private final List<PendingConnections> all;
    private final long limitBytes;

    PendingBudget(long limitBytes, List<EventLoop> loops) {
        this.limitBytes = limitBytes;
        loops.forEach(loop -> byLoop.put(loop, new PendingConnections()));
        all = List.copyOf(byLoop.values());
    }

    /** Those of the event loop that calls. */
    PendingConnections of(EventLoop loop) {
        PendingConnections own = byLoop.get(loop);
        if (own == null) {
            throw new IllegalStateException("not an event loop of this broker: " + loop);
        }
        return own;
    }

    /** What has arrived on connections that are not let in yet. */
    long bytes() {
        long sum = 0;
        for (PendingConnections pending : all) {
            sum += pending.bytes();
        }
        return sum;
    }

    boolean isExceeded() {
        return bytes() > limitBytes;
    }

    /**
     * Makes room after a connection has received something. On the connection's event loop.
     *
     * @return false if the connection itself had to be closed
     */
    boolean makeRoom(PendingConnection receiver, EventLoop loop) {
        PendingConnections own = of(loop);
        while (isExceeded()) {
            PendingConnection oldest = own.oldest();
            if (oldest == receiver && others(own)) { // they hold more than the only one here
                return true;
            }
            if (oldest == null) { // all others are complete, and wait to be let in
                receiver.evict(PendingConnection.BYTES);
            } else {
                oldest.evict(PendingConnection.BYTES);
            }
            if (receiver.isEvicted()) {
                return false;
            }
        }
        return true;
    }

    /** Closes the oldest connection of the event loop that calls whose CONNECT is not complete; false if there is none. */
    boolean evictOldest(EventLoop loop) {
        PendingConnection oldest = of(loop).oldest();
        if (oldest != null) {
            oldest.evict(PendingConnection.COUNT);
        }
        return oldest != null;
    }

    /** Has another event loop make room, if one holds more than this one. */
    private boolean others(PendingConnections own) {
        for (Map.Entry<EventLoop, PendingConnections> other : byLoop.entrySet()) {
            PendingConnections pending = other.getValue();
            if (pending != own && pending.bytes() > own.bytes()) {
                other.getKey().execute(() -> relieve(pending));
                return true;
            }
        }
        return false;
    }

    private void relieve(PendingConnections own) {
        for (PendingConnection oldest = own.oldest(); oldest != null && isExceeded(); oldest = own.oldest()) {
            oldest.evict(PendingConnection.BYTES);
        }
    }
}
