// SPDX-License-Identifier: Apache-2.0
package io.smqtt.log;

import io.smqtt.thread.AnyThread;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Logs a condition that begins and ends, such as a server that cannot be reached: its begin at once, then one message per
 * minute with the number of failures in between, and its end with the duration. If it comes and goes, at most one begin per ten
 * seconds is logged, and an end only where the begin was.
 */
@AnyThread
public final class Outage {

    private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long BEGIN_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Logger log;
    private final Level level;
    private final String failure;
    private final String recovery;
    private final LongSupplier nanoTime;

    // guarded by this
    private boolean failing;
    private boolean announced;
    private boolean everLogged;
    private long beganNanos;
    private long loggedNanos;
    private long suppressed;

    /**
     * Creates a condition that has not begun.
     *
     * @param log where it is logged
     * @param level of the failures; the end is logged at level INFO
     * @param failure what to log of a failure, such as "metrics could not be sent"
     * @param recovery what to log of the end, such as "metrics can be sent again"
     */
    public Outage(Logger log, Level level, String failure, String recovery) {
        this(log, level, failure, recovery, System::nanoTime);
    }

    Outage(Logger log, Level level, String failure, String recovery, LongSupplier nanoTime) {
        this.log = log;
        this.level = level;
        this.failure = failure;
        this.recovery = recovery;
        this.nanoTime = nanoTime;
    }

    /**
     * Begins the condition, or continues it.
     *
     * @param reason why, for an operator
     */
    public synchronized void failed(String reason) {
        long now = nanoTime.getAsLong();
        if (!failing) {
            failing = true;
            announced = false;
            beganNanos = now;
        }
        if (everLogged && now - loggedNanos < (announced ? INTERVAL_NANOS : BEGIN_INTERVAL_NANOS)) {
            suppressed++;
            return;
        }
        String more = suppressed == 0 ? "" : " (for " + seconds(now - beganNanos) + more() + ')';
        log.atLevel(level).log("{}: {}{}", failure, reason, more);
        everLogged = true;
        announced = true;
        loggedNanos = now;
        suppressed = 0;
    }

    /** Ends the condition, if it had begun. */
    public synchronized void recovered() {
        if (!failing) {
            return;
        }
        failing = false;
        if (announced) {
            log.info("{} after {}{}", recovery, seconds(nanoTime.getAsLong() - beganNanos), more());
            suppressed = 0;
        }
    }

    private String more() {
        return suppressed == 0 ? "" : ", " + suppressed + " more failures since the last message";
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f s", nanos / (double) TimeUnit.SECONDS.toNanos(1));
    }
}
