// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Traffic counters of one event loop: packets of every kind read from and written to its clients, and their bytes as MQTT
 * counts them, without TLS and WebSocket around them. Only the event loop adds, by a load, an add and a store. Any thread may read; a
 * reader may miss recent additions, and never sees a counter decrease.
 */
public final class TrafficCounts {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    /** Longs before and after the counters, so that neighbours on the heap share no cache line with them. */
    private static final int PADDING = 16;

    private static final int RECEIVED_PACKETS = PADDING;
    private static final int RECEIVED_BYTES = PADDING + 1;
    private static final int SENT_PACKETS = PADDING + 2;
    private static final int SENT_BYTES = PADDING + 3;

    private static final int POSTPONED_READS = PADDING + 4;

    private final long[] cells = new long[PADDING + 4 + Limit.values().length + PADDING];

    /** The limit for which a read is postponed. */
    public enum Limit {
        /** Of one client. */
        CLIENT,
        /** Of all clients of one user. */
        USER,
        /** Of all clients of one listener. */
        LISTENER,
        /** None: the broker is overloaded, and the client publishes at QoS 0. */
        OVERLOAD
    }

    /** Creates counters at zero. */
    public TrafficCounts() {}

    private void add(int cell, long amount) {
        CELL.setOpaque(cells, cell, cells[cell] + amount); // this thread is the only writer
    }

    private long read(int cell) {
        return (long) CELL.getOpaque(cells, cell);
    }

    /**
     * Whole packets were read and decoded.
     *
     * @param count the number
     */
    @OnEventLoop
    public void packetsReceived(int count) {
        add(RECEIVED_PACKETS, count);
    }

    /**
     * Bytes have arrived.
     *
     * @param count the number
     */
    @OnEventLoop
    public void bytesReceived(int count) {
        add(RECEIVED_BYTES, count);
    }

    /** A packet was encoded for a connected client. */
    @OnEventLoop
    public void packetSent() {
        add(SENT_PACKETS, 1);
    }

    /**
     * Bytes were passed to a socket.
     *
     * @param count the number
     */
    @OnEventLoop
    public void bytesSent(int count) {
        add(SENT_BYTES, count);
    }

    /**
     * A client is not read for a while, because a rate is exceeded or the broker is overloaded.
     *
     * @param limit whose rate it is; the one for which the client waits longest
     */
    @OnEventLoop
    public void readPostponed(Limit limit) {
        add(POSTPONED_READS + limit.ordinal(), 1);
    }

    /**
     * Returns the number of postponed reads.
     *
     * @param limit whose rate was exceeded
     * @return since the start
     */
    @AnyThread
    public long postponedReads(Limit limit) {
        return read(POSTPONED_READS + limit.ordinal());
    }

    /**
     * Returns the number of received packets of every kind.
     *
     * @return since the start
     */
    @AnyThread
    public long receivedPackets() {
        return read(RECEIVED_PACKETS);
    }

    /**
     * Returns the number of received bytes, those of incomplete packets included.
     *
     * @return since the start
     */
    @AnyThread
    public long receivedBytes() {
        return read(RECEIVED_BYTES);
    }

    /**
     * Returns the number of sent packets of every kind.
     *
     * @return since the start
     */
    @AnyThread
    public long sentPackets() {
        return read(SENT_PACKETS);
    }

    /**
     * Returns the number of sent bytes.
     *
     * @return since the start
     */
    @AnyThread
    public long sentBytes() {
        return read(SENT_BYTES);
    }
}
