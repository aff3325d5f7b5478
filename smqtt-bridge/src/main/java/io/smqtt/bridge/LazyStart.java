// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.BridgeConfig;
import io.smqtt.session.Session;

/**
 * Decides when a connection of a bridge with {@code start: lazy} begins and ends, by what it sees once a second: a message costs nothing.
 * Guarded by its bridge.
 */
final class LazyStart {

    private final int threshold;
    private final long idleNanos;
    private long passed;
    private long sinceNanos;

    /**
     * A sample of the queue and the traffic of a connection.
     *
     * @param isThere whether there is a session in which they wait; with one of several nodes not before the first connection
     * @param waiting those that wait
     * @param inFlight those that the other broker has not acknowledged
     * @param passed how many have been sent, repetitions included
     */
    record View(boolean isThere, int waiting, int inFlight, long passed) {

        static View of(OwnSession own, BridgeCounts counts) {
            Session session = own.find();
            return new View(
                    session != null,
                    own.waiting(),
                    session == null ? 0 : session.inFlightCount(),
                    counts.sent() + counts.resent());
        }
    }

    /**
     * Creates the decisions for one connection.
     *
     * @param config has the threshold, of which each of several connections has its part, and the time without messages
     */
    LazyStart(BridgeConfig config) {
        this.threshold = Math.max(1, config.threshold() / config.connections());
        this.idleNanos = config.idleTimeout().toNanos();
    }

    /** Whether the connection is to begin: so many messages wait, or there is nothing in which they could. */
    boolean begins(View view) {
        return !view.isThere() || view.waiting() >= threshold;
    }

    /** The connection is there. */
    void connected(View view, long nowNanos) {
        passed = view.passed();
        sinceNanos = nowNanos;
    }

    /** Whether no message has passed for the configured time, and none waits or is in flight. */
    boolean isIdle(View view, long nowNanos) {
        if (view.waiting() > 0 || view.inFlight() > 0 || view.passed() != passed) {
            connected(view, nowNanos);
            return false;
        }
        return nowNanos - sinceNanos >= idleNanos;
    }
}
