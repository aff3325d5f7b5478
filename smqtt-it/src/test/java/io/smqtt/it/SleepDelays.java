// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The delays of a thread of the test that only sleeps, 100 ms at a time: the machine itself adds them to all delays of the same time. */
final class SleepDelays implements AutoCloseable {

    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int MOST = 100_000;

    private final long[] lateNanos = new long[MOST];
    private final Thread thread = new Thread(this::run, "sleep-delays");
    private volatile int count;
    private volatile boolean stopped;

    SleepDelays() {
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        for (int i = 0; !stopped && i < MOST; i++) {
            long until = System.nanoTime() + SLEEP_NANOS;
            for (long left = SLEEP_NANOS; left > 0; left = until - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            lateNanos[i] = System.nanoTime() - until;
            count = i + 1;
        }
    }

    @Override
    public String toString() {
        long[] sorted = Arrays.copyOf(lateNanos, count);
        Arrays.sort(sorted);
        return sorted.length == 0
                ? "none"
                : String.format(
                        Locale.ROOT,
                        "%d delays: 50 %% within %.1f ms, 99 %% within %.1f ms, the greatest %.1f ms",
                        sorted.length,
                        sorted[sorted.length / 2] / 1e6,
                        sorted[sorted.length * 99 / 100] / 1e6,
                        sorted[sorted.length - 1] / 1e6);
    }

    @Override
    public void close() {
        stopped = true;
    }
}
