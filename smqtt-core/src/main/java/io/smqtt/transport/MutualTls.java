// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.handler.ssl.SslHandler;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collections;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Mutual TLS: each side sends its certificate and accepts only certificates of one authority. The files can be reloaded; open connections
 * are not affected. Thread-safe.
 */
@AnyThread
public final class MutualTls {

    private static final String[] TLS_VERSIONS = {"TLSv1.3", "TLSv1.2"};

    private final String key;
    private final ClusterTlsConfig config;
    private final SSLContext context;
    private volatile Managers managers;

    private record Managers(X509ExtendedKeyManager keys, X509ExtendedTrustManager trust) {}

    private MutualTls(String key, ClusterTlsConfig config) {
        this.key = key;
        this.config = config;
        this.managers = read(key, config);
        try {
            this.context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new CurrentKeys()}, new TrustManager[] {new CurrentTrust()}, null);
        } catch (GeneralSecurityException e) {
            throw new ConfigurationException(key + ": TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    /**
     * Reads certificate, key and authority. Blocks.
     *
     * @param key the configuration key of the {@code tls} block, for messages
     * @param config the files
     * @return the TLS context factory for both sides of connections
     * @throws ConfigurationException if a file cannot be used
     */
    public static MutualTls of(String key, ClusterTlsConfig config) {
        return new MutualTls(key, config);
    }

    /**
     * Returns the context for both sides of connections, with the files that were read last.
     *
     * @return the same context every time
     */
    public SSLContext context() {
        return context;
    }

    /**
     * Creates the handler of one end of a connection, with the guards of listeners against large handshakes and renegotiation, and without
     * received bytes in the messages of its exceptions. It has no timeout for the handshake.
     *
     * @param dialled the address of the other end if this end has dialled; null for an accepted connection, which needs a certificate
     * @return a new handler
     */
    public SslHandler handler(@Nullable InetSocketAddress dialled) {
        SSLEngine engine = dialled == null
                ? context.createSSLEngine()
                : context.createSSLEngine(dialled.getHostString(), dialled.getPort());
        engine.setUseClientMode(dialled != null);
        engine.setEnabledProtocols(TLS_VERSIONS.clone());
        if (dialled == null) {
            engine.setNeedClientAuth(true);
        }
        return new GuardedTls(engine);
    }

    /**
     * Reloads the files: new connections use them, and no earlier TLS session is resumed. Blocks.
     *
     * @return the files that were read
     * @throws ConfigurationException if one cannot be used; then the old ones stay in use
     */
    public List<Path> reload() {
        managers = read(key, config);
        forget(context.getClientSessionContext());
        forget(context.getServerSessionContext());
        return List.of(config.certificate(), config.key(), config.clientCa());
    }

    private static void forget(@Nullable SSLSessionContext sessions) {
        if (sessions == null) {
            return;
        }
        for (byte[] id : Collections.list(sessions.getIds())) {
            SSLSession session = sessions.getSession(id);
            if (session != null) {
                session.invalidate();
            }
        }
    }

    private static Managers read(String key, ClusterTlsConfig config) {
        X509Certificate[] chain = new PemFile(key + ".certificate", config.certificate()).certificates();
        PemFile keyFile = new PemFile(key + ".key", config.key());
        PrivateKey privateKey = keyFile.privateKey(chain[0].getPublicKey());
        if (!TlsContexts.belongTogether(privateKey, chain[0].getPublicKey())) {
            throw keyFile.invalid("does not belong to the first certificate of " + config.certificate(), null);
        }
        try {
            KeyStore own = KeyStore.getInstance(KeyStore.getDefaultType());
            own.load(null, null);
            own.setKeyEntry("own", privateKey, new char[0], chain);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(own, new char[0]);
            return new Managers(
                    only(X509ExtendedKeyManager.class, keys.getKeyManagers()),
                    only(
                            X509ExtendedTrustManager.class,
                            trust(key, config.clientCa()).getTrustManagers()));
        } catch (GeneralSecurityException | IOException e) {
            throw new ConfigurationException(key + ": TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    private static <T> T only(Class<T> kind, Object[] managers) throws GeneralSecurityException {
        for (Object manager : managers) {
            if (kind.isInstance(manager)) {
                return kind.cast(manager);
            }
        }
        throw new GeneralSecurityException("this JVM has no " + kind.getSimpleName());
    }

    private static TrustManagerFactory trust(String key, Path authorities)
            throws GeneralSecurityException, IOException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        int count = 0;
        for (X509Certificate authority : new PemFile(key + ".client-ca", authorities).certificates()) {
            trusted.setCertificateEntry("authority-" + count++, authority);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(trusted);
        return factory;
    }

    /** The certificate and key that were read last. */
    private final class CurrentKeys extends X509ExtendedKeyManager {

        @Override
        public String @Nullable [] getClientAliases(String type, Principal @Nullable [] issuers) {
            return managers.keys().getClientAliases(type, issuers);
        }

        @Override
        public @Nullable String chooseClientAlias(
                String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return managers.keys().chooseClientAlias(types, issuers, socket);
        }

        @Override
        public @Nullable String chooseEngineClientAlias(
                String[] types, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            return managers.keys().chooseEngineClientAlias(types, issuers, engine);
        }

        @Override
        public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
            return managers.keys().getServerAliases(type, issuers);
        }

        @Override
        public @Nullable String chooseServerAlias(
                String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return managers.keys().chooseServerAlias(type, issuers, socket);
        }

        @Override
        public @Nullable String chooseEngineServerAlias(
                String type, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
            return managers.keys().chooseEngineServerAlias(type, issuers, engine);
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            return managers.keys().getCertificateChain(alias);
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            return managers.keys().getPrivateKey(alias);
        }
    }

    /** The authority that was read last. */
    private final class CurrentTrust extends X509ExtendedTrustManager {

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            managers.trust().checkClientTrusted(chain, type);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, @Nullable Socket socket)
                throws CertificateException {
            managers.trust().checkClientTrusted(chain, type, socket);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, @Nullable SSLEngine engine)
                throws CertificateException {
            managers.trust().checkClientTrusted(chain, type, engine);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            managers.trust().checkServerTrusted(chain, type);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, @Nullable Socket socket)
                throws CertificateException {
            managers.trust().checkServerTrusted(chain, type, socket);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, @Nullable SSLEngine engine)
                throws CertificateException {
            managers.trust().checkServerTrusted(chain, type, engine);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return managers.trust().getAcceptedIssuers();
        }
    }
}
