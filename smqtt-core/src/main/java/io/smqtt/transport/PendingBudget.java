// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.EventLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Counts the bytes of all pending connections of one broker, and selects the connection that is closed past a limit. Each event loop
 * counts and closes its own. The oldest connection of the address with the most bytes is closed, whether its CONNECT is complete or not.
 * Of addresses with the same number, one with an incomplete CONNECT is selected; connections that wait for the answer to their CONNECT are
 * kept, because only the broker has work left for them. For an address above its share its own connections are closed.
 */
@AnyThread
final class PendingBudget {

    private final Map<EventLoop, PendingConnections> byLoop = new HashMap<>(); // never changed after construction
    private final List<PendingConnections> all;
    private final ConcurrentMap<InetAddress, Long> byAddress = new ConcurrentHashMap<>();
    private final long limitBytes;
    private final long limitBytesPerAddress;
    private final ToLongFunction<InetAddress> connections;

    /**
     * Creates a budget.
     *
     * @param limitBytes maximum bytes received on all pending connections together
     * @param limitBytesPerAddress the share of an address
     * @param loops the event loops of the broker
     * @param connections the number of pending connections by address
     */
    PendingBudget(
            long limitBytes,
            long limitBytesPerAddress,
            List<EventLoop> loops,
            ToLongFunction<InetAddress> connections) {
        this.limitBytes = limitBytes;
        this.limitBytesPerAddress = limitBytesPerAddress;
        this.connections = connections;
        loops.forEach(loop -> byLoop.put(loop, new PendingConnections()));
        all = List.copyOf(byLoop.values());
    }

    /** Those of the calling event loop. */
    PendingConnections of(EventLoop loop) {
        PendingConnections own = byLoop.get(loop);
        if (own == null) {
            throw new IllegalStateException("not an event loop of this broker: " + loop);
        }
        return own;
    }

    /** The bytes received on pending connections. */
    long bytes() {
        long sum = 0;
        for (PendingConnections pending : all) {
            sum += pending.bytes();
        }
        return sum;
    }

    /** Counts bytes from an address, which must be a result of {@link io.smqtt.spi.ClientNetwork#of}. */
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
     * Makes room after a connection has received something.
     *
     * @return false if the connection itself had to be closed
     */
    @OnEventLoop
    boolean makeRoom(PendingConnection receiver, EventLoop loop) {
        PendingConnections own = of(loop);
        while (isOverShare(receiver)) {
            PendingConnection oldest = own.oldestOf(receiver.address());
            (oldest == null ? receiver : oldest).evict(PendingConnection.BYTES);
            if (receiver.isEvicted()) {
                return false;
            }
        }
        while (isExceeded()) {
            PendingConnection oldest = ofMost(receiver.address(), own, this::held);
            if (oldest == receiver && others(own)) { // they have more than those here
                return true;
            }
            (oldest == null ? receiver : oldest).evict(PendingConnection.BYTES);
            if (receiver.isEvicted()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Closes a connection of the calling event loop to admit one more.
     *
     * @param newcomer the address for which the new connection counts: its client's or its proxy's
     * @return false if no connection can be closed for it
     */
    @OnEventLoop
    boolean evictFor(InetAddress newcomer, EventLoop loop) {
        PendingConnection oldest = ofMost(newcomer, of(loop), connections);
        if (oldest != null) {
            oldest.evict(PendingConnection.COUNT);
        }
        return oldest != null;
    }

    /** Whether its address is above its share, and not with this connection alone. */
    private boolean isOverShare(PendingConnection receiver) {
        long held = held(receiver.address());
        return limitBytesPerAddress < limitBytes && held > limitBytesPerAddress && held > receiver.bytes();
    }

    private long held(InetAddress address) {
        return byAddress.getOrDefault(address, 0L);
    }

    /** The oldest connection of the address with the most bytes, possibly the one that needs the room; null if it has none here. */
    private static @Nullable PendingConnection ofMost(
            InetAddress needs, PendingConnections own, ToLongFunction<InetAddress> held) {
        long most = held.applyAsLong(needs);
        InetAddress address = needs;
        PendingConnection unfinished = own.unfinished().ofMost(held, most - 1);
        if (unfinished != null) {
            address = unfinished.address();
            most = held.applyAsLong(address);
        }
        PendingConnection waiting = own.waiting().ofMost(held, most);
        return own.oldestOf(waiting == null ? address : waiting.address());
    }

    /** Lets another event loop make room, if one has more than this one. */
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
        while (isExceeded()) {
            PendingConnection first = own.unfinished().ofMost(this::held, -1);
            PendingConnection oldest =
                    first == null ? own.waiting().ofMost(this::held, -1) : ofMost(first.address(), own, this::held);
            if (oldest == null) {
                return;
            }
            oldest.evict(PendingConnection.BYTES);
        }
    }
}
