// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Holds PUBLISH packets back, so that no more of them leave in a second than allowed, evenly spread. Above QoS 0 the send window limits
 * what is held; of QoS 0 it is what a second lets pass.
 */
@OnEventLoop
final class Pacer {

    /** The time for which unused room is kept. */
    private static final long LONGEST_BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Deque<ByteBuf> held = new ArrayDeque<>();
    private final int perSecond;
    private final long intervalNanos;
    private long nextNanos;

    /**
     * Creates a pacer.
     *
     * @param perSecond packets in a second, at least 1
     * @param nowNanos the present time
     */
    Pacer(int perSecond, long nowNanos) {
        this.perSecond = perSecond;
        this.intervalNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
        this.nextNanos = nowNanos;
    }

    /** Whether one more packet of QoS 0 would wait for more than a second. */
    boolean isFull() {
        return held.size() >= perSecond;
    }

    boolean isEmpty() {
        return held.isEmpty();
    }

    /** Takes a packet with its reference. */
    void add(ByteBuf packet) {
        held.add(packet);
    }

    /**
     * Gives the next packet if it may leave now, with its reference. Call {@link #left} if it does.
     *
     * @return null if none may leave
     */
    @Nullable
    ByteBuf due(long nowNanos) {
        nextNanos = Math.max(nextNanos, nowNanos - LONGEST_BURST_NANOS);
        return nextNanos - nowNanos <= 0 ? held.poll() : null;
    }

    /** A packet has left. */
    void left() {
        nextNanos += intervalNanos;
    }

    /** Gives the next packet, which does not leave, with its reference; null if there is none. */
    @Nullable
    ByteBuf remove() {
        return held.poll();
    }
}
