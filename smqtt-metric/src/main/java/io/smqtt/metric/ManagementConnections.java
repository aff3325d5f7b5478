// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.netty.channel.Channel;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections of the management port. When there are as many as may be, the oldest that has shown no token makes room
 * for the next one, so that nobody without a token can keep a probe out. One whose request is being answered is spared for
 * some seconds. Any thread.
 */
final class ManagementConnections {

    private static final long SPARED_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final int most;
    private final LongSupplier nanoTime;
    private final Map<Channel, Peer> open = new LinkedHashMap<>(); // from the oldest on; under the lock of this

    /**
     * Creates it without any.
     *
     * @param most how many there may be
     * @param nanoTime the time in nanoseconds
     */
    ManagementConnections(int most, LongSupplier nanoTime) {
        this.most = most;
        this.nanoTime = nanoTime;
    }

    /**
     * Takes a connection, for which another may be closed.
     *
     * @return false if there is no room: all others have shown the token, or are being answered
     */
    boolean admit(Channel channel) {
        Channel leaving = null;
        synchronized (this) {
            if (open.size() >= most) {
                leaving = oldestWithoutToken();
                if (leaving == null) {
                    return false;
                }
                open.remove(leaving);
            }
            open.put(channel, new Peer());
        }
        if (leaving != null) {
            leaving.close();
        }
        channel.closeFuture().addListener(closed -> forget(channel));
        return true;
    }

    private @Nullable Channel oldestWithoutToken() {
        long now = nanoTime.getAsLong();
        for (Map.Entry<Channel, Peer> entry : open.entrySet()) {
            Peer peer = entry.getValue();
            if (!peer.hasToken && (!peer.busy || now - peer.askedNanos >= SPARED_NANOS)) {
                return entry.getKey();
            }
        }
        return null;
    }

    private synchronized void forget(Channel channel) {
        open.remove(channel);
    }

    /** A request has come. */
    synchronized void asked(Channel channel, boolean hasToken) {
        Peer peer = open.get(channel);
        if (peer != null) {
            peer.asked = true;
            peer.busy = true;
            peer.askedNanos = nanoTime.getAsLong();
            peer.hasToken = hasToken;
        }
    }

    /** The request has its answer. */
    synchronized void answered(Channel channel) {
        Peer peer = open.get(channel);
        if (peer != null) {
            peer.busy = false;
        }
    }

    /** Whether a connection has ever sent a request. */
    synchronized boolean hasAsked(Channel channel) {
        Peer peer = open.get(channel);
        return peer != null && peer.asked;
    }

    /** Who is connected; under the lock. */
    private static final class Peer {

        private boolean asked;
        private boolean busy;
        private boolean hasToken;
        private long askedNanos;
    }
}
