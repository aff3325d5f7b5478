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
 * @param remoteAddress where the client really is, behind a trusted proxy too
 * @param listener the name of the listener it came by
 * @param version the protocol version
 * @param roles what an authenticator granted; empty by default
 * @param bridge whether it is another broker's bridge and said so in its CONNECT: its subscriptions have No Local and
 *     Retain As Published
 */
public record ClientIdentity(
        String clientId,
        @Nullable String userName,
        InetSocketAddress remoteAddress,
        String listener,
        ProtocolVersion version,
        Set<String> roles,
        boolean bridge) {

    /**
     * A client that is no bridge.
     *
     * @param clientId the client identifier
     * @param userName the authenticated user, or null for an anonymous client
     * @param remoteAddress where the client really is, behind a trusted proxy too
     * @param listener the name of the listener it came by
     * @param version the protocol version
     * @param roles what an authenticator granted
     */
    public ClientIdentity(
            String clientId,
            @Nullable String userName,
            InetSocketAddress remoteAddress,
            String listener,
            ProtocolVersion version,
            Set<String> roles) {
        this(clientId, userName, remoteAddress, listener, version, roles, false);
    }
}
