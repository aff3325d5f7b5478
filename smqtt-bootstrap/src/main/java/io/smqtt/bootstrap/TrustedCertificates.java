// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.List;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManagerFactory;

/** Certificates of a PEM file, for asking a server that shows one of them, or one that they have signed. */
final class TrustedCertificates {

    private final List<Certificate> certificates;

    private TrustedCertificates(List<Certificate> certificates) {
        this.certificates = certificates;
    }

    /**
     * Reads a file. Blocks.
     *
     * @param file certificates, PEM
     * @return one or more
     * @throws IOException if there are none; its message is for people
     */
    static TrustedCertificates of(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            List<Certificate> read =
                    List.copyOf(CertificateFactory.getInstance("X.509").generateCertificates(in));
            if (!read.isEmpty()) {
                return new TrustedCertificates(read);
            }
        } catch (CertificateException e) {
            throw new IOException(file + " holds no certificates: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new IOException("the certificates in " + file + " cannot be read", e);
        }
        throw new IOException(file + " holds no certificates");
    }

    /**
     * Makes a connection trust these certificates and no others.
     *
     * @param connection not yet made
     * @param pinned whether the first certificate is the server's own: then it may be asked by any name
     * @throws IOException if this Java cannot do TLS
     */
    void trustedBy(HttpsURLConnection connection, boolean pinned) throws IOException {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (int i = 0; i < certificates.size(); i++) {
                store.setCertificateEntry(Integer.toString(i), certificates.get(i));
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            connection.setSSLSocketFactory(context.getSocketFactory());
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS cannot be set up: " + e.getMessage(), e);
        }
        if (pinned) { // asked only where the name in the certificate is not the one that was asked for
            connection.setHostnameVerifier((name, session) -> isOwn(session));
        }
    }

    private boolean isOwn(SSLSession session) {
        try {
            return session.getPeerCertificates()[0].equals(certificates.get(0));
        } catch (SSLPeerUnverifiedException e) {
            return false;
        }
    }
}
