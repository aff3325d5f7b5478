// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of a listener: {@code smqtt.listeners.<name>.tls.*}. Files are PEM. Nodes of a cluster have {@link ClusterTlsConfig}.
 * With a {@code tls} block a TCP listener speaks TLS and a WebSocket listener WSS.
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
     * Checks what bounds do not say.
     *
     * @throws ConfigurationException if a value is wrong, or does not go with another
     */
    public TlsConfig {
        Check.that(
                clientAuth == ClientAuth.NONE || clientCa != null,
                "tls.client-ca",
                "must be set where tls.client-auth is optional or required");
        Check.that(
                userName == CertificateUserName.NONE || clientAuth != ClientAuth.NONE,
                "tls.user-name",
                "needs tls.client-auth optional or required");
    }

    /**
     * TLS without client certificates.
     *
     * @param certificate the certificate chain, PEM
     * @param key the private key, PEM, PKCS #8
     * @return a builder, for one thread
     */
    public static TlsConfigBuilder builder(Path certificate, Path key) {
        return new TlsConfigBuilder().certificate(certificate).key(key);
    }

    /** Whether clients must show a certificate. */
    public enum ClientAuth {
        /** Not asked for. */
        NONE,
        /** Verified if sent. */
        OPTIONAL,
        /** Without a verified one the handshake fails. */
        REQUIRED
    }

    /** The part of a client certificate that becomes the user name. */
    public enum CertificateUserName {
        /** None: the CONNECT names the user. */
        NONE,
        /** The common name of the subject. */
        CN,
        /** The whole subject, by RFC 2253. */
        DN
    }

    /**
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public TlsConfigBuilder toBuilder() {
        return new TlsConfigBuilder(this);
    }
}
