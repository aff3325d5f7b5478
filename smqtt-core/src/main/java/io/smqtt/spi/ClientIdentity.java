// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ProtocolVersion;
import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a connected client, as accepted by authentication.
 *
 * @param clientId the client identifier
 * @param userName the authenticated user, or null for an anonymous client
 * @param remoteAddress the client's address, also behind a trusted proxy
 * @param listener the name of its listener
 * @param version the protocol version
 * @param roles the roles from an authenticator; empty by default
 * @param bridge whether its CONNECT has identified it as another broker's bridge: its subscriptions have No Local and Retain As Published
 * @param grants what its authenticator has granted in addition; {@link Grants#NONE} by default
 */
public record ClientIdentity(
        String clientId,
        @Nullable String userName,
        InetSocketAddress remoteAddress,
        String listener,
        ProtocolVersion version,
        Set<String> roles,
        boolean bridge,
        Grants grants) {

    /**
     * Creates the identity of a client that is not a bridge.
     *
     * @param clientId the client identifier
     * @param userName the authenticated user, or null for an anonymous client
     * @param remoteAddress the client's address, also behind a trusted proxy
     * @param listener the name of its listener
     * @param version the protocol version
     * @param roles the roles from an authenticator
     */
    public ClientIdentity(
            String clientId,
            @Nullable String userName,
            InetSocketAddress remoteAddress,
            String listener,
            ProtocolVersion version,
            Set<String> roles) {
        this(clientId, userName, remoteAddress, listener, version, roles, false, Grants.NONE);
    }
}
