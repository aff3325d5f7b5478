// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.config.TlsConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** An authority made for a test, with what it issues, as files in a directory. */
final class TestCertificates {

    final Path directory;
    final X509Bundle authority;

    TestCertificates(Path directory) throws Exception {
        this.directory = directory;
        this.authority = new CertificateBuilder()
                .ecp256()
                .subject("CN=test authority")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Files.writeString(directory.resolve("ca.pem"), authority.getCertificatePEM());
    }

    X509Bundle issue(String subject) throws Exception {
        return new CertificateBuilder()
                .ecp256()
                .subject(subject)
                .addSanDnsName("localhost")
                .buildIssuedBy(authority);
    }

    TlsConfig server(String subject, TlsConfig.ClientAuth clientAuth) throws Exception {
        writeServer(issue(subject));
        return new TlsConfig(
                directory.resolve("server.pem"),
                directory.resolve("server.key"),
                directory.resolve("ca.pem"),
                clientAuth,
                TlsConfig.CertificateUserName.NONE);
    }

    void writeServer(X509Bundle bundle) throws Exception {
        Files.writeString(directory.resolve("server.pem"), bundle.getCertificatePathPEM());
        Files.writeString(directory.resolve("server.key"), bundle.getPrivateKeyPEM());
    }

    SSLContext client(@Nullable X509Bundle own) throws Exception {
        KeyManager[] keys = own == null ? null : own.toKeyManagerFactory().getKeyManagers();
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, authority.toTrustManagerFactory().getTrustManagers(), null);
        return context;
    }
}
