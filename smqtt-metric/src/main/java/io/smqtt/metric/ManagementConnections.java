// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.netty.channel.Channel;
import io.smqtt.thread.AnyThread;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The connections of the management port, in two classes with a limit each: those whose last request has shown the token,
 * and all others, among them the probes of health. None of one class takes a place of the other one, so nobody keeps a
 * probe out, with the token or without. In a class that is full the connection that has been idle longest makes room, and
 * where none is idle: among the others, the one that has been asking longest; among those with the token none, since what
 * is being done there is somebody's work, so the new one is refused.
 */
@AnyThread
final class ManagementConnections {

    private final Map<Channel, Peer> others =
            new LinkedHashMap<>(); // by when they were last used; under the lock of this
    private final Map<Channel, Peer> known = new LinkedHashMap<>(); // the same, of those that have shown the token
    private final int mostOthers;
    private final int mostKnown;
    private final LongAdder closedOthers = new LongAdder();
    private final LongAdder closedKnown = new LongAdder();
    private final LongAdder refusedKnown = new LongAdder();

    /**
     * Creates it without any.
     *
     * @param mostOthers how many there may be that have not shown the token
     * @param mostKnown how many there may be that have
     */
    ManagementConnections(int mostOthers, int mostKnown) {
        this.mostOthers = mostOthers;
        this.mostKnown = mostKnown;
    }

    /** Takes a connection, for which another one may be closed. */
    void admit(Channel channel) {
        Channel leaving;
        synchronized (this) {
            leaving = enter(channel, new Peer());
        }
        close(leaving);
        channel.closeFuture().addListener(closed -> forget(channel));
    }

    /** To the others; the one that makes room for it, or null. Under the lock. */
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
     * Puts a connection on which a request has come among those that have shown the token, or among the others.
     *
     * @return false if there is no room: as many as may be are being answered, and this one is to be refused
     */
    boolean asked(Channel channel, boolean hasToken) {
        Channel leaving = null;
        boolean isTaken = true;
        synchronized (this) {
            Peer before = others.remove(channel);
            Peer peer = before == null ? known.remove(channel) : before;
            if (peer == null) {
                return true; // it is being closed
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

    /** The request has its answer. */
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

    /** How many are open of a class. */
    synchronized int open(boolean hasToken) {
        return hasToken ? known.size() : others.size();
    }

    /** How many were closed to make room for another one of their class. */
    long closed(boolean hasToken) {
        return (hasToken ? closedKnown : closedOthers).sum();
    }

    /** How many requests with the token were refused, because as many as may be were being answered. */
    long refused() {
        return refusedKnown.sum();
    }

    /** Connections of one address; guarded by the lock. */
    private static final class Peer {

        private boolean asked;
        private boolean busy;
    }
}
