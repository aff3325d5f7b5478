// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop that are not let in yet: how much has arrived on them, those whose CONNECT is not complete,
 * and those that wait for the answer to theirs. For that event loop only, but for {@link #bytes()}.
 */
final class PendingConnections {

    private final Queue unfinished = new Queue();
    private final Queue waiting = new Queue();
    private volatile long bytes;

    /** Those whose CONNECT is not complete. */
    Queue unfinished() {
        return unfinished;
    }

    /** Those whose CONNECT is complete. */
    Queue waiting() {
        return waiting;
    }

    /** What has arrived. Any thread. */
    long bytes() {
        return bytes;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by the event loop alone
    void count(long change) {
        bytes += change;
    }

    /** Connections, oldest first, in a list threaded through them. Each is in one at most. */
    static final class Queue {

        private @Nullable PendingConnection oldest;
        private @Nullable PendingConnection newest;

        @Nullable
        PendingConnection oldest() {
            return oldest;
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
