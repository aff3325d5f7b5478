// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.QoS;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The details of one session, see {@link Broker#client}.
 *
 * @param info identity, protocol version, address and listener of the client, whether it is connected, and its message counts
 * @param keepAlive the effective keep alive; null without a connection or without keep alive
 * @param sessionExpiry how long the session remains without a connection; zero if it ends with the connection, null if it never
 *     expires
 * @param stored whether the session survives a restart
 * @param sendMaximum the maximum number of unacknowledged messages; 0 without a connection
 * @param queuedBytes size of the queue, as it counts against the limits
 * @param subscriptions the subscriptions, sorted by filter
 */
public record ClientDetails(
        ClientInfo info,
        @Nullable Duration keepAlive,
        @Nullable Duration sessionExpiry,
        boolean stored,
        int sendMaximum,
        long queuedBytes,
        List<Filter> subscriptions) {

    /** Copies the list. */
    public ClientDetails {
        subscriptions = List.copyOf(subscriptions);
    }

    /**
     * A subscription.
     *
     * @param filter as the client wrote it, {@code $share/…} included
     * @param maximumQos the granted quality of service
     * @param noLocal whether the client's own messages are not delivered to it
     * @param retainAsPublished whether the retain flag is kept
     * @param identifier the subscription identifier; 0 for none
     */
    public record Filter(String filter, QoS maximumQos, boolean noLocal, boolean retainAsPublished, int identifier) {}
}
