// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.session.Deadline;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.spi.TrafficCounts;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Slows one client down by reading less: to the permitted rates, and to one read per tick while the queues of the broker are nearly
 * full, or the storage backlog is over its limit and the client causes writes. A client that publishes at QoS 0 is hardly read at all at
 * the highest level of overload: once in some seconds, so that its PINGREQ and acknowledgements arrive. The client meets TCP
 * back-pressure. Only QoS 0 messages over a rate of messages are dropped instead, where {@code limits.over-rate} says so.
 */
@OnEventLoop
final class ReadPace extends Deadline {

    private static final long MILLI_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** The level of overload is looked at so often, and the client is read after so many looks. */
    private static final int PAUSE_MILLIS = 500;

    private static final int MOST_PAUSES = 10;

    private final @Nullable ClientRates rates;
    private final Connection connection;
    private int messages;
    private long bytes;
    private boolean published;
    private boolean stored;
    private boolean unacknowledged;
    private int pauses;

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
     * @param withoutAcknowledgement whether it is at QoS 0
     * @return false if it is to be dropped
     */
    boolean published(boolean storable, boolean withoutAcknowledgement) {
        if (withoutAcknowledgement && rates != null && rates.drops()) {
            if (!rates.spendMessageOfStock(connection.loop().wheel().nanoTime())) {
                return false;
            }
        } else {
            messages++;
        }
        published = true;
        stored |= storable;
        unacknowledged |= withoutAcknowledgement;
        return true;
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
        if (delayMillis == 0) {
            if (unacknowledged && loop.pausesPublishers() && pauses < MOST_PAUSES) {
                delayMillis = pause(loop);
            } else if (published && loop.isOverloaded() || stored && loop.isStoreOverloaded()) {
                delayMillis = DeadlineWheel.TICK_MILLIS;
            }
        }
        published = false;
        stored = false;
        if (delayMillis == 0) {
            unacknowledged = false;
            pauses = 0;
            return false;
        }
        loop.wheel().arm(this, delayMillis);
        return true;
    }

    private int pause(ConnectionLoop loop) {
        if (pauses++ == 0) {
            loop.traffic().readPostponed(TrafficCounts.Limit.OVERLOAD);
        }
        return PAUSE_MILLIS;
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
