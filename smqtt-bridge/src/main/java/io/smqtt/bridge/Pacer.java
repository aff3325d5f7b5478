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

    private final Deque<Held> held = new ArrayDeque<>();
    private final int perSecond;
    private final long intervalNanos;
    private long nextNanos;

    /**
     * A packet that waits.
     *
     * @param answers what our session gets when the packet has left
     */
    private record Held(ByteBuf packet, ByteBuf answers) {

        private void release() {
            packet.release();
            answers.release();
        }
    }

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

    /** Takes a packet and the answers to our session that are due when it has left, with their references. */
    void add(ByteBuf packet, ByteBuf answers) {
        held.add(new Held(packet, answers));
    }

    /** Writes the packets that may leave now, and their answers. */
    void drainTo(ByteBuf out, ByteBuf answers, long nowNanos) {
        nextNanos = Math.max(nextNanos, nowNanos - LONGEST_BURST_NANOS);
        while (!held.isEmpty() && nextNanos - nowNanos <= 0) {
            Held next = held.remove();
            out.writeBytes(next.packet);
            answers.writeBytes(next.answers);
            next.release();
            nextNanos += intervalNanos;
        }
    }

    /** Discards what is held: the session sends it again. */
    void clear() {
        held.forEach(Held::release);
        held.clear();
    }
}
