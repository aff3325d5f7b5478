// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * The main figures of one node: counters since its start, and what it has now. Immutable.
 *
 * @param received messages accepted from publishers
 * @param receivedBytes their payload
 * @param delivered messages written to a subscriber for the first time
 * @param deliveredBytes their payload
 * @param dropped deliveries that ended without being written, for every reason
 * @param accepted accepted CONNECT packets
 * @param online connected clients now
 * @param sessions sessions now, online and offline
 * @param subscriptions subscriptions of this node's clients now
 * @param sharedGroups shared groups with a member on this node now
 * @param retained retained messages now
 * @param queued messages in queues; up to 10 s old
 * @param inFlight messages sent to subscribers and not yet acknowledged; up to 10 s old
 */
public record BrokerFigures(
        long received,
        long receivedBytes,
        long delivered,
        long deliveredBytes,
        Map<DropReason, Long> dropped,
        long accepted,
        long online,
        long sessions,
        long subscriptions,
        long sharedGroups,
        long retained,
        long queued,
        long inFlight) {

    /** Copies the map. */
    public BrokerFigures {
        EnumMap<DropReason, Long> copy = new EnumMap<>(DropReason.class);
        copy.putAll(dropped);
        dropped = Collections.unmodifiableMap(copy);
    }

    /**
     * Sums the dropped deliveries.
     *
     * @return deliveries, whatever the reason
     */
    public long droppedInAll() {
        long sum = 0;
        for (long count : dropped.values()) {
            sum += count;
        }
        return sum;
    }
}
