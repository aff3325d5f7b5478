// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * What all connections of one broker hold together that are not let in yet. Each event loop counts its own; past the limit it
 * closes its oldest connections whose CONNECT is not complete, until there is room again. Is there none, one that waits for the
 * answer to its CONNECT goes, if its address holds more than that of the connection that needs the room. An address over its
 * share makes the room itself.
 *
 * <p>Any thread, unless a method says otherwise.
 */
final class PendingBudget {

    /** How many are looked at, oldest first, to find one of an address: a bound to the work for one connection. */
    private static final int LOOK = 64;

    private final Map<EventLoop, PendingConnections> byLoop = new HashMap<>(); // never changed after construction
    private final List<PendingConnections> all;
    private final ConcurrentMap<InetAddress, Long> byAddress = new ConcurrentHashMap<>();
    private final long limitBytes;
    private final long limitBytesPerAddress;

    PendingBudget(long limitBytes, long limitBytesPerAddress, List<EventLoop> loops) {
        this.limitBytes = limitBytes;
        this.limitBytesPerAddress = limitBytesPerAddress;
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

    /** Counts what has arrived from an address, which must have been made by {@link io.smqtt.spi.ClientNetwork#of}. */
    void count(InetAddress address, long change) {
        if (change != 0) {
            byAddress.merge(address, change, (before, more) -> before + more == 0 ? null : before + more);
        }
    }

    int addressCount() {
        return byAddress.size();
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
        while (isOverShare(receiver)) {
            PendingConnection oldest = oldestOf(receiver.address(), own);
            (oldest == null ? receiver : oldest).evict(PendingConnection.BYTES);
            if (receiver.isEvicted()) {
                return false;
            }
        }
        while (isExceeded()) {
            PendingConnection oldest = own.unfinished().oldest();
            if (oldest == receiver && others(own)) { // they hold more than the only one here
                return true;
            }
            if (oldest == null || oldest == receiver) {
                oldest = waitingOfMore(receiver.address(), own);
            }
            (oldest == null ? receiver : oldest).evict(PendingConnection.BYTES);
            if (receiver.isEvicted()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Closes a connection of the event loop that calls to let in one more: the oldest whose CONNECT is not complete, else one that
     * waits and whose address holds more than that of the newcomer.
     *
     * @param newcomer the newcomer's address, or null if it is not known yet
     * @return false if there is none
     */
    boolean evictFor(@Nullable InetAddress newcomer, EventLoop loop) {
        PendingConnections own = of(loop);
        PendingConnection oldest = own.unfinished().oldest();
        if (oldest == null) {
            oldest = waitingOfMore(newcomer, own);
        }
        if (oldest != null) {
            oldest.evict(PendingConnection.COUNT);
        }
        return oldest != null;
    }

    /** Whether its address holds more than its share, and not on this connection alone. */
    private boolean isOverShare(PendingConnection receiver) {
        long held = held(receiver.address());
        return limitBytesPerAddress < limitBytes && held > limitBytesPerAddress && held > receiver.bytesOfAddress();
    }

    private long held(@Nullable InetAddress address) {
        return address == null ? 0 : byAddress.getOrDefault(address, 0L);
    }

    private static @Nullable PendingConnection oldestOf(@Nullable InetAddress address, PendingConnections own) {
        PendingConnection next = own.unfinished().oldest();
        for (int i = 0; i < LOOK && next != null; i++, next = next.newer) {
            if (Objects.equals(address, next.address())) {
                return next;
            }
        }
        return null;
    }

    /** Of the oldest that wait the one whose address holds most, if that is more than the given one holds. */
    private @Nullable PendingConnection waitingOfMore(@Nullable InetAddress address, PendingConnections own) {
        PendingConnection found = null;
        long most = held(address);
        PendingConnection next = own.waiting().oldest();
        for (int i = 0; i < LOOK && next != null; i++, next = next.newer) {
            long held = held(next.address());
            if (held > most) {
                most = held;
                found = next;
            }
        }
        return found;
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
        PendingConnections.Queue unfinished = own.unfinished();
        for (PendingConnection oldest = unfinished.oldest();
                oldest != null && isExceeded();
                oldest = unfinished.oldest()) {
            oldest.evict(PendingConnection.BYTES);
        }
    }
}
