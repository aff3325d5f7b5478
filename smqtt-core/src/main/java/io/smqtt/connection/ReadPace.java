// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.session.Deadline;
import io.smqtt.session.DeadlineWheel;

/**
 * Slows one publisher down by not reading: to its permitted rate, and to one read per tick while the broker's queues hold
 * too much. Nothing is dropped; the client meets TCP's own back-pressure.
 */
final class ReadPace extends Deadline {

    private static final int TICKS_PER_SECOND = 1000 / DeadlineWheel.TICK_MILLIS;

    private final int maximumRate;
    private final Runnable readNext;
    private long secondBegan = Long.MIN_VALUE;
    private long publishedInSecond;
    private boolean published;

    ReadPace(int maximumRate, Runnable readNext) {
        this.maximumRate = maximumRate;
        this.readNext = readNext;
    }

    /** A PUBLISH was read. */
    void published() {
        published = true;
        publishedInSecond++;
    }

    /** Tells whether the next read has to wait; then this reads when its time has come. */
    boolean postpones(ConnectionLoop loop) {
        if (isArmed()) {
            return true;
        }
        long now = loop.wheel().tick();
        if (now - secondBegan >= TICKS_PER_SECOND || secondBegan == Long.MIN_VALUE) {
            long allowed = secondBegan == Long.MIN_VALUE ? 0 : (now - secondBegan) * maximumRate / TICKS_PER_SECOND;
            publishedInSecond = Math.max(0, publishedInSecond - allowed);
            secondBegan = now;
        }
        long delayMillis = 0;
        if (maximumRate > 0 && publishedInSecond >= maximumRate) {
            delayMillis = (publishedInSecond - maximumRate + 1) * 1000L / maximumRate;
        } else if (published && loop.isOverloaded()) {
            delayMillis = DeadlineWheel.TICK_MILLIS;
        }
        published = false;
        if (delayMillis == 0) {
            return false;
        }
        loop.wheel().arm(this, delayMillis);
        return true;
    }

    @Override
    protected void expired() {
        readNext.run();
    }
}
