// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * An authority, a server and a client certificate as PEM files, made by the {@code openssl} command for one test run. The server's
 * certificate is valid for {@code localhost}, 127.0.0.1 and ::1.
 */
final class TestCertificates {

    private final Path directory;

    private TestCertificates(Path directory) {
        this.directory = directory;
    }

    /** Makes the files in the directory. Fails when there is no {@code openssl} command. */
    static TestCertificates in(Path directory) {
        TestCertificates certificates = new TestCertificates(directory);
        certificates.openssl(
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=smqtt test authority",
                "-keyout",
                "ca.key",
                "-out",
                "ca.crt");
        certificates.renewServer();
        certificates.sign("client", "extendedKeyUsage=clientAuth\n");
        return certificates;
    }

    /** Replaces the server's key and certificate; the new one has another serial number. */
    void renewServer() {
        sign("server", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\nextendedKeyUsage=serverAuth\n");
    }

    /** Makes or replaces key and certificate of a node of a cluster, which is server and client. */
    void renewNode(String name) {
        sign(name, "extendedKeyUsage=serverAuth,clientAuth\n");
    }

    /** PEM certificate of that name. */
    Path certificate(String name) {
        return directory.resolve(name + ".crt");
    }

    /** Unencrypted PKCS#8 key of that name. */
    Path key(String name) {
        return directory.resolve(name + ".key");
    }

    /** PEM certificate of the authority. */
    Path authority() {
        return directory.resolve("ca.crt");
    }

    /** PEM certificate of the server. */
    Path serverCertificate() {
        return directory.resolve("server.crt");
    }

    /** Unencrypted PKCS#8 key of the server. */
    Path serverKey() {
        return directory.resolve("server.key");
    }

    /** PEM certificate of a client whose common name is {@code client}. */
    Path clientCertificate() {
        return directory.resolve("client.crt");
    }

    /** Unencrypted PKCS#8 key of the client. */
    Path clientKey() {
        return directory.resolve("client.key");
    }

    /** Trust in nothing but the authority. */
    static TrustManagerFactory trust(Path authority) {
        try (InputStream pem = Files.newInputStream(authority)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            return trust;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("cannot read " + authority, e);
        }
    }

    /** A client context that trusts nothing but the authority. */
    static SSLContext context(Path authority) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust(authority).getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private void sign(String name, String extensions) {
        try {
            Files.writeString(directory.resolve(name + ".ext"), extensions);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        openssl(
                "req",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-subj",
                "/CN=" + name,
                "-keyout",
                name + ".key",
                "-out",
                name + ".csr");
        openssl(
                "x509",
                "-req",
                "-in",
                name + ".csr",
                "-CA",
                "ca.crt",
                "-CAkey",
                "ca.key",
                "-CAcreateserial",
                "-days",
                "2",
                "-extfile",
                name + ".ext",
                "-out",
                name + ".crt");
    }

    private void openssl(String... arguments) {
        List<String> command = new java.util.ArrayList<>(List.of(ForeignProgram.path("openssl")));
        command.addAll(List.of(arguments));
        Path log = directory.resolve("openssl.log");
        try {
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            if (process.waitFor() != 0) {
                throw new IllegalStateException(command + " failed: " + Files.readString(log));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the openssl command is needed to make test certificates", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
