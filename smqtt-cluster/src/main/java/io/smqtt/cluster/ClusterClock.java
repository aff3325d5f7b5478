// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.RetainedVersion;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The clock of claims: near the wall clock, monotonic, and ahead of every time received from another node. */
@OnClusterLoop
final class ClusterClock {

    private static final long FURTHEST_MILLIS = TimeUnit.DAYS.toMillis(1);

    private final LongSupplier wallClockMillis;
    private long latest;

    ClusterClock(LongSupplier wallClockMillis) {
        this.wallClockMillis = wallClockMillis;
    }

    /** Returns a time later than all previous ones. */
    long next() {
        latest = Math.max(latest + 1, RetainedVersion.clockOf(wallClockMillis.getAsLong()));
        return latest;
    }

    /** Records a time of another node. One that is more than a day ahead is ignored. */
    void observe(long time) {
        if (time <= RetainedVersion.clockOf(wallClockMillis.getAsLong() + FURTHEST_MILLIS)) {
            latest = Math.max(latest, time);
        }
    }
}
