// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.spi.StoreFigures;
import io.smqtt.spi.StoreObserver;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Remembers whether the store keeps what it is given, and since when it has been at one commit. */
final class StoreWatch implements StoreObserver {

    private static final long IDLE = Long.MIN_VALUE;
    private static final long HANGS_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final LongSupplier nanoTime;
    private volatile boolean healthy = true;
    private volatile long workingSinceNanos = IDLE;

    StoreWatch() {
        this(System::nanoTime);
    }

    StoreWatch(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    @Override
    public void storeWorking(boolean working) {
        workingSinceNanos = working ? nanoTime.getAsLong() : IDLE;
    }

    @Override
    public void storeMeasured(StoreFigures figures) {
        healthy = figures.healthy();
    }

    boolean isHealthy() {
        long since = workingSinceNanos;
        return healthy && (since == IDLE || nanoTime.getAsLong() - since < HANGS_NANOS);
    }
}
