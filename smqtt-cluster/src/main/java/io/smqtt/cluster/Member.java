// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport.Peer;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Another node as this one sees it. */
@OnClusterLoop
final class Member {

    /** No request is pending. */
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
    private long announcedSequence = Frame.NOTHING;
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

    /** Its name, for display: another one if it holds the place of a node that was replaced. */
    String name() {
        Frame.Hello hello = metadata;
        return hello == null || hello.name().isEmpty() ? nodeId : hello.name();
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

    /** Its own address; empty if it has not sent it. */
    String address() {
        Frame.Hello hello = metadata;
        return hello == null ? "" : hello.address();
    }

    /** Whether it keeps no sessions of others. */
    boolean isFront() {
        Frame.Hello hello = metadata;
        return hello != null && (hello.features() & Frame.FRONT) != 0;
    }

    /** Whether it runs a version that answers questions. */
    boolean answersQuestions() {
        Frame.Hello hello = metadata;
        return hello != null && (hello.features() & Frame.ANSWERS) != 0;
    }

    /** Whether it runs a version that does not know of the adoption of stores. */
    boolean ignoresServers() {
        Frame.Hello hello = metadata;
        return hello != null && (hello.features() & Frame.SERVERS) == 0;
    }

    /** Whether it runs a version that does not acknowledge changes of retained messages. */
    boolean ignoresRetained() {
        Frame.Hello hello = metadata;
        return hello != null && (hello.features() & Frame.RETAINED) == 0;
    }

    /** Whether a process that sends a Hello has the address of this one: then this one no longer runs. */
    boolean isReplacedBy(@Nullable Frame frame) {
        Frame.Hello known = metadata;
        return known != null
                && frame instanceof Frame.Hello hello
                && hello.address().equals(known.address());
    }

    /** Records a frame of this node. */
    void heard(Frame.@Nullable Hello hello, long announced, long nowNanos) {
        heardAtNanos = nowNanos;
        silentTicks = 0;
        announcedSequence = Math.max(announcedSequence, announced);
        if (hello != null) {
            metadata = hello;
        }
    }

    /**
     * Counts a tick. Ticks are counted instead of time, because after a pause of this node the frames of other nodes are still waiting.
     *
     * @return whether no frame has arrived for that number of ticks, although it is reachable
     */
    boolean isSilentFor(int ticks) {
        silentTicks++;
        return hasBeenSilentFor(ticks);
    }

    /** Whether no frame has arrived for a number of ticks, although it is reachable. */
    boolean hasBeenSilentFor(int ticks) {
        return reachable && silentTicks > ticks;
    }

    /** The time since its last frame. */
    long silentMillis(long nowNanos) {
        return TimeUnit.NANOSECONDS.toMillis(nowNanos - heardAtNanos);
    }

    /** Returns its status as seen by this node. */
    ClusterStatus.PeerStatus status(long nowNanos) {
        Frame.Hello hello = metadata;
        ClusterStatus.Node node = new ClusterStatus.Node(
                name(),
                Math.max(0, epoch),
                hello == null ? "" : hello.address(),
                hello == null ? "" : hello.software(),
                hello == null ? 0 : hello.weight(),
                routes.size(),
                isFront(),
                hello == null ? "" : hello.relay());
        long lag = Math.max(0, announcedSequence - routes.sequenceOf(epoch));
        return new ClusterStatus.PeerStatus(
                node,
                reachable,
                announcedSequence == Frame.NOTHING ? 0 : lag,
                silentMillis(nowNanos),
                outbox.size() + outbox.park().size(),
                outbox.bytes() + outbox.park().bytes(),
                outbox.park().size(),
                outbox.park().drops().counts());
    }

    /** Records a newer run of this node. */
    void runs(long newest, Peer at) {
        if (epoch != newest) {
            announcedSequence = Frame.NOTHING;
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
        routes.resume(epoch);
        outbox.up(epoch, nowNanos);
    }

    void gone(long nowNanos) {
        routes.suspend();
        if (reachable) {
            reachable = false;
            goneSinceNanos = nowNanos;
            outbox.down(routes.durableFilters());
            if (isFront()) { // it may return with another name only
                routes.purge(epoch);
            }
        }
    }

    /** It was known to an earlier run of this node, and unreachable. */
    void absent(long sinceNanos, Collection<String> filters) {
        goneSinceNanos = sinceNanos;
        routes.recovered(filters);
    }

    /**
     * Removes its routes and messages when it has been unreachable for too long.
     *
     * @param forgetNanos the time for a node with durable sessions or parked messages
     * @param ttlNanos the time for another one
     */
    boolean purgeIfGone(long nowNanos, long forgetNanos, long ttlNanos) {
        boolean awaited = outbox.park().size() > 0 || routes.durable() > 0;
        if (reachable || purged || nowNanos - goneSinceNanos < (awaited ? forgetNanos : ttlNanos)) {
            return false;
        }
        purged = true;
        routes.purge(epoch);
        outbox.purge();
        return true;
    }

    /** Removes this node. */
    void left() {
        left.run();
    }

    /** When it became unreachable. */
    long goneSinceNanos() {
        return goneSinceNanos;
    }

    NodeIdentity identity() {
        return new NodeIdentity(nodeId, epoch);
    }
}
