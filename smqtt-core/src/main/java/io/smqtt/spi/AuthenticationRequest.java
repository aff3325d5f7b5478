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
 * @param userName the user name, or null; from the client certificate if the listener is configured so
 * @param password the password, or null
 * @param remoteAddress the client's address, also behind a trusted proxy
 * @param listener the name of its listener
 * @param version the protocol version
 * @param certificate the client certificate that TLS verified, or null
 * @param userNameFromCertificate whether the user name comes from the certificate and so is verified
 * @param local whether the client is on this machine: its address is a loopback address, no proxy has identified itself, and it is not a
 *     web page of another host
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
     * A request of a client without a proxy, so that its address shows whether it is local.
     *
     * @param clientId the client identifier, assigned by the broker if the client sent none
     * @param userName the user name, or null
     * @param password the password, or null
     * @param remoteAddress the client's address
     * @param listener the name of its listener
     * @param version the protocol version
     * @param certificate the client certificate that TLS verified, or null
     * @param userNameFromCertificate whether the user name comes from the certificate and so is verified
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

    /** Without the password. */
    @Override
    public String toString() {
        return "AuthenticationRequest[clientId=" + clientId + ", userName=" + userName + ", " + remoteAddress + ']';
    }
}
