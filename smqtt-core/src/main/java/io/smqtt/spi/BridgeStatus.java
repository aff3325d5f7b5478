// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of a bridge of this node. Immutable. Counts begin with the broker.
 *
 * @param name its name in the configuration; of several connections this is the first one's, and the others append a dot and a number from 2
 * @param state what it does
 * @param address host:port of the other broker, of the last or the present attempt; empty before the first one
 * @param since when it began to be in this state
 * @param lastError why the last connection ended or the last attempt failed; null if none did
 * @param queued messages that wait for the other broker
 * @param sent messages sent to it, without repetitions
 * @param received messages received from it
 * @param resent messages sent to it again because it had not acknowledged them
 * @param drops messages for it that were not sent but dropped, by reason; a reason without messages may be absent
 * @param receivedDrops messages received from it that were not published here but dropped, by reason; not part of {@code received}
 * @param refused of the messages sent, those that it has refused for good
 * @param rttNanos the time to the other broker and back in nanoseconds, measured at CONNECT and at each PINGREQ; 0 if unknown
 */
public record BridgeStatus(
        String name,
        State state,
        String address,
        Instant since,
        @Nullable String lastError,
        long queued,
        long sent,
        long received,
        long resent,
        Map<BridgeDrop, Long> drops,
        Map<BridgeDrop, Long> receivedDrops,
        long refused,
        long rttNanos) {

    /** Copies the maps. */
    public BridgeStatus {
        drops = Map.copyOf(drops);
        receivedDrops = Map.copyOf(receivedDrops);
    }

    /**
     * The messages for the other broker that were dropped.
     *
     * @return the sum over all reasons
     */
    public long dropped() {
        return sum(drops);
    }

    /**
     * The messages of the other broker that were dropped.
     *
     * @return the sum over all reasons
     */
    public long receivedDropped() {
        return sum(receivedDrops);
    }

    private static long sum(Map<BridgeDrop, Long> counts) {
        return counts.values().stream().mapToLong(count -> count).sum();
    }

    /** What a bridge does. */
    public enum State {
        /** An operator has stopped it, or the broker has not started it yet. */
        STOPPED,
        /** Another node of the cluster connects it, or it is lazy and connects when messages wait. */
        STANDBY,
        /** It connects for the first time, or after an operator has started it. */
        CONNECTING,
        /** It is connected. */
        CONNECTED,
        /** It is not connected, and tries again and again. */
        DISCONNECTED
    }
}
