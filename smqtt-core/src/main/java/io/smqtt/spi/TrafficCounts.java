// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Traffic counters of one event loop: packets of every kind read from and written to its clients, and their bytes as MQTT
 * counts them, without TLS and WebSocket around them. Only the event loop adds, by a load, an add and a store; any thread
 * reads, may miss what was added a moment ago, and never sees a counter go back.
 */
public final class TrafficCounts {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    /** Longs before and after the counters, so that neighbours on the heap share no cache line with them. */
    private static final int PADDING = 16;

    private static final int RECEIVED_PACKETS = PADDING;
    private static final int RECEIVED_BYTES = PADDING + 1;
    private static final int SENT_PACKETS = PADDING + 2;
    private static final int SENT_BYTES = PADDING + 3;

    private final long[] cells = new long[PADDING + 4 + PADDING];

    /** Creates counters at zero. */
    public TrafficCounts() {}

    private void add(int cell, long amount) {
        CELL.setOpaque(cells, cell, cells[cell] + amount); // nobody else writes here
    }

    private long read(int cell) {
        return (long) CELL.getOpaque(cells, cell);
    }

    /**
     * Whole packets were read and decoded.
     *
     * @param count how many
     */
    @OnEventLoop
    public void packetsReceived(int count) {
        add(RECEIVED_PACKETS, count);
    }

    /**
     * Bytes have arrived.
     *
     * @param count how many
     */
    @OnEventLoop
    public void bytesReceived(int count) {
        add(RECEIVED_BYTES, count);
    }

    /** A packet was encoded for a client that is still there. */
    @OnEventLoop
    public void packetSent() {
        add(SENT_PACKETS, 1);
    }

    /**
     * Bytes were handed to a socket.
     *
     * @param count how many
     */
    @OnEventLoop
    public void bytesSent(int count) {
        add(SENT_BYTES, count);
    }

    /**
     * How many packets of every kind have come.
     *
     * @return since the start
     */
    @AnyThread
    public long receivedPackets() {
        return read(RECEIVED_PACKETS);
    }

    /**
     * How many bytes have come, those that are no whole packet included.
     *
     * @return since the start
     */
    @AnyThread
    public long receivedBytes() {
        return read(RECEIVED_BYTES);
    }

    /**
     * How many packets of every kind went out.
     *
     * @return since the start
     */
    @AnyThread
    public long sentPackets() {
        return read(SENT_PACKETS);
    }

    /**
     * How many bytes went out.
     *
     * @return since the start
     */
    @AnyThread
    public long sentBytes() {
        return read(SENT_BYTES);
    }
}
