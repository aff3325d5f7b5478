// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.List;

/**
 * A stored session without its messages.
 *
 * @param session its header
 * @param waiting a summary of its queued messages
 * @param subscriptions its subscriptions
 * @param received identifiers of QoS 2 messages of its client that wait for PUBREL, each 1 to 65,535
 */
public record FoundSession(
        StoredSession session, StoredQueue waiting, List<StoredSubscription> subscriptions, List<Integer> received) {

    /** Copies the lists. */
    public FoundSession {
        subscriptions = List.copyOf(subscriptions);
        received = List.copyOf(received);
    }
}
