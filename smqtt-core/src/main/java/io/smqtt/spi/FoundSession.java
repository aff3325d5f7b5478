// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.List;
import java.util.Map;

/**
 * A stored session without its messages.
 *
 * @param session its header
 * @param waiting a summary of its queued messages
 * @param subscriptions its subscriptions
 * @param received identifiers of QoS 2 messages of its client that wait for PUBREL, each 1 to 65,535
 * @param released the identifiers of the next messages by packet identifier, 1 to 65,535 or 0, see {@link StoreWriter#putReleased}
 */
public record FoundSession(
        StoredSession session,
        StoredQueue waiting,
        List<StoredSubscription> subscriptions,
        List<Integer> received,
        Map<Integer, Long> released) {

    /**
     * A session without identifiers of next messages.
     *
     * @param session see above, like the others
     * @param waiting a summary of its queued messages
     * @param subscriptions its subscriptions
     * @param received identifiers that wait for PUBREL
     */
    public FoundSession(
            StoredSession session,
            StoredQueue waiting,
            List<StoredSubscription> subscriptions,
            List<Integer> received) {
        this(session, waiting, subscriptions, received, Map.of());
    }

    /** Copies the collections. */
    public FoundSession {
        subscriptions = List.copyOf(subscriptions);
        received = List.copyOf(received);
        released = Map.copyOf(released);
    }
}
