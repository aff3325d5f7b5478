// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.net.InetAddress;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The pending connections of one event loop: their received bytes, those with an incomplete CONNECT, and those that wait for the answer to
 * theirs. To select one, the oldest 64 of each kind are examined, which bounds the work per connection.
 */
@OnEventLoop
final class PendingConnections {

    private static final int LOOK = 64;

    private final Queue unfinished = new Queue();
    private final Queue waiting = new Queue();
    private volatile long bytes;

    /** Connections with an incomplete CONNECT. */
    Queue unfinished() {
        return unfinished;
    }

    /** Connections with a complete CONNECT. */
    Queue waiting() {
        return waiting;
    }

    /** The oldest connection of an address, whether its CONNECT is complete or not; null if there is none. */
    @Nullable
    PendingConnection oldestOf(InetAddress address) {
        PendingConnection first = unfinished.oldestOf(address);
        PendingConnection second = waiting.oldestOf(address);
        if (first == null || second == null) {
            return first == null ? second : first;
        }
        return first.isOlderThan(second) ? first : second;
    }

    /** The received bytes. */
    @AnyThread
    long bytes() {
        return bytes;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by the event loop alone
    void count(long change) {
        bytes += change;
    }

    /** An intrusive list of connections, oldest first. Each connection is in one list at most. */
    static final class Queue {

        private @Nullable PendingConnection oldest;
        private @Nullable PendingConnection newest;

        private @Nullable PendingConnection oldestOf(InetAddress address) {
            PendingConnection next = oldest;
            for (int i = 0; i < LOOK && next != null; i++, next = next.newer) {
                if (next.address().equals(address)) {
                    return next;
                }
            }
            return null;
        }

        /** The oldest connection of the address with the most bytes, if these are more than a number. */
        @Nullable
        PendingConnection ofMost(ToLongFunction<InetAddress> held, long moreThan) {
            PendingConnection found = null;
            long most = moreThan;
            PendingConnection next = oldest;
            for (int i = 0; i < LOOK && next != null; i++, next = next.newer) {
                long holds = held.applyAsLong(next.address());
                if (holds > most) {
                    most = holds;
                    found = next;
                }
            }
            return found;
        }

        void add(PendingConnection connection) {
            PendingConnection before = newest;
            connection.older = before;
            if (before == null) {
                oldest = connection;
            } else {
                before.newer = connection;
            }
            newest = connection;
        }

        void remove(PendingConnection connection) {
            PendingConnection before = connection.older;
            PendingConnection after = connection.newer;
            if (before != null) {
                before.newer = after;
            } else if (oldest == connection) {
                oldest = after;
            }
            if (after != null) {
                after.older = before;
            } else if (newest == connection) {
                newest = before;
            }
            connection.older = null;
            connection.newer = null;
        }
    }
}
