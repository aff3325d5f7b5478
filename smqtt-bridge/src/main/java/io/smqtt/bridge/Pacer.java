// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

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

    /** Takes a packet, with its reference. */
    void add(ByteBuf packet) {
        held.add(packet);
    }

    /** Writes the packets that may leave now. */
    void drainTo(ByteBuf out, long nowNanos) {
        nextNanos = Math.max(nextNanos, nowNanos - LONGEST_BURST_NANOS);
        while (!held.isEmpty() && nextNanos - nowNanos <= 0) {
            ByteBuf packet = held.remove();
            out.writeBytes(packet);
            packet.release();
            nextNanos += intervalNanos;
        }
    }

    /** Discards what is held: the session sends it again. */
    void clear() {
        held.forEach(ByteBuf::release);
        held.clear();
    }
}
