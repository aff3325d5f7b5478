// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jgroups.logging.CustomLogFactory;
import org.jgroups.logging.Log;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * What the channel has to say, at most one line in ten seconds of warnings and errors: most of them can be provoked by whoever
 * reaches the port. How many were left out is said with the next one. Any thread.
 */
final class LimitedLog implements Log, CustomLogFactory {

    private static final Logger LOG = LoggerFactory.getLogger(LimitedLog.class);
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final LongSupplier nanoTime;
    private long saidAtNanos;
    private int leftOut;

    /**
     * Creates a log for one channel.
     *
     * @param nanoTime a monotonic clock
     */
    LimitedLog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.saidAtNanos = nanoTime.getAsLong() - INTERVAL_NANOS;
    }

    private void say(String message, @Nullable Throwable cause) {
        int missing;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            if (now - saidAtNanos < INTERVAL_NANOS) {
                leftOut++;
                return;
            }
            saidAtNanos = now;
            missing = leftOut;
            leftOut = 0;
        }
        String reason = cause == null ? "" : ": " + cause;
        String rest = missing == 0 ? "" : " (and " + missing + " more lines before)";
        LOG.warn("{}{}{}", message, reason, rest);
    }

    private static String format(String format, @Nullable Object... args) {
        try {
            return String.format(java.util.Locale.ROOT, format, args);
        } catch (java.util.IllegalFormatException e) {
            return format;
        }
    }

    private static void quietly(Level level, String format, @Nullable Object... args) {
        if (LOG.isEnabledForLevel(level)) {
            LOG.atLevel(level).log(format(format, args));
        }
    }

    @Override
    public Log getLog(Class<?> type) {
        return this;
    }

    @Override
    public Log getLog(String category) {
        return this;
    }

    @Override
    public boolean isFatalEnabled() {
        return true;
    }

    @Override
    public boolean isErrorEnabled() {
        return true;
    }

    @Override
    public boolean isWarnEnabled() {
        return LOG.isWarnEnabled();
    }

    @Override
    public boolean isInfoEnabled() {
        return isDebugEnabled();
    }

    @Override
    public boolean isDebugEnabled() {
        return LOG.isDebugEnabled();
    }

    @Override
    public boolean isTraceEnabled() {
        return LOG.isTraceEnabled();
    }

    @Override
    public void fatal(String message) {
        say(message, null);
    }

    @Override
    public void fatal(String format, Object... args) {
        say(format(format, args), null);
    }

    @Override
    public void fatal(String message, Throwable cause) {
        say(message, cause);
    }

    @Override
    public void error(String message) {
        say(message, null);
    }

    @Override
    public void error(String format, Object... args) {
        say(format(format, args), null);
    }

    @Override
    public void error(String message, Throwable cause) {
        say(message, cause);
    }

    @Override
    public void warn(String message) {
        say(message, null);
    }

    @Override
    public void warn(String format, Object... args) {
        say(format(format, args), null);
    }

    @Override
    public void warn(String message, Throwable cause) {
        say(message, cause);
    }

    @Override
    public void info(String message) {
        quietly(Level.DEBUG, "%s", message);
    }

    @Override
    public void info(String format, Object... args) {
        quietly(Level.DEBUG, format, args);
    }

    @Override
    public void debug(String message) {
        quietly(Level.DEBUG, "%s", message);
    }

    @Override
    public void debug(String format, Object... args) {
        quietly(Level.DEBUG, format, args);
    }

    @Override
    public void debug(String message, Throwable cause) {
        quietly(Level.DEBUG, "%s: %s", message, cause);
    }

    @Override
    public void trace(Object message) {
        quietly(Level.TRACE, "%s", message);
    }

    @Override
    public void trace(String message) {
        quietly(Level.TRACE, "%s", message);
    }

    @Override
    public void trace(String format, Object... args) {
        quietly(Level.TRACE, format, args);
    }

    @Override
    public void trace(String message, Throwable cause) {
        quietly(Level.TRACE, "%s: %s", message, cause);
    }

    @Override
    public void setLevel(String level) {}

    @Override
    public String getLevel() {
        return LOG.isTraceEnabled() ? "trace" : LOG.isDebugEnabled() ? "debug" : "warn";
    }
}
