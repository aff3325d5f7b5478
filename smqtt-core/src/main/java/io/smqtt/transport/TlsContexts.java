// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.TlsConfig;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS of one listener or of the management port, 1.2 and 1.3 only. Holds the context from the files that were read last; a connection
 * keeps its own. The JDK's TLS is used, or OpenSSL if the application adds it.
 *
 * <p>Creation and reload read files, and so may block.
 */
@AnyThread
public final class TlsContexts {

    private static final Logger LOG = LoggerFactory.getLogger(TlsContexts.class);
    private static final String[] VERSIONS = {"TLSv1.3", "TLSv1.2"};
    private static final byte[] PROBE = {1, 2, 3};

    private final String key;
    private final TlsConfig config;
    private volatile SslContext current;

    /**
     * Reads the files.
     *
     * @param key the configuration key of the block, for messages
     * @param config the block
     * @throws ConfigurationException if a file cannot be used
     */
    public TlsContexts(String key, TlsConfig config) {
        this.key = key;
        this.config = config;
        this.current = load();
    }

    /**
     * Validates the files: throws the same exception as the constructor.
     *
     * @param key the configuration key of the block, for messages
     * @param config the block
     * @throws ConfigurationException if a file cannot be used
     */
    public static void check(String key, TlsConfig config) {
        Objects.requireNonNull(new TlsContexts(key, config).current);
    }

    /**
     * A handler for a new connection.
     *
     * @param allocator the allocator of the connection
     * @return the first handler of its pipeline; it has no handshake timeout of its own
     */
    public SslHandler newHandler(ByteBufAllocator allocator) {
        return new GuardedTls(current.newEngine(allocator));
    }

    /**
     * Reloads the files for new connections.
     *
     * @return the files
     * @throws ConfigurationException if a file cannot be used; then the old ones stay in use
     */
    public List<Path> reload() {
        current = load();
        List<Path> files = new ArrayList<>(List.of(config.certificate(), config.key()));
        Path authorities = config.clientCa();
        if (authorities != null && config.clientAuth() != TlsConfig.ClientAuth.NONE) {
            files.add(authorities);
        }
        return files;
    }

    private SslContext load() {
        PemFile certificateFile = new PemFile(key + ".certificate", config.certificate());
        X509Certificate[] chain = certificateFile.certificates();
        PemFile keyFile = new PemFile(key + ".key", config.key());
        PrivateKey privateKey = keyFile.privateKey(chain[0].getPublicKey());
        warnIfReadableByOthers(config.key());
        if (!belongTogether(privateKey, chain[0].getPublicKey())) {
            throw keyFile.invalid("does not belong to the first certificate of " + config.certificate(), null);
        }
        try {
            SslContextBuilder builder = SslContextBuilder.forServer(privateKey, chain)
                    .sslProvider(provider(privateKey))
                    .protocols(VERSIONS)
                    .clientAuth(clientAuth());
            addClientAuthorities(builder);
            return builder.build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new ConfigurationException(key + ": TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    /** BoringSSL accepts Edwards keys when they are loaded, and then fails in each handshake. */
    private SslProvider provider(PrivateKey privateKey) {
        boolean edwards = privateKey.getAlgorithm().startsWith("Ed");
        if (edwards || !OpenSsl.isAvailable()) {
            return SslProvider.JDK;
        }
        LOG.info("{}: TLS by {}", key, OpenSsl.versionString());
        return SslProvider.OPENSSL;
    }

    private void addClientAuthorities(SslContextBuilder builder) {
        if (config.clientAuth() == TlsConfig.ClientAuth.NONE) {
            return;
        }
        Path authorities = config.clientCa();
        if (authorities == null) {
            throw new ConfigurationException(key + ".client-auth needs " + key + ".client-ca");
        }
        builder.trustManager(new PemFile(key + ".client-ca", authorities).certificates());
    }

    private ClientAuth clientAuth() {
        return switch (config.clientAuth()) {
            case NONE -> ClientAuth.NONE;
            case OPTIONAL -> ClientAuth.OPTIONAL;
            case REQUIRED -> ClientAuth.REQUIRE;
        };
    }

    /** Signs and verifies a test value, because a wrong key would otherwise fail only in the first handshake. */
    static boolean belongTogether(PrivateKey privateKey, PublicKey publicKey) {
        String algorithm = switch (privateKey.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            case "EdDSA", "Ed25519", "Ed448" -> "EdDSA";
            default -> "";
        };
        if (algorithm.isEmpty()) {
            return true; // not checked
        }
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(privateKey);
            signature.update(PROBE);
            byte[] signed = signature.sign();
            signature.initVerify(publicKey);
            signature.update(PROBE);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private static void warnIfReadableByOthers(Path file) {
        try {
            if (Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
                LOG.warn("{} can be read by every user of this machine", file);
            }
        } catch (UnsupportedOperationException | IOException e) {
            LOG.debug("permissions of {} are not known", file, e);
        }
    }
}
