// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.message.LogText;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of messages that a listener method failed with: the first, and at most one a minute, with its stack trace and the number of
 * those before it that were not told of. Whoever may publish chooses topics, payloads and how often that is, so texts are shown
 * without control characters. Any thread.
 */
final class FailureLog {

    private static final Logger LOG = LoggerFactory.getLogger(MqttListener.class);
    private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final String name;
    private final LongSupplier nanoTime;
    private boolean told; // these three guarded by this
    private long toldNanos;
    private long untold;

    /**
     * Creates a log of one method.
     *
     * @param name bean and method
     * @param nanoTime the time in nanoseconds, from any beginning
     */
    FailureLog(String name, LongSupplier nanoTime) {
        this.name = name;
        this.nanoTime = nanoTime;
    }

    /**
     * Tells of a failure, or counts it.
     *
     * @param topic of the message
     * @param error what the method threw
     */
    void failed(String topic, Throwable error) {
        long before;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            if (told && now - toldNanos < SILENCE_NANOS) {
                untold++;
                return;
            }
            told = true;
            toldNanos = now;
            before = untold;
            untold = 0;
        }
        Throwable shown = Shown.of(error);
        if (before == 0) {
            LOG.error("{} failed with a message of topic {}", name, LogText.escape(topic), shown);
        } else {
            LOG.error(
                    "{} failed with a message of topic {}, and with {} messages before it",
                    name,
                    LogText.escape(topic),
                    before,
                    shown);
        }
    }

    /** An exception as it may be logged: with the same traces, but without control characters in the texts. */
    private static final class Shown extends Exception {

        private static final long serialVersionUID = 1L;
        private static final int DEEPEST = 16;

        private Shown(Throwable error, @Nullable Throwable cause) {
            super(LogText.escape(error.toString()), cause);
        }

        private static Throwable of(Throwable error) {
            return isClean(error, DEEPEST) ? error : copy(error, DEEPEST);
        }

        private static boolean isClean(Throwable error, int deeper) {
            String text = error.toString();
            Throwable cause = error.getCause();
            boolean clean = deeper > 0
                    && LogText.escape(text).equals(text)
                    && (cause == null || cause == error || isClean(cause, deeper - 1));
            for (Throwable suppressed : error.getSuppressed()) {
                clean = clean && isClean(suppressed, deeper - 1);
            }
            return clean;
        }

        private static Throwable copy(Throwable error, int deeper) {
            Throwable cause = deeper == 0 ? null : error.getCause();
            Shown shown = new Shown(error, cause == null ? null : copy(cause, deeper - 1));
            shown.setStackTrace(error.getStackTrace());
            if (deeper > 0) {
                for (Throwable suppressed : error.getSuppressed()) {
                    shown.addSuppressed(copy(suppressed, deeper - 1));
                }
            }
            return shown;
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this; // it gets that of the other
        }

        @Override
        @SuppressWarnings(
                "OverrideThrowableToString") // the name of the class says nothing, that of the other is in the message
        public String toString() {
            return String.valueOf(getMessage());
        }
    }
}
