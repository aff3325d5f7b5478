// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.netty.channel.Channel;
import io.smqtt.spi.ManagementStatus;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The connections of the management port, in three classes with a limit each, by their last request: known callers, health probes and all
 * others, to which a connection belongs until its first request. A class cannot use places of another one, so no flood of connections blocks
 * a probe or a known caller. In a full class the connection that has been idle longest is closed. If none is idle, the connection whose
 * request has taken longest is closed; among known callers the new request is refused, because their requests do work.
 */
@AnyThread
final class ManagementConnections {

    private final Group known;
    private final Group probes;
    private final Group others;
    private final LongAdder refusedKnown = new LongAdder();

    /** Whose request it is. */
    enum Kind {
        /** A caller whose token, login or API key is valid. */
        KNOWN,
        /** A health probe. */
        PROBE,
        /** Anybody else. */
        OTHER
    }

    /**
     * Creates it without connections.
     *
     * @param mostOthers maximum number of connections of others
     * @param mostProbes maximum number of connections of health probes
     * @param mostKnown maximum number of connections of known callers
     */
    ManagementConnections(int mostOthers, int mostProbes, int mostKnown) {
        known = new Group(mostKnown);
        probes = new Group(mostProbes);
        others = new Group(mostOthers);
    }

    /** The connections of one class; guarded by the lock of all. */
    private static final class Group {

        private final Map<Channel, Peer> peers = new LinkedHashMap<>(); // ordered by last use
        private final int most;
        private long closed;

        Group(int most) {
            this.most = most;
        }

        boolean isFull() {
            return peers.size() >= most;
        }

        @Nullable
        Channel longestIdle() {
            for (Map.Entry<Channel, Peer> entry : peers.entrySet()) {
                if (!entry.getValue().busy) {
                    return entry.getKey();
                }
            }
            return null;
        }

        /** Adds a connection and returns the one to close for it, or null. */
        @Nullable
        Channel enter(Channel channel, Peer peer) {
            Channel leaving = null;
            if (isFull()) {
                Channel idle = longestIdle();
                leaving = idle == null ? peers.keySet().iterator().next() : idle;
                peers.remove(leaving);
                closed++;
            }
            peers.put(channel, peer);
            return leaving;
        }

        ManagementStatus.Connections status() {
            return new ManagementStatus.Connections(peers.size(), closed);
        }
    }

    /** Adds a new connection, for which another one may be closed. */
    void admit(Channel channel) {
        Channel leaving;
        synchronized (this) {
            leaving = others.enter(channel, new Peer());
        }
        close(leaving);
        channel.closeFuture().addListener(closed -> forget(channel));
    }

    private static void close(@Nullable Channel leaving) {
        if (leaving != null) {
            leaving.close();
        }
    }

    private synchronized @Nullable Peer forget(Channel channel) {
        Peer peer = others.peers.remove(channel);
        peer = peer == null ? probes.peers.remove(channel) : peer;
        return peer == null ? known.peers.remove(channel) : peer;
    }

    /**
     * Assigns a connection with a new request to its class.
     *
     * @return false if the maximum number of requests is in progress and this one must be refused
     */
    boolean asked(Channel channel, Kind kind) {
        Channel leaving;
        boolean isTaken;
        synchronized (this) {
            Peer peer = forget(channel);
            if (peer == null) {
                return true; // the connection is being closed
            }
            peer.asked = true;
            peer.busy = true;
            isTaken = kind != Kind.KNOWN || !known.isFull() || known.longestIdle() != null;
            if (!isTaken) {
                refusedKnown.increment();
            }
            Group group = !isTaken || kind == Kind.OTHER ? others : kind == Kind.KNOWN ? known : probes;
            leaving = group.enter(channel, peer);
        }
        close(leaving);
        return isTaken;
    }

    /** Marks the request of a connection as answered. */
    synchronized void answered(Channel channel) {
        Peer peer = peer(channel);
        if (peer != null) {
            peer.busy = false;
        }
    }

    private @Nullable Peer peer(Channel channel) {
        Peer peer = others.peers.get(channel);
        peer = peer == null ? probes.peers.get(channel) : peer;
        return peer == null ? known.peers.get(channel) : peer;
    }

    /** Whether a connection has ever sent a request. */
    synchronized boolean hasAsked(Channel channel) {
        Peer peer = peer(channel);
        return peer != null && peer.asked;
    }

    /** {@return the counts of the moment} */
    synchronized ManagementStatus status() {
        return new ManagementStatus(known.status(), probes.status(), others.status(), refusedKnown.sum());
    }

    /** The state of one connection; guarded by the lock. */
    private static final class Peer {

        private boolean asked;
        private boolean busy;
    }
}
