// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.smqtt.config.BridgeTlsConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

/**
 * TLS of connections that this broker opens, 1.2 and 1.3 only, by the JDK. Holds the context from the files that were read last; a
 * connection keeps its own. Creation and reload read files, and so may block.
 */
@AnyThread
public final class ClientTls {

    private static final String TLS_1_3 = "TLSv1.3";
    private static final String TLS_1_2 = "TLSv1.2";

    private final String key;
    private final BridgeTlsConfig config;
    private volatile SslContext current;

    /**
     * Reads the files.
     *
     * @param key the configuration key of the block, for messages
     * @param config the block
     * @throws ConfigurationException if a file cannot be used
     */
    public ClientTls(String key, BridgeTlsConfig config) {
        this.key = key;
        this.config = config;
        this.current = load();
    }

    /**
     * A handler for a new connection.
     *
     * @param allocator the allocator of the connection
     * @param host the name that is sent to the server, and that its certificate must be for
     * @param port the port of the server
     * @return the first handler of its pipeline; it has no handshake timeout of its own
     */
    public SslHandler newHandler(ByteBufAllocator allocator, String host, int port) {
        SslHandler handler = current.newHandler(allocator, host, port);
        handler.setHandshakeTimeoutMillis(0);
        return handler;
    }

    /**
     * Reloads the files for new connections.
     *
     * @return the files
     * @throws ConfigurationException if a file cannot be used; then the old ones stay in use
     */
    public Stream<Path> reload() {
        current = load();
        return Stream.of(config.ca(), config.certificate(), config.key()).filter(Objects::nonNull);
    }

    private SslContext load() {
        try {
            SslContextBuilder builder = SslContextBuilder.forClient()
                    .sslProvider(SslProvider.JDK)
                    .protocols(config.minVersion().equals("1.3") ? List.of(TLS_1_3) : List.of(TLS_1_3, TLS_1_2))
                    .endpointIdentificationAlgorithm(config.verifyHost() ? "HTTPS" : null);
            Path authorities = config.ca();
            if (authorities != null) {
                builder.trustManager(new PemFile(key + ".ca", authorities).certificates());
            }
            if (!config.ciphers().isEmpty()) {
                checkSuites();
                builder.ciphers(config.ciphers());
            }
            addCertificate(builder);
            if (!config.alpn().isEmpty()) {
                builder.applicationProtocolConfig(new ApplicationProtocolConfig(
                        ApplicationProtocolConfig.Protocol.ALPN,
                        ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                        ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                        config.alpn()));
            }
            return builder.build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new ConfigurationException(key + ": TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    private void checkSuites() throws SSLException {
        Set<String> known;
        try {
            known = Set.of(SSLContext.getDefault().getSupportedSSLParameters().getCipherSuites());
        } catch (NoSuchAlgorithmException e) {
            throw new SSLException(e);
        }
        for (String suite : config.ciphers()) {
            if (!known.contains(suite)) {
                throw new ConfigurationException(
                        key + ".ciphers",
                        "has " + suite + ", which this Java runtime does not have; use standard names such as"
                                + " TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
            }
        }
    }

    private void addCertificate(SslContextBuilder builder) {
        Path certificate = config.certificate();
        Path keyPath = config.key();
        if (certificate == null || keyPath == null) {
            return;
        }
        X509Certificate[] chain = new PemFile(key + ".certificate", certificate).certificates();
        PemFile keyFile = new PemFile(key + ".key", keyPath);
        PrivateKey privateKey = keyFile.privateKey(chain[0].getPublicKey());
        if (!TlsContexts.belongTogether(privateKey, chain[0].getPublicKey())) {
            throw keyFile.invalid("does not belong to the first certificate of " + certificate, null);
        }
        builder.keyManager(privateKey, chain);
    }
}
