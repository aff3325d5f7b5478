// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Certificates of authorities that a backend trusts, from a file in PEM. */
public final class Authorities {

    private Authorities() {}

    /**
     * Reads a file of certificates. Blocks.
     *
     * @param settings the settings of a backend
     * @param key a declared key whose value is a file
     * @return the trust in these authorities only; null if the key is absent, for those of Java
     * @throws ConfigurationException if the file has no certificates that can be read, with key and line
     */
    public static @Nullable TrustManagerFactory of(BackendSettings settings, String key) {
        Path file = settings.file(key);
        try {
            return file == null ? null : trusting(file);
        } catch (IOException | GeneralSecurityException e) {
            throw settings.problem(
                    key, "names " + file + ", which has no certificates of authorities in PEM that can be read");
        }
    }

    private static TrustManagerFactory trusting(Path file) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (InputStream pem = Files.newInputStream(file)) {
            Collection<? extends Certificate> certificates =
                    CertificateFactory.getInstance("X.509").generateCertificates(pem);
            if (certificates.isEmpty()) {
                throw new IOException("no certificate");
            }
            for (Certificate certificate : certificates) {
                trusted.setCertificateEntry("authority-" + trusted.size(), certificate);
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(trusted);
        return factory;
    }
}
