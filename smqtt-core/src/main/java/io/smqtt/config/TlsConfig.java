// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of one listener: {@code smqtt.listeners.<name>.tls.*}. Files are PEM.
 *
 * @param certificate the certificate chain
 * @param key the private key, PKCS #8
 * @param clientCa what client certificates are verified against
 * @param clientAuth whether a client certificate is wanted
 * @param userName what part of the client certificate is the user name
 */
public record TlsConfig(
        Path certificate,
        Path key,
        @Nullable Path clientCa,
        ClientAuth clientAuth,
        CertificateUserName userName) {

    /** Whether a client certificate is wanted. */
    public enum ClientAuth {
        /** Not asked for. */
        NONE,
        /** Verified if sent. */
        OPTIONAL,
        /** Without a verified one the handshake fails. */
        REQUIRED
    }

    /** What part of the client certificate is the user name. */
    public enum CertificateUserName {
        /** None: the CONNECT names the user. */
        NONE,
        /** The common name of the subject. */
        CN,
        /** The whole subject, by RFC 2253. */
        DN
    }
}
