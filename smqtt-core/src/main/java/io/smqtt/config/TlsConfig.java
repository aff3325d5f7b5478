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
 * @param clientCa the authorities that client certificates are verified against, PEM
 * @param clientAuth whether a client certificate is wanted
 * @param userName what part of the client certificate is the user name: none of it, its common name, or its whole
 *     subject
 */
public record TlsConfig(
        @ConfigDoc("the certificate chain, PEM; read again on SIGHUP")
        Path certificate,

        @ConfigDoc("the private key, PEM, PKCS #8; read again on SIGHUP")
        Path key,

        @ConfigDoc("the certificate authorities of client certificates, PEM") @Nullable
        Path clientCa,

        @ConfigDoc(value = "whether clients must have a certificate", fallback = "none")
        ClientAuth clientAuth,

        @ConfigDoc(
                value =
                        "which part of the client certificate is the user name: none, the common name, or the whole subject",
                fallback = "none")
        CertificateUserName userName) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public TlsConfig {
        Check.present("tls.certificate", certificate);
        Check.present("tls.key", key);
        Check.present("tls.client-auth", clientAuth);
        Check.present("tls.user-name", userName);
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
    public static Builder builder(Path certificate, Path key) {
        return new TlsConfig(certificate, key, null, ClientAuth.NONE, CertificateUserName.NONE).toBuilder();
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
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link TlsConfig}. Not safe for several threads. */
    public static final class Builder {

        private Path certificate;
        private Path key;
        private @Nullable Path clientCa;
        private ClientAuth clientAuth;
        private CertificateUserName userName;

        private Builder(TlsConfig from) {
            certificate = from.certificate;
            key = from.key;
            clientCa = from.clientCa;
            clientAuth = from.clientAuth;
            userName = from.userName;
        }

        /** {@return this, with {@link TlsConfig#certificate()} set to the argument} */
        public Builder certificate(Path value) {
            certificate = value;
            return this;
        }

        /** {@return this, with {@link TlsConfig#key()} set to the argument} */
        public Builder key(Path value) {
            key = value;
            return this;
        }

        /** {@return this, with {@link TlsConfig#clientCa()} set to the argument} */
        public Builder clientCa(@Nullable Path value) {
            clientCa = value;
            return this;
        }

        /** {@return this, with {@link TlsConfig#clientAuth()} set to the argument} */
        public Builder clientAuth(ClientAuth value) {
            clientAuth = value;
            return this;
        }

        /** {@return this, with {@link TlsConfig#userName()} set to the argument} */
        public Builder userName(CertificateUserName value) {
            userName = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public TlsConfig build() {
            return new TlsConfig(certificate, key, clientCa, clientAuth, userName);
        }
    }
}
