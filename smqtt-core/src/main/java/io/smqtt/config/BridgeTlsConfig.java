// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * TLS of a bridge: {@code smqtt.bridges.<name>.tls.*}. Files are PEM. With a {@code tls} block an address without a scheme is dialled with
 * TLS.
 *
 * @param ca the certificate authorities that the other broker's certificate is checked with; by default those of the Java runtime
 * @param certificate the certificate chain of the bridge, if the other broker requires one; read again on SIGHUP
 * @param key the private key of that certificate; read again on SIGHUP
 * @param verifyHost whether the other broker's certificate must be for the host name of the address
 * @param minVersion the lowest version of TLS: 1.2 or 1.3
 * @param ciphers the cipher suites that are offered, by their standard names such as {@code TLS_AES_256_GCM_SHA384}; by default those of the Java
 *     runtime
 * @param alpn the protocol name that is offered in the handshake, for brokers that share a port with HTTPS; none by default
 */
@ConfigBlock("tls")
public record BridgeTlsConfig(
        @Nullable Path ca,
        @Nullable Path certificate,
        @Nullable Path key,
        @Setting("true") boolean verifyHost,
        @Setting("1.2") String minVersion,
        List<String> ciphers,
        String alpn) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if only one of certificate and key is set, a version or cipher suite cannot be used, or the protocol name is too
     *     long
     */
    public BridgeTlsConfig {
        ciphers = List.copyOf(ciphers);
        Check.that(minVersion.equals("1.2") || minVersion.equals("1.3"), "tls.min-version", "must be 1.2 or 1.3");
        Check.that(
                ciphers.stream().noneMatch(suite -> suite.contains("_anon_") || suite.contains("_WITH_NULL_")),
                "tls.ciphers",
                "has a suite without encryption or without a certificate");
        Check.that(
                minVersion.equals("1.2")
                        || ciphers.isEmpty()
                        || ciphers.stream().anyMatch(BridgeTlsConfig::isOfTls13),
                "tls.ciphers",
                "must have a suite of TLS 1.3, such as TLS_AES_256_GCM_SHA384, with tls.min-version: 1.3");
        Check.together(new String[] {"tls.certificate", "tls.key"}, certificate, key);
        Check.that(
                alpn.length() <= 255 && alpn.chars().allMatch(c -> c > ' ' && c < 0x7f),
                "tls.alpn",
                "must have at most 255 visible ASCII characters");
    }

    /** Names of suites before TLS 1.3 have the key exchange before WITH. */
    private static boolean isOfTls13(String suite) {
        return !suite.contains("_WITH_");
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
