// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import org.jspecify.annotations.Nullable;

/**
 * The connections of one event loop that are not let in yet: how much has arrived on them, and those whose CONNECT is not
 * complete, oldest first, in a list threaded through them. For that event loop only, but for {@link #bytes()}.
 */
final class PendingConnections {

    private @Nullable PendingConnection oldest;
    private @Nullable PendingConnection newest;
    private volatile long bytes;

    @Nullable
    PendingConnection oldest() {
        return oldest;
    }

    /** What has arrived. Any thread. */
    long bytes() {
        return bytes;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by the event loop alone
    void count(long change) {
        bytes += change;
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
