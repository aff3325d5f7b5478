// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoredSubscription;
import java.util.List;
import java.util.Map;
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
 * @param numbers the identifiers of the next messages of the client by packet identifier, 1 to 65,535 or 0, see {@link
 *     io.smqtt.spi.StoreWriter#putReleased}; empty if the session has none
 */
public record SessionState(
        String clientId,
        @Nullable String userName,
        long expirySeconds,
        long claimClock,
        long cleanClock,
        List<StoredSubscription> subscriptions,
        List<Integer> awaitingRelease,
        Map<Integer, Long> numbers) {

    /**
     * A session without identifiers of next messages.
     *
     * @param clientId see above, like the others
     * @param userName the user, or null
     * @param expirySeconds the session expiry interval
     * @param claimClock the time of its claim
     * @param cleanClock the time of the clean start
     * @param subscriptions its subscriptions
     * @param awaitingRelease identifiers that await PUBREL
     */
    public SessionState(
            String clientId,
            @Nullable String userName,
            long expirySeconds,
            long claimClock,
            long cleanClock,
            List<StoredSubscription> subscriptions,
            List<Integer> awaitingRelease) {
        this(clientId, userName, expirySeconds, claimClock, cleanClock, subscriptions, awaitingRelease, Map.of());
    }

    /** Copies the collections. */
    public SessionState {
        subscriptions = List.copyOf(subscriptions);
        awaitingRelease = List.copyOf(awaitingRelease);
        numbers = Map.copyOf(numbers);
    }

    /**
     * The same session with identifiers of next messages.
     *
     * @param others the identifiers by packet identifier
     * @return a new state
     */
    public SessionState withNumbers(Map<Integer, Long> others) {
        return new SessionState(
                clientId, userName, expirySeconds, claimClock, cleanClock, subscriptions, awaitingRelease, others);
    }
}
