// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class MutualTlsTest {

    @TempDir
    Path directory;

    private static X509Bundle authority(String name) throws Exception {
        return new CertificateBuilder()
                .ecp256()
                .subject("CN=" + name)
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    private ClusterTlsConfig files(String name, X509Bundle issuer) throws Exception {
        X509Bundle own = new CertificateBuilder().ecp256().subject("CN=" + name).buildIssuedBy(issuer);
        Path certificate = Files.writeString(directory.resolve(name + ".pem"), own.getCertificatePathPEM());
        Path key = Files.writeString(directory.resolve(name + ".key"), own.getPrivateKeyPEM());
        Path ca = Files.writeString(directory.resolve(name + "-ca.pem"), issuer.getCertificatePEM());
        return new ClusterTlsConfig(certificate, key, ca);
    }

    /** Who has issued the certificate that the server shows in a handshake. */
    private static String handshake(MutualTls server, MutualTls client) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (SSLServerSocket listening =
                (SSLServerSocket) server.context().getServerSocketFactory().createServerSocket(0, 1, loopback)) {
            listening.setNeedClientAuth(true);
            Future<Integer> served = thread.submit(() -> {
                try (SSLSocket accepted = (SSLSocket) listening.accept()) {
                    accepted.getOutputStream().write(1);
                    return accepted.getInputStream().read();
                }
            });
            try (SSLSocket socket =
                    (SSLSocket) client.context().getSocketFactory().createSocket(loopback, listening.getLocalPort())) {
                socket.startHandshake();
                assertThat(socket.getInputStream().read()).isEqualTo(1);
                socket.getOutputStream().write(2);
                X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
                assertThat(served.get(30, TimeUnit.SECONDS)).isEqualTo(2);
                return shown.getIssuerX500Principal().getName();
            }
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void whatIsReadAgainCountsFromTheNextHandshakeOn() throws Exception {
        X509Bundle before = authority("before");
        X509Bundle after = authority("after");
        ClusterTlsConfig files = files("one", before);
        MutualTls one = MutualTls.of("cluster.tls", files);
        MutualTls other = MutualTls.of("cluster.tls", files("other", before));
        MutualTls next = MutualTls.of("cluster.tls", files("next", after));
        assertThat(handshake(one, other)).isEqualTo("CN=before");
        assertThatThrownBy(() -> handshake(one, next)).isInstanceOf(IOException.class);

        Files.writeString(files.key(), "nothing");
        assertThatThrownBy(one::reload)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("cluster.tls.key");
        Files.copy(directory.resolve("next.key"), files.key(), StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(one::reload)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("does not belong");
        assertThat(handshake(one, other)).as("as it was").isEqualTo("CN=before");

        files("one", after);
        assertThat(one.reload()).containsExactly(files.certificate(), files.key(), files.clientCa());
        assertThat(handshake(one, next)).isEqualTo("CN=after");
        assertThatThrownBy(() -> handshake(one, other)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> handshake(other, one)).isInstanceOf(IOException.class);
    }
}
