// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of a listener: {@code smqtt.listeners.<name>.tls.*}. Files are PEM. With a {@code tls} block a TCP listener uses TLS and a
 * WebSocket listener WSS. For nodes of a cluster see {@link ClusterTlsConfig}.
 *
 * @param certificate the certificate chain, PEM; read again on SIGHUP
 * @param key the private key, PEM, PKCS #8; read again on SIGHUP
 * @param clientCa the certificate authorities of client certificates, PEM
 * @param clientAuth whether clients must have a certificate
 * @param userName which part of the client certificate is the user name: none, the common name, or the whole
 *     subject
 */
@ConfigBlock("tls")
public record TlsConfig(
        @Setting(required = true) Path certificate,
        @Setting(required = true) Path key,
        @Nullable Path clientCa,
        @Setting("none") ClientAuth clientAuth,
        @Setting("none") CertificateUserName userName) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public TlsConfig {
        Check.that(
                clientAuth == ClientAuth.NONE || clientCa != null,
                "tls.client-ca",
                "must be set if tls.client-auth is optional or required");
        Check.that(
                userName == CertificateUserName.NONE || clientAuth != ClientAuth.NONE,
                "tls.user-name",
                "needs tls.client-auth optional or required");
    }

    /**
     * Creates a builder for TLS without client certificates.
     *
     * @param certificate the certificate chain, PEM
     * @param key the private key, PEM, PKCS #8
     * @return a builder, for one thread
     */
    public static TlsConfigBuilder builder(Path certificate, Path key) {
        return new TlsConfigBuilder().certificate(certificate).key(key);
    }

    /** The handling of client certificates. */
    public enum ClientAuth {
        /** Not requested. */
        NONE,
        /** Requested, and verified if the client sends one. */
        OPTIONAL,
        /** Required: without a verified certificate the handshake fails. */
        REQUIRED
    }

    /** The part of a client certificate that becomes the user name. */
    public enum CertificateUserName {
        /** None: the user name of the CONNECT is used. */
        NONE,
        /** The common name of the subject. */
        CN,
        /** The whole subject, in the form of RFC 2253. */
        DN
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public TlsConfigBuilder toBuilder() {
        return new TlsConfigBuilder(this);
    }
}
