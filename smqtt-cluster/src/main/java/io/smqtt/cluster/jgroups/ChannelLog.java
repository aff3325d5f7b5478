// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.log.LogLimiter;
import io.smqtt.thread.AnyThread;
import org.jgroups.logging.CustomLogFactory;
import org.jgroups.logging.Log;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The log of the cluster's channel, for JGroups. Warnings and errors are rate-limited, because every host that reaches the port can cause
 * most of them.
 */
@AnyThread
final class ChannelLog implements Log, CustomLogFactory {

    private static final Logger LOG = LoggerFactory.getLogger(ChannelLog.class);
    private static final int PER_MINUTE = 6;

    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, PER_MINUTE);

    private void warning(String message, @Nullable Throwable cause) {
        if (lines.allows("the cluster's channel")) {
            LOG.warn("{}{}", message, cause == null ? "" : ": " + cause);
        }
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
        warning(message, null);
    }

    @Override
    public void fatal(String format, Object... args) {
        warning(format(format, args), null);
    }

    @Override
    public void fatal(String message, Throwable cause) {
        warning(message, cause);
    }

    @Override
    public void error(String message) {
        warning(message, null);
    }

    @Override
    public void error(String format, Object... args) {
        warning(format(format, args), null);
    }

    @Override
    public void error(String message, Throwable cause) {
        warning(message, cause);
    }

    @Override
    public void warn(String message) {
        warning(message, null);
    }

    @Override
    public void warn(String format, Object... args) {
        warning(format(format, args), null);
    }

    @Override
    public void warn(String message, Throwable cause) {
        warning(message, cause);
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
