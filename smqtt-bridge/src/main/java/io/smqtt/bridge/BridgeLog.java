// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.log.LogLimiter;
import io.smqtt.thread.AnyThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Logs which messages one connection of a bridge does not pass on, once a minute for each cause. */
@AnyThread
final class BridgeLog {

    private static final Logger LOG = LoggerFactory.getLogger(BridgeLog.class);

    private final String bridge;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private long loggedDrops; // guarded by this
    private long loggedGivenUp; // guarded by this

    /**
     * Creates a log.
     *
     * @param bridge the name of the connection
     */
    BridgeLog(String bridge) {
        this.bridge = bridge;
    }

    /**
     * Logs that a message is not passed on.
     *
     * @param side {@code from} or {@code for}
     * @param other the other broker
     */
    void dropped(DropCause cause, String side, String other, String topic) {
        if (lines.allows("bridge " + bridge + ": " + cause)) {
            LOG.warn("bridge {}: a message {} {} is dropped, topic {}: {}", bridge, side, other, topic, cause.text());
        }
    }

    /**
     * Logs how many messages were dropped from the queue since the last call.
     *
     * @param dropped their number since the session began on this node
     * @param waiting the messages that wait
     */
    synchronized void queueDrops(long dropped, int waiting) {
        if (dropped > loggedDrops) {
            LOG.warn(
                    "bridge {}: {} messages were dropped because the queue is full, or they expired in it; {} wait",
                    bridge,
                    dropped - loggedDrops,
                    waiting);
        }
        loggedDrops = dropped;
    }

    /**
     * Logs how many messages have expired since the last call before any connection could pass them on.
     *
     * @param total their number since the start of the broker
     */
    synchronized void givenUp(long total) {
        if (total > loggedGivenUp) {
            LOG.warn(
                    "bridge {}: {} messages are dropped: {}", bridge, total - loggedGivenUp, DropCause.GIVEN_UP.text());
        }
        loggedGivenUp = total;
    }

    /** Logs that the other broker refuses messages for the time being. */
    void quota(String other, long millis) {
        if (lines.allows("bridge " + bridge + " quota")) {
            LOG.warn(
                    "bridge {}: {} refuses a message with reason 0x97 (quota exceeded); it is sent again in {} ms, and others wait",
                    bridge,
                    other,
                    millis);
        }
    }

    /** Logs that the other broker answers a message with an error. */
    void refused(String other, int reason) {
        if (lines.allows("bridge " + bridge + " refused")) {
            LOG.warn(
                    "bridge {}: {} refuses a message with reason {}; it is not sent again",
                    bridge,
                    other,
                    String.format("0x%02x", reason));
        }
    }

    /** Logs that a message which the other broker has refused for the time being has expired. */
    void expired(String other) {
        if (lines.allows("bridge " + bridge + " expired")) {
            LOG.warn("bridge {}: a message expires that {} has refused until now; it is not sent again", bridge, other);
        }
    }
}
