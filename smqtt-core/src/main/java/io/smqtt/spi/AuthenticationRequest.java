// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ProtocolVersion;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import org.jspecify.annotations.Nullable;

/**
 * The credentials of a CONNECT.
 *
 * @param clientId the client identifier, assigned by the broker if the client sent none
 * @param userName the user name, or null; taken from the client certificate where the listener says so
 * @param password the password, or null
 * @param remoteAddress where the client really is, behind a trusted proxy too
 * @param listener the name of the listener it came by
 * @param version the protocol version
 * @param certificate the client certificate that TLS verified, or null
 * @param userNameFromCertificate whether the user name comes from the certificate, which proves it
 * @param local whether the client is on this machine: its address is a loopback address, it came by no proxy that says so,
 *     and not from a web page of another host
 */
public record AuthenticationRequest(
        String clientId,
        @Nullable String userName,
        byte @Nullable [] password,
        InetSocketAddress remoteAddress,
        String listener,
        ProtocolVersion version,
        @Nullable X509Certificate certificate,
        boolean userNameFromCertificate,
        boolean local) {

    /**
     * A request of a client that came straight, so that its address tells whether it is on this machine.
     *
     * @param clientId the client identifier, assigned by the broker if the client sent none
     * @param userName the user name, or null
     * @param password the password, or null
     * @param remoteAddress where the client really is
     * @param listener the name of the listener it came by
     * @param version the protocol version
     * @param certificate the client certificate that TLS verified, or null
     * @param userNameFromCertificate whether the user name comes from the certificate, which proves it
     */
    public AuthenticationRequest(
            String clientId,
            @Nullable String userName,
            byte @Nullable [] password,
            InetSocketAddress remoteAddress,
            String listener,
            ProtocolVersion version,
            @Nullable X509Certificate certificate,
            boolean userNameFromCertificate) {
        this(
                clientId,
                userName,
                password,
                remoteAddress,
                listener,
                version,
                certificate,
                userNameFromCertificate,
                isLoopback(remoteAddress));
    }

    private static boolean isLoopback(InetSocketAddress address) {
        return !address.isUnresolved() && address.getAddress().isLoopbackAddress();
    }

    /** Names no password. */
    @Override
    public String toString() {
        return "AuthenticationRequest[clientId=" + clientId + ", userName=" + userName + ", " + remoteAddress + ']';
    }
}
