// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredSubscription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A session without its messages, as one node sends it to another.
 *
 * @param clientId the client identifier
 * @param userName the user of its last connection, or null
 * @param expirySeconds the session expiry interval, 1 to 4,294,967,295
 * @param subscriptions its subscriptions
 * @param claimClock when the session was claimed, by the cluster's clock
 * @param cleanClock when it began with a clean start, which ended all that was before; 0 if it did not
 * @param awaitingRelease identifiers of QoS 2 messages from the client that wait for PUBREL, each 1 to 65,535
 */
public record SessionState(
        String clientId,
        @Nullable String userName,
        long expirySeconds,
        long claimClock,
        long cleanClock,
        List<StoredSubscription> subscriptions,
        List<Integer> awaitingRelease) {

    /** Copies the lists. */
    public SessionState {
        subscriptions = List.copyOf(subscriptions);
        awaitingRelease = List.copyOf(awaitingRelease);
    }
}
