// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Ticker;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** A server with HTTPS whose certificate only an authority of the user's vouches for. */
class HttpAuthorityTest {

    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    private final X509Bundle authority = authority("CN=ours");
    private final X509Bundle stranger = authority("CN=another");

    private static X509Bundle authority(String subject) {
        try {
            return new CertificateBuilder()
                    .subject(subject)
                    .ecp256()
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private Path file(String name, X509Bundle certificate) throws Exception {
        return Files.writeString(directory.resolve(name), certificate.getCertificatePEM());
    }

    private DisposableServer server(String host) throws Exception {
        X509Bundle own = new CertificateBuilder()
                .subject("CN=server")
                .ecp256()
                .addSanDnsName(host)
                .buildIssuedBy(authority);
        SslContext tls = SslContextBuilder.forServer(own.getKeyPair().getPrivate(), own.getCertificatePath())
                .build();
        return HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .secure(spec -> spec.sslContext(tls))
                .handle((request, response) -> response.status(204).send())
                .bindNow(SOON);
    }

    private static @Nullable BackendAnswer ask(DisposableServer server, @Nullable Path authority) {
        Map<String, ConfigValue> values = new HashMap<>();
        values.put("url", value("https://localhost:" + server.port() + "/user"));
        if (authority != null) {
            values.put("ca", value(authority.toString()));
        }
        HttpBackendFactory factory = new HttpBackendFactory();
        AccessBackend backend = factory.open(
                BackendSettings.of("web", factory.settings(), values),
                new BackendContext("web", AccessBackendConfig.builder("http").build(), Ticker.SYSTEM));
        try {
            return backend.authenticate(new BackendRequest(
                            "c",
                            "ann",
                            "pw".getBytes(StandardCharsets.UTF_8),
                            new InetSocketAddress("192.0.2.7", 4711),
                            "tcp",
                            ProtocolVersion.MQTT_5,
                            CertificateNames.NONE,
                            Map.of()))
                    .block(SOON);
        } finally {
            backend.close();
        }
    }

    private static ConfigValue value(String text) {
        return new ConfigValue(text, "smqtt.yaml:1", Path.of(""));
    }

    @Test
    void itIsTrustedIfTheFileHasItsAuthority() throws Exception {
        DisposableServer server = server("localhost");
        try {
            assertThat(ask(server, file("ca.pem", authority))).isInstanceOf(BackendAnswer.Allow.class);
        } finally {
            server.disposeNow(SOON);
        }
    }

    @Test
    void itIsNotTrustedByOthersOrWithoutTheFile() throws Exception {
        DisposableServer server = server("localhost");
        try {
            assertThatThrownBy(() -> ask(server, null))
                    .satisfies(error -> assertThat(error.getCause()).isInstanceOf(SSLException.class));
            assertThatThrownBy(() -> ask(server, file("stranger.pem", stranger)))
                    .satisfies(error -> assertThat(error.getCause()).isInstanceOf(SSLException.class));
        } finally {
            server.disposeNow(SOON);
        }
    }

    @Test
    void theCertificateOfAnotherHostIsNotTrusted() throws Exception {
        DisposableServer server = server("elsewhere.example");
        try {
            assertThatThrownBy(() -> ask(server, file("ca.pem", authority)))
                    .satisfies(error -> assertThat(error.getCause()).isInstanceOf(SSLException.class));
        } finally {
            server.disposeNow(SOON);
        }
    }

    @Test
    void aFileWithoutCertificatesStopsTheStart() throws Exception {
        DisposableServer server = server("localhost");
        try {
            Path empty = Files.writeString(directory.resolve("empty.pem"), "nothing");
            assertThatThrownBy(() -> ask(server, empty))
                    .hasMessage("smqtt.yaml:1: access.backends.web.ca names " + empty
                            + ", which has no certificates of authorities in PEM that can be read");
        } finally {
            server.disposeNow(SOON);
        }
    }
}
