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
 * The connections of the management port, in two classes with a limit each: those whose last request had the token, and all others, health
 * probes included. A class cannot use places of the other one, so no flood of connections blocks a probe. In a full class the connection
 * that has been idle longest is closed. If none is idle, the class without the token closes the connection whose request has taken
 * longest; the class with the token refuses the new request, because its requests do work.
 */
@AnyThread
final class ManagementConnections {

    private final Map<Channel, Peer> others = new LinkedHashMap<>(); // ordered by last use; guarded by this
    private final Map<Channel, Peer> known = new LinkedHashMap<>(); // the same, of those with the token
    private final int mostOthers;
    private final int mostKnown;
    private final LongAdder closedOthers = new LongAdder();
    private final LongAdder closedKnown = new LongAdder();
    private final LongAdder refusedKnown = new LongAdder();

    /**
     * Creates it without connections.
     *
     * @param mostOthers maximum number of connections without the token
     * @param mostKnown maximum number of connections with the token
     */
    ManagementConnections(int mostOthers, int mostKnown) {
        this.mostOthers = mostOthers;
        this.mostKnown = mostKnown;
    }

    /** Adds a new connection, for which another one may be closed. */
    void admit(Channel channel) {
        Channel leaving;
        synchronized (this) {
            leaving = enter(channel, new Peer());
        }
        close(leaving);
        channel.closeFuture().addListener(closed -> forget(channel));
    }

    /** Adds a connection to the others and returns the one to close for it, or null. Call under the lock. */
    private @Nullable Channel enter(Channel channel, Peer peer) {
        Channel leaving = null;
        if (others.size() >= mostOthers) {
            Channel idle = longestIdle(others);
            leaving = idle == null ? others.keySet().iterator().next() : idle;
            others.remove(leaving);
            closedOthers.increment();
        }
        others.put(channel, peer);
        return leaving;
    }

    private static @Nullable Channel longestIdle(Map<Channel, Peer> all) {
        for (Map.Entry<Channel, Peer> entry : all.entrySet()) {
            if (!entry.getValue().busy) {
                return entry.getKey();
            }
        }
        return null;
    }

    private static void close(@Nullable Channel leaving) {
        if (leaving != null) {
            leaving.close();
        }
    }

    private synchronized void forget(Channel channel) {
        others.remove(channel);
        known.remove(channel);
    }

    /**
     * Assigns a connection with a new request to its class.
     *
     * @return false if the maximum number of requests is in progress and this one must be refused
     */
    boolean asked(Channel channel, boolean hasToken) {
        Channel leaving = null;
        boolean isTaken = true;
        synchronized (this) {
            Peer before = others.remove(channel);
            Peer peer = before == null ? known.remove(channel) : before;
            if (peer == null) {
                return true; // the connection is being closed
            }
            peer.asked = true;
            peer.busy = true;
            if (!hasToken) {
                leaving = enter(channel, peer);
            } else if (known.size() < mostKnown) {
                known.put(channel, peer);
            } else {
                leaving = longestIdle(known);
                if (leaving == null) {
                    refusedKnown.increment();
                    leaving = enter(channel, peer);
                    isTaken = false;
                } else {
                    known.remove(leaving);
                    closedKnown.increment();
                    known.put(channel, peer);
                }
            }
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
        Peer peer = others.get(channel);
        return peer == null ? known.get(channel) : peer;
    }

    /** Whether a connection has ever sent a request. */
    synchronized boolean hasAsked(Channel channel) {
        Peer peer = peer(channel);
        return peer != null && peer.asked;
    }

    /** {@return the counts of the moment} */
    ManagementStatus status() {
        int openKnown;
        int openOthers;
        synchronized (this) {
            openKnown = known.size();
            openOthers = others.size();
        }
        return new ManagementStatus(
                new ManagementStatus.Connections(openKnown, closedKnown.sum()),
                new ManagementStatus.Connections(openOthers, closedOthers.sum()),
                refusedKnown.sum());
    }

    /** The state of one connection; guarded by the lock. */
    private static final class Peer {

        private boolean asked;
        private boolean busy;
    }
}
