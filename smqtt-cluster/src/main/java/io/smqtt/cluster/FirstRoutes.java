// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides how long a starting node waits for the routes of the nodes that it has met. Without them it would acknowledge messages for their
 * sessions and drop them. A process of which nothing but a connection is known, such as one that was killed a moment ago, is awaited for a
 * short time only.
 */
@OnClusterLoop
final class FirstRoutes {

    private static final Logger LOG = LoggerFactory.getLogger(FirstRoutes.class);

    /** The longest wait for reachable nodes: a million routes arrive in less on a slow machine. */
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** Longer than any wait. */
    static final Duration TIMEOUT = Duration.ofSeconds(70);

    private final BooleanSupplier isComplete;
    private final Supplier<List<NodeIdentity>> missing;
    private final long silentNanos;
    private final LongSupplier nanoTime;
    private final long beganNanos;
    private boolean isLogged;

    /**
     * Begins to wait.
     *
     * @param isComplete whether the routes of all connected processes are known, or the start ends without them
     * @param missing the reachable nodes whose routes are missing
     * @param silent the wait for processes that have not introduced themselves, or are connected in another way only
     * @param nanoTime a monotonic clock
     */
    FirstRoutes(
            BooleanSupplier isComplete, Supplier<List<NodeIdentity>> missing, Duration silent, LongSupplier nanoTime) {
        this.isComplete = isComplete;
        this.missing = missing;
        this.silentNanos = silent.toNanos();
        this.nanoTime = nanoTime;
        this.beganNanos = nanoTime.getAsLong();
    }

    /** Whether this node may accept clients. */
    boolean isOver() {
        if (isComplete.getAsBoolean()) {
            return true;
        }
        long waited = nanoTime.getAsLong() - beganNanos;
        if (waited < silentNanos) {
            return false;
        }
        List<NodeIdentity> awaited = missing.get();
        if (awaited.isEmpty()) {
            return true;
        }
        if (waited >= LONGEST_NANOS) {
            LOG.warn(
                    "starting without the routes of {}, which have not arrived in {} s: what this node takes before they do does not reach"
                            + " sessions there",
                    awaited,
                    TimeUnit.NANOSECONDS.toSeconds(LONGEST_NANOS));
            return true;
        }
        if (!isLogged) {
            isLogged = true;
            LOG.info(
                    "waiting for the routes of {}: no clients and no bridges before, for {} s at most",
                    awaited,
                    TimeUnit.NANOSECONDS.toSeconds(LONGEST_NANOS - waited));
        }
        return false;
    }
}
