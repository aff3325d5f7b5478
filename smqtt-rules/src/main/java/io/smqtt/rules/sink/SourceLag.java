// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks from time to time how many messages wait in the external system of a source, and reports it. An unknown number is reported as such, and asked
 * again; after an error, such as of a right that is missing, a minute later. For the thread of a run.
 */
public final class SourceLag {

    private static final Logger LOG = LoggerFactory.getLogger(SourceLag.class);
    private static final long AFTER_ERROR_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Asks the external system. */
    @FunctionalInterface
    public interface Question {

        /**
         * Asks how many messages wait.
         *
         * @return the number, at least 0; empty if the external system does not know it at present
         * @throws Exception if it does not answer, or does not allow the question
         */
        OptionalLong ask() throws Exception;
    }

    private final SourceOutput out;
    private final long intervalNanos;
    private final LongSupplier nanoTime;
    private long nextNanos;

    /**
     * Creates it for a run that begins now.
     *
     * @param out of the run
     * @param interval between two questions; the first one comes after it
     * @param nanoTime a clock, in nanoseconds
     */
    public SourceLag(SourceOutput out, Duration interval, LongSupplier nanoTime) {
        this.out = out;
        this.intervalNanos = interval.toNanos();
        this.nanoTime = nanoTime;
        this.nextNanos = nanoTime.getAsLong() + intervalNanos;
    }

    /**
     * Asks and reports, if it is time.
     *
     * @param question may block; its exceptions are logged at the level DEBUG, and end nothing
     */
    public void tell(Question question) {
        if (nanoTime.getAsLong() - nextNanos < 0) {
            return;
        }
        long pauseNanos = intervalNanos;
        OptionalLong lag = OptionalLong.empty();
        try {
            lag = question.ask();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            pauseNanos = AFTER_ERROR_NANOS;
            LOG.debug("the lag of a source is not known", e);
        }
        if (lag.isPresent()) {
            out.lag(lag.getAsLong());
        } else {
            out.lagUnknown();
        }
        nextNanos = nanoTime.getAsLong() + pauseNanos;
    }
}
