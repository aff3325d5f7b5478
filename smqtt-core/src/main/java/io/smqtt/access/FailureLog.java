// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports failures of plugged-in access checks, once in ten seconds at most: clients decide how often they happen. */
final class FailureLog {

    private static final Logger LOG = LoggerFactory.getLogger(FailureLog.class);
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final String message;
    private final AtomicLong nextNanos = new AtomicLong(System.nanoTime());

    FailureLog(String message) {
        this.message = message;
    }

    void report(Throwable error) {
        long now = System.nanoTime();
        long next = nextNanos.get();
        if (now - next >= 0 && nextNanos.compareAndSet(next, now + INTERVAL_NANOS)) {
            LOG.warn("{}", message, error);
        }
    }
}
