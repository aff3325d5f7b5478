// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS between equals: each side shows its certificate and accepts only those that one authority has signed. */
public final class MutualTls {

    private MutualTls() {}

    /**
     * Reads certificate, key and authority. Blocks.
     *
     * @param key the configuration key of the {@code tls} block, for messages
     * @param config the files
     * @return a context for both sides of a connection
     * @throws ConfigurationException if a file cannot be used
     */
    public static SSLContext context(String key, ClusterTlsConfig config) {
        X509Certificate[] chain = new PemFile(key + ".certificate", config.certificate()).certificates();
        PemFile keyFile = new PemFile(key + ".key", config.key());
        try {
            KeyStore own = KeyStore.getInstance(KeyStore.getDefaultType());
            own.load(null, null);
            own.setKeyEntry("own", keyFile.privateKey(), new char[0], chain);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(own, new char[0]);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), trust(key, config.clientCa()).getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new ConfigurationException(key + ": TLS cannot be set up: " + e.getMessage(), e);
        }
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
}
