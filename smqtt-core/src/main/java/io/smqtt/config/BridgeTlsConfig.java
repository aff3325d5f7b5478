// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of a bridge: {@code smqtt.bridges.<name>.tls.*}. Files are PEM. With a {@code tls} block an address without a scheme is dialled with
 * TLS.
 *
 * @param ca the certificate authorities that the other broker's certificate is checked with; by default those of the Java runtime
 * @param certificate the certificate chain of the bridge, if the other broker requires one; read again on SIGHUP
 * @param key the private key of that certificate; read again on SIGHUP
 * @param verifyHost whether the other broker's certificate must be for the host name of the address
 * @param alpn the protocol name that is offered in the handshake, for brokers that share a port with HTTPS; none by default
 */
@ConfigBlock("tls")
public record BridgeTlsConfig(
        @Nullable Path ca,
        @Nullable Path certificate,
        @Nullable Path key,
        @Setting("true") boolean verifyHost,
        String alpn) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if only one of certificate and key is set, or the protocol name is too long
     */
    public BridgeTlsConfig {
        Check.together(new String[] {"tls.certificate", "tls.key"}, certificate, key);
        Check.that(
                alpn.length() <= 255 && alpn.chars().allMatch(c -> c > ' ' && c < 0x7f),
                "tls.alpn",
                "must have at most 255 visible ASCII characters");
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static BridgeTlsConfigBuilder builder() {
        return new BridgeTlsConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public BridgeTlsConfigBuilder toBuilder() {
        return new BridgeTlsConfigBuilder(this);
    }
}
