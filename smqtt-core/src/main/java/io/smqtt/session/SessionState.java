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
 * @param claimClock the time of the session's claim, by the cluster's clock
 * @param cleanClock the time of the clean start that began it and ended all earlier ones; 0 if none
 * @param awaitingRelease identifiers of QoS 2 messages from the client that await PUBREL, each 1 to 65,535
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
