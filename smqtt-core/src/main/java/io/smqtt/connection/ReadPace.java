// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.session.Deadline;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.thread.OnEventLoop;

/**
 * Slows one client down by not reading: to its permitted rate, and to one read per tick while the broker's queues hold
 * too much, or too much of what it publishes or subscribes to waits for the disk. Nothing is dropped; the client meets TCP's own back-pressure.
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
     * A PUBLISH was read.
     *
     * @param storable whether it can be work for the disk; who publishes nothing else does not wait for a slow one
     */
    void published(boolean storable) {
        published = true;
        stored |= storable;
        publishedInSecond++;
    }

    /** A packet was read that is work for the disk, but no PUBLISH. */
    void stores() {
        stored = true;
    }

    /** Tells whether the next read has to wait; then the connection is asked to read again when its time has come. */
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
        connection.touch(); // what it sent meanwhile is read only now
        connection.readNext(); // which may find another reason to wait
    }
}
