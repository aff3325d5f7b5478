// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.session.Deadline;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.thread.OnEventLoop;

/**
 * Slows one client down by reading less: to its permitted rate, and to one read per tick while the queues of the broker are nearly
 * full, or the storage backlog is over its limit and the client causes writes. Nothing is dropped; the client meets TCP
 * back-pressure.
 */
@OnEventLoop
final class ReadPace extends Deadline {

    private static final int TICKS_PER_SECOND = 1000 / DeadlineWheel.TICK_MILLIS;

    private final int maximumRate;
    private final Connection connection;
    private long secondBegan = Long.MIN_VALUE;
    private long publishedInSecond;
    private boolean published;
    private boolean stored;

    ReadPace(int maximumRate, Connection connection) {
        this.maximumRate = maximumRate;
        this.connection = connection;
    }

    /**
     * Counts a PUBLISH.
     *
     * @param storable whether it can cause a write to the store; clients without such messages do not wait for a slow disk
     */
    void published(boolean storable) {
        published = true;
        stored |= storable;
        publishedInSecond++;
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
        long delayMillis = 0;
        if (maximumRate > 0) {
            delayMillis = overRateMillis(loop.wheel().tick());
        }
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

    private long overRateMillis(long now) {
        if (secondBegan == Long.MIN_VALUE) {
            secondBegan = now;
        } else if (now - secondBegan >= TICKS_PER_SECOND) {
            long allowed = (now - secondBegan) * maximumRate / TICKS_PER_SECOND;
            publishedInSecond = Math.max(0, publishedInSecond - allowed);
            secondBegan = now;
        }
        return publishedInSecond < maximumRate ? 0 : (publishedInSecond - maximumRate + 1) * 1000L / maximumRate + 1;
    }

    @Override
    protected void expired() {
        connection.touch(); // packets sent in the meantime are read only now
        connection.readNext(); // there may be another reason to wait
    }
}
