// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The clock of claims: near the wall clock, never goes back, and is ahead of every time that another node has named. */
@OnClusterLoop
final class ClusterClock {

    private static final long FURTHEST_MILLIS = TimeUnit.DAYS.toMillis(1);

    private final LongSupplier wallClockMillis;
    private long latest;

    ClusterClock(LongSupplier wallClockMillis) {
        this.wallClockMillis = wallClockMillis;
    }

    /** A later time than all before. */
    long next() {
        latest = Math.max(latest + 1, RetainedVersion.clockOf(wallClockMillis.getAsLong()));
        return latest;
    }

    /** Another node has named a time. One that is more than a day ahead is ignored. */
    void observe(long time) {
        if (time <= RetainedVersion.clockOf(wallClockMillis.getAsLong() + FURTHEST_MILLIS)) {
            latest = Math.max(latest, time);
        }
    }
}
