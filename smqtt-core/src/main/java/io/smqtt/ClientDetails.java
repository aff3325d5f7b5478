// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.QoS;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of one session, see {@link Broker#client}.
 *
 * @param info who the client is with protocol version, address and listener, whether it is connected, and how much waits
 * @param keepAlive the keep alive in force; null without a connection, and if there is none
 * @param sessionExpiry how long the session lives on without a connection; zero if it ends with it, null if for ever
 * @param stored whether the session survives the process
 * @param sendMaximum how many messages may wait for an acknowledgement; 0 without a connection
 * @param queuedBytes what waits, as it counts against the limits
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
     * @param noLocal whether the client's own messages stay away
     * @param retainAsPublished whether the retain flag is kept
     * @param identifier the subscription identifier; 0 for none
     */
    public record Filter(String filter, QoS maximumQos, boolean noLocal, boolean retainAsPublished, int identifier) {}
}
