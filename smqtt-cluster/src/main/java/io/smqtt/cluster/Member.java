// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import org.jspecify.annotations.Nullable;

/** Another node as this one sees it. On the cluster's loop. */
final class Member {

    /** No question is open. */
    static final long NOT_ASKED = Long.MIN_VALUE;

    private final String nodeId;
    private final PeerOutbox outbox;
    private final PeerInbox inbox;
    private final PeerRoutes routes;
    private long epoch = Long.MIN_VALUE;
    private @Nullable Peer peer;
    private boolean reachable;
    private long goneSinceNanos;
    private boolean purged;
    long askedAtNanos = NOT_ASKED;

    Member(String nodeId, PeerOutbox outbox, PeerInbox inbox, PeerRoutes routes, long nowNanos) {
        this.nodeId = nodeId;
        this.outbox = outbox;
        this.inbox = inbox;
        this.routes = routes;
        this.goneSinceNanos = nowNanos;
    }

    String nodeId() {
        return nodeId;
    }

    PeerOutbox outbox() {
        return outbox;
    }

    PeerInbox inbox() {
        return inbox;
    }

    PeerRoutes routes() {
        return routes;
    }

    long epoch() {
        return epoch;
    }

    @Nullable
    Peer peer() {
        return peer;
    }

    boolean isReachable() {
        return reachable;
    }

    /** A newer run says that it is here. */
    void runs(long newest, Peer at) {
        epoch = newest;
        peer = at;
        askedAtNanos = NOT_ASKED;
    }

    void reachable(long nowNanos) {
        reachable = true;
        purged = false;
        askedAtNanos = NOT_ASKED;
        outbox.up(epoch, nowNanos);
    }

    void gone(long nowNanos) {
        if (reachable) {
            reachable = false;
            goneSinceNanos = nowNanos;
        }
        outbox.down();
    }

    /** Forgets its routes when it has been away for so long. */
    boolean purgeIfGone(long nowNanos, long ttlNanos) {
        if (reachable || purged || nowNanos - goneSinceNanos < ttlNanos) {
            return false;
        }
        purged = true;
        routes.purge(epoch);
        outbox.purge();
        return true;
    }

    NodeIdentity identity() {
        return new NodeIdentity(nodeId, epoch);
    }
}
