// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Holds PUBLISH packets back, so that no more of them leave in a second than allowed, evenly spread. Those of QoS 0 are at most what a second lets
 * pass, and have a limit in bytes; of the others the send window of the session has no more than {@link #window}.
 */
@OnEventLoop
final class Pacer {

    /** The time for which unused room is kept. */
    private static final long LONGEST_BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Deque<Held> held = new ArrayDeque<>();
    private final int perSecond;
    private final long mostBytes;
    private final long intervalNanos;
    private long atMostOnceBytes;
    private long nextNanos;

    /**
     * A packet that is held back.
     *
     * @param packet has a reference
     * @param sinceNanos when it came
     */
    record Held(ByteBuf packet, long sinceNanos) {

        private int atMostOnceBytes() {
            return Packets.qos(packet) == 0 ? packet.readableBytes() : 0;
        }
    }

    /**
     * Creates a pacer.
     *
     * @param perSecond packets in a second, at least 1
     * @param mostBytes the maximum number of bytes of QoS 0, without the last packet
     * @param nowNanos the present time
     */
    Pacer(int perSecond, long mostBytes, long nowNanos) {
        this.perSecond = perSecond;
        this.mostBytes = mostBytes;
        this.intervalNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
        this.nextNanos = nowNanos;
    }

    /** The maximum number of packets above QoS 0: what a second lets pass. */
    int window() {
        return perSecond;
    }

    /** Whether one more packet of QoS 0 would wait for more than a second, or there are too many bytes of them. */
    boolean isFull() {
        return held.size() >= perSecond || atMostOnceBytes >= mostBytes;
    }

    boolean isEmpty() {
        return held.isEmpty();
    }

    /** Takes a packet with its reference. */
    void add(ByteBuf packet, long nowNanos) {
        Held last = new Held(packet, nowNanos);
        held.add(last);
        atMostOnceBytes += last.atMostOnceBytes();
    }

    /**
     * Gives the next packet if it may leave now, with its reference. Call {@link #left} if it does.
     *
     * @return null if none may leave
     */
    @Nullable
    Held due(long nowNanos) {
        nextNanos = Math.max(nextNanos, nowNanos - LONGEST_BURST_NANOS);
        return nextNanos - nowNanos <= 0 ? remove() : null;
    }

    /** A packet has left. */
    void left() {
        nextNanos += intervalNanos;
    }

    /** Gives the next packet, which does not leave, with its reference; null if there is none. */
    @Nullable
    Held remove() {
        Held first = held.poll();
        if (first != null) {
            atMostOnceBytes -= first.atMostOnceBytes();
        }
        return first;
    }
}
