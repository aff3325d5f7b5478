// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.ClientIdentity;
import org.jspecify.annotations.Nullable;

/**
 * The session that an authenticated client requests in its CONNECT.
 *
 * @param client the client's identity
 * @param cleanStart whether an existing session is discarded
 * @param expirySeconds the granted session expiry interval; 0 to end with the connection
 * @param will the will, or null
 * @param sink the client's connection
 * @param loop the event loop of the connection
 * @param reply receives the outcome, on that loop
 */
public record SessionRequest(
        ClientIdentity client,
        boolean cleanStart,
        long expirySeconds,
        @Nullable Will will,
        PacketSink sink,
        RoutingLoop loop,
        Reply reply) {

    /** Receives the outcome. */
    public interface Reply {

        /**
         * The client has its session. Send the CONNACK now, then call {@link Session#start()}.
         *
         * @param session the session, owned by the connection's event loop from now on
         * @param sessionPresent whether it existed before
         */
        void opened(Session session, boolean sessionPresent);

        /**
         * The client gets no session.
         *
         * @param reason the reason code of the CONNACK
         */
        void refused(ReasonCode reason);
    }
}
