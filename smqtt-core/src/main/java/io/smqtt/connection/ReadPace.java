// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.session.Deadline;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Slows one client down by reading less: to the permitted rates, and to one read per tick while the queues of the broker are nearly
 * full, or the storage backlog is over its limit and the client causes writes. Nothing is dropped; the client meets TCP
 * back-pressure.
 */
@OnEventLoop
final class ReadPace extends Deadline {

    private static final long MILLI_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final @Nullable ClientRates rates;
    private final Connection connection;
    private int messages;
    private long bytes;
    private boolean published;
    private boolean stored;

    ReadPace(@Nullable ClientRates rates, Connection connection) {
        this.rates = rates;
        this.connection = connection;
    }

    /** Counts received bytes. */
    void received(int count) {
        bytes += count;
    }

    /**
     * Counts a PUBLISH.
     *
     * @param storable whether it can cause a write to the store; clients without such messages do not wait for a slow disk
     */
    void published(boolean storable) {
        published = true;
        stored |= storable;
        messages++;
    }

    /** Counts another packet that causes a write to the store. */
    void stores() {
        stored = true;
    }

    /** Whether the next read has to wait; the connection is then asked to read again in time. */
    boolean postpones(ConnectionLoop loop) {
        if (isArmed()) {
            return true;
        }
        long delayMillis = rates == null ? 0 : spend(rates, loop);
        if (delayMillis == 0 && (published && loop.isOverloaded() || stored && loop.isStoreOverloaded())) {
            delayMillis = DeadlineWheel.TICK_MILLIS;
        }
        published = false;
        stored = false;
        if (delayMillis == 0) {
            return false;
        }
        loop.wheel().arm(this, delayMillis);
        return true;
    }

    private long spend(ClientRates limits, ConnectionLoop loop) {
        if (messages == 0 && bytes == 0) {
            return 0;
        }
        long nanos = limits.spend(messages, bytes, loop.wheel().nanoTime(), loop.traffic());
        messages = 0;
        bytes = 0;
        return (nanos + MILLI_NANOS - 1) / MILLI_NANOS;
    }

    /** Stops waiting for ever: the connection is closed. */
    void close() {
        cancel();
        if (rates != null) {
            rates.close(connection.loop().wheel().nanoTime());
        }
    }

    @Override
    protected void expired() {
        connection.touch(); // packets sent in the meantime are read only now
        connection.readNext(); // there may be another reason to wait
    }
}
