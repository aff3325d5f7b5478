// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport.Peer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Another node as this one sees it. */
@OnClusterLoop
final class Member {

    /** No question is open. */
    static final long NOT_ASKED = Long.MIN_VALUE;

    private final String nodeId;
    private final PeerOutbox outbox;
    private final PeerInbox inbox;
    private final PeerRoutes routes;
    private final Runnable left;
    private long epoch = Long.MIN_VALUE;
    private @Nullable Peer peer;
    private boolean reachable;
    private long goneSinceNanos;
    private boolean purged;
    private Frame.@Nullable Hello metadata;
    private long heardAtNanos;
    private int silentTicks;
    private long toldSequence = Frame.NOTHING;
    long askedAtNanos = NOT_ASKED;

    Member(String nodeId, PeerOutbox outbox, PeerInbox inbox, PeerRoutes routes, Runnable left, long nowNanos) {
        this.left = left;
        this.nodeId = nodeId;
        this.outbox = outbox;
        this.inbox = inbox;
        this.routes = routes;
        this.goneSinceNanos = nowNanos;
        this.heardAtNanos = nowNanos;
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

    /** Where it says that it is reached; empty if it has not said so. */
    String address() {
        Frame.Hello hello = metadata;
        return hello == null ? "" : hello.address();
    }

    /** Whether a process that introduces itself listens where this one did: then this one does not run any more. */
    boolean isReplacedBy(@Nullable Frame frame) {
        Frame.Hello known = metadata;
        return known != null
                && frame instanceof Frame.Hello hello
                && hello.address().equals(known.address());
    }

    /** Something came of it. */
    void heard(Frame.@Nullable Hello hello, long told, long nowNanos) {
        heardAtNanos = nowNanos;
        silentTicks = 0;
        toldSequence = Math.max(toldSequence, told);
        if (hello != null) {
            metadata = hello;
        }
    }

    /**
     * Another tick has passed. Ticks are counted, and not time: when this node itself was held up, what others have said
     * meanwhile waits to be heard.
     *
     * @return whether nothing has come of it for so many, though it can be reached
     */
    boolean isSilentFor(int ticks) {
        silentTicks++;
        return hasBeenSilentFor(ticks);
    }

    /** Whether nothing has come of it for so many ticks, though it can be reached. */
    boolean hasBeenSilentFor(int ticks) {
        return reachable && silentTicks > ticks;
    }

    /** How long nothing has come of it. */
    long silentMillis(long nowNanos) {
        return TimeUnit.NANOSECONDS.toMillis(nowNanos - heardAtNanos);
    }

    /** How it is seen from here. */
    ClusterStatus.PeerStatus status(long nowNanos) {
        Frame.Hello hello = metadata;
        ClusterStatus.Node node = new ClusterStatus.Node(
                nodeId,
                epoch,
                hello == null ? "" : hello.address(),
                hello == null ? "" : hello.software(),
                hello == null ? 0 : hello.weight(),
                routes.size());
        long lag = Math.max(0, toldSequence - routes.sequenceOf(epoch));
        return new ClusterStatus.PeerStatus(
                node,
                reachable,
                toldSequence == Frame.NOTHING ? 0 : lag,
                silentMillis(nowNanos),
                outbox.size(),
                outbox.bytes(),
                reachable ? 0 : outbox.size());
    }

    /** A newer run says that it is here. */
    void runs(long newest, Peer at) {
        if (epoch != newest) {
            toldSequence = Frame.NOTHING;
        }
        if (!at.equals(peer)) {
            metadata = null;
        }
        epoch = newest;
        peer = at;
        askedAtNanos = NOT_ASKED;
    }

    void reachable(long nowNanos) {
        reachable = true;
        purged = false;
        silentTicks = 0;
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

    /** It is forgotten. */
    void left() {
        left.run();
    }

    NodeIdentity identity() {
        return new NodeIdentity(nodeId, epoch);
    }
}
