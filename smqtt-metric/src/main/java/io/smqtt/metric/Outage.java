// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Tells of the failures of what is tried again and again: of the first, then at most once a minute, and once when it works
 * again. Any thread.
 */
final class Outage {

    private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final String what;
    private final Consumer<String> warning;
    private final Consumer<String> note;
    private final LongSupplier nanoTime;

    // under the lock of this
    private boolean failing;
    private long toldNanos;
    private long untold;

    /**
     * Creates one.
     *
     * @param what is tried, such as "metrics to http://127.0.0.1:8086"
     * @param warning takes what is told of failures
     * @param note takes what is told when it works again
     * @param nanoTime the time in nanoseconds
     */
    Outage(String what, Consumer<String> warning, Consumer<String> note, LongSupplier nanoTime) {
        this.what = what;
        this.warning = warning;
        this.note = note;
        this.nanoTime = nanoTime;
    }

    /** It failed, for a reason that people understand. */
    synchronized void failed(String reason) {
        long now = nanoTime.getAsLong();
        if (failing && now - toldNanos < SILENCE_NANOS) {
            untold++;
            return;
        }
        warning.accept(what + " could not be sent: " + reason
                + (untold == 0 ? "" : "; " + untold + " more times since the last word of it"));
        failing = true;
        toldNanos = now;
        untold = 0;
    }

    /** It worked. */
    synchronized void worked() {
        if (failing) {
            failing = false;
            note.accept(what + " can be sent again; " + untold + " more times it failed since the last word of it");
            untold = 0;
        }
    }
}
