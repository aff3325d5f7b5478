// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.TlsConfig;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

@Tag("slow")
final class TlsListenerRulesTest {

    @TempDir
    Path directory;

    private TestCertificates certificates;

    @BeforeEach
    void makeAuthority() throws Exception {
        certificates = new TestCertificates(directory);
    }

    @Test
    void aRequiredClientCertificateIsVerifiedAndShown() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.REQUIRED);
                WireClient client = WireClient.tls(
                        broker.address(), certificates.client(certificates.issue("CN=sensor-7,O=plant")))) {
            assertThat(client.echo("x")).isEqualTo("x");
            AcceptedConnection accepted = broker.accepted.get(0);
            assertThat(accepted.tls()).isTrue();
            assertThat(accepted.clientCertificate().getSubjectX500Principal().getName())
                    .isEqualTo("CN=sensor-7,O=plant");
        }
    }

    @Test
    void withoutARequiredClientCertificateThereIsNoConnection() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.REQUIRED)) {
            assertThat(refused(broker, certificates.client(null))).isTrue();
            assertThat(broker.accepted).isEmpty();
            await().atMost(TestListeners.PATIENCE)
                    .untilAsserted(() -> assertThat(broker.closedEarly).containsExactly("one"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"REQUIRED", "OPTIONAL"})
    void aClientCertificateOfAnotherAuthorityIsRefused(TlsConfig.ClientAuth auth) throws Exception {
        X509Bundle stranger = new CertificateBuilder()
                .ecp256()
                .subject("CN=stranger")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        try (TestListeners broker = bound(auth)) {
            SSLContext client = SSLContext.getInstance("TLS");
            client.init(
                    new javax.net.ssl.KeyManager[] {new OnlyKey(stranger)},
                    certificates.authority.toTrustManagerFactory().getTrustManagers(),
                    null);
            assertThat(refused(broker, client)).isTrue();
            assertThat(broker.accepted).isEmpty();
        }
    }

    @Test
    void aPasswordSentWithoutTlsIsNotLogged() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger(Readiness.class);
        Level level = logger.getLevel();
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        logger.setLevel(Level.DEBUG);
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE);
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendRaw("\u0010\u001a\0\u0004MQTT\u0004\u00c2\0\u0005\0\u0001c\0\u0001u\0\u0006secret");
            assertThat(client.ended()).isTrue();
        } finally {
            logger.detachAppender(log);
            logger.setLevel(level);
        }
        assertThat(log.list).isNotEmpty().allSatisfy(event -> {
            IThrowableProxy failure = event.getThrowableProxy();
            assertThat(event.getFormattedMessage() + (failure == null ? "" : ThrowableProxyUtil.asString(failure)))
                    .doesNotContain("secret", HexFormat.of().formatHex("secret".getBytes(StandardCharsets.US_ASCII)));
        });
    }

    @Test
    void anOptionalClientCertificateMayBeMissing() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.OPTIONAL);
                WireClient client = WireClient.tls(broker.address(), certificates.client(null))) {
            assertThat(client.echo("x")).isEqualTo("x");
            assertThat(broker.accepted.get(0).clientCertificate()).isNull();
        }
    }

    @Test
    void aReloadChangesNewConnectionsOnly() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE);
                WireClient before = WireClient.tls(broker.address(), certificates.client(null))) {
            assertThat(before.echo("x")).isEqualTo("x");
            assertThat(subject(before)).isEqualTo("CN=localhost");

            certificates.writeServer(certificates.issue("CN=renewed"));
            List<Path> read = new ArrayList<>();
            broker.listeners.reloadCertificates(read::add);
            assertThat(read).containsExactly(directory.resolve("server.pem"), directory.resolve("server.key"));

            try (WireClient after = WireClient.tls(broker.address(), certificates.client(null))) {
                assertThat(subject(after)).isEqualTo("CN=renewed");
                assertThat(after.echo("new")).isEqualTo("new");
            }
            assertThat(before.echo("old goes on")).isEqualTo("old goes on");
        }
    }

    @Test
    void aBadFileAtReloadIsReportedAndTheOldOneKept() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE)) {
            Files.writeString(directory.resolve("server.pem"), "not a certificate");

            assertThatThrownBy(() -> broker.listeners.reloadCertificates(file -> {}))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageContaining("listeners.one.tls.certificate")
                    .hasMessageContaining("server.pem");
            try (WireClient client = WireClient.tls(broker.address(), certificates.client(null))) {
                assertThat(client.echo("x")).isEqualTo("x");
            }
        }
    }

    @Test
    void aKeyThatDoesNotBelongToTheCertificateStopsTheStart() throws Exception {
        TlsConfig tls = certificates.server("CN=localhost", TlsConfig.ClientAuth.NONE);
        Files.writeString(
                directory.resolve("server.key"), certificates.issue("CN=other").getPrivateKeyPEM());

        assertThatThrownBy(() -> TestListeners.bound(Configs.tcp().tls(tls).build()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("server.key")
                .hasMessageContaining("does not belong");
    }

    @Test
    void clientAuthenticationNeedsAnAuthority() throws Exception {
        TlsConfig with = certificates.server("CN=localhost", TlsConfig.ClientAuth.REQUIRED);

        assertThatThrownBy(
                        () -> new TlsConfig(with.certificate(), with.key(), null, with.clientAuth(), with.userName()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("client-ca");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void bothModernVersionsAreSpoken(String version) throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE);
                WireClient client = new WireClient(versioned(broker, version))) {
            assertThat(((SSLSocket) client.socket).getSession().getProtocol()).isEqualTo(version);
            assertThat(client.echo("x")).isEqualTo("x");
        }
    }

    @Test
    void aSecondHandshakeIsRefused() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE);
                WireClient client = new WireClient(versioned(broker, "TLSv1.2"));
                WireClient other = WireClient.tls(broker.address(), certificates.client(null))) {
            assertThat(client.echo("x")).isEqualTo("x");
            assertThatThrownBy(() -> {
                        ((SSLSocket) client.socket).startHandshake(); // renegotiation
                        client.echo("y");
                    })
                    .isInstanceOf(IOException.class);
            await().atMost(TestListeners.PATIENCE)
                    .until(() -> !broker.channels.get(0).isOpen());
            assertThat(other.echo("z")).isEqualTo("z");
        }
    }

    /** ClientHello messages whose announced lengths a broker must not believe, and things that are no TLS. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "160301000401ffffff", // ClientHello of 16 MiB in nine bytes
                "16030100040100ffff0303", // 64 KiB - 1: left to the TLS engine, which refuses or waits
                "1603014000010100000303", // 64 KiB
                "474554202f20485454502f312e310d0a0d0a", // GET
                "100d00044d5154540402003c000161", // CONNECT
                "8080010301005700000020", // SSL 2
                "1503010002022a", // an alert
                "140303000101", // change cipher spec
                "00000000000000000000",
                "16030100050100000100ff",
                "1603030000"
            })
    void whatIsNoProperClientHelloIsClosedWithinTheDeadline(String hex) throws Exception {
        TlsConfig tls = certificates.server("CN=localhost", TlsConfig.ClientAuth.NONE);
        Configs config = Configs.tcp().tls(tls).connectTimeout(Duration.ofSeconds(1));
        try (TestListeners broker = TestListeners.bound(config.build());
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendRaw(HexFormat.of().parseHex(hex));
            client.in.readAllBytes(); // an alert may be sent
            assertThat(client.ended()).isTrue();
            assertThat(broker.accepted).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "474554202f20485454502f312e310d0a0d0a, wrong-protocol", // GET
        "100d00044d5154540402003c000161, wrong-protocol", // CONNECT
        "00000000000000000000, wrong-protocol",
        "160301400001ffffff0303, tls-handshake", // a ClientHello that is too large
        "1503010002022a, tls-handshake" // an alert
    })
    void aHandshakeThatFailsIsCountedByWhatItWas(String hex, String reason) throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE);
                WireClient client = WireClient.tcp(broker.address())) {
            client.sendRaw(HexFormat.of().parseHex(hex));
            client.socket.shutdownOutput();
            client.in.readAllBytes();

            await().untilAsserted(() -> assertThat(broker.refused).containsExactly(reason));
        }
    }

    @Test
    void aProbeThatSendsNothingIsNoFailedHandshake() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE);
                WireClient client = WireClient.tcp(broker.address())) {
            client.close();

            await().untilAsserted(() -> assertThat(broker.closedEarly).hasSize(1));
            assertThat(broker.refused).isEmpty();
        }
    }

    @Test
    void aHugeClientHelloIsRefusedAtOnce() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE);
                WireClient client = WireClient.tcp(broker.address())) {
            long begin = System.nanoTime();
            client.sendRaw(HexFormat.of().parseHex("160301400001ffffff0303"));
            assertThat(client.ended()).isTrue();
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(10)); // of 15
        }
    }

    @Test
    void oldVersionsAreRefused() throws Exception {
        try (TestListeners broker = bound(TlsConfig.ClientAuth.NONE);
                WireClient client = WireClient.tcp(broker.address())) {
            // a TLS 1.0 ClientHello with one suite
            client.sendRaw(HexFormat.of().parseHex("160301002f0100002b0301" + "11".repeat(32) + "000004002f00ff0100"));
            client.in.readAllBytes();
            assertThat(client.ended()).isTrue();
            assertThat(broker.accepted).isEmpty();
        }
    }

    @Test
    void plainAndTlsListenersStandSideBySide() throws Exception {
        TlsConfig tls = certificates.server("CN=localhost", TlsConfig.ClientAuth.NONE);
        Map<String, io.smqtt.config.ListenerConfig> both = TestListeners.named(
                "plain", Configs.tcp().build(), "secure", Configs.tcp().tls(tls).build());
        try (TestListeners broker = new TestListeners(both, io.smqtt.config.LimitsConfig.defaults(), true)) {
            broker.listeners.bind().block(TestListeners.PATIENCE);
            try (WireClient plain = WireClient.tcp(broker.address("plain"));
                    WireClient secure = WireClient.tls(broker.address("secure"), certificates.client(null))) {
                assertThat(plain.echo("p")).isEqualTo("p");
                assertThat(secure.echo("s")).isEqualTo("s");
                assertThat(broker.accepted)
                        .extracting(AcceptedConnection::listener)
                        .containsExactly("plain", "secure");
            }
        }
    }

    private TestListeners bound(TlsConfig.ClientAuth auth) throws Exception {
        return TestListeners.bound(
                Configs.tcp().tls(certificates.server("CN=localhost", auth)).build());
    }

    private Socket versioned(TestListeners broker, String version) throws Exception {
        Socket plain = WireClient.socket(broker.address(), null);
        SSLSocket socket = (SSLSocket) certificates
                .client(null)
                .getSocketFactory()
                .createSocket(plain, "localhost", broker.address().getPort(), true);
        socket.setEnabledProtocols(new String[] {version});
        socket.startHandshake();
        return socket;
    }

    private static boolean refused(TestListeners broker, SSLContext tls) throws IOException {
        try (WireClient client = WireClient.tls(broker.address(), tls)) {
            client.send(new byte[] {1}); // with TLS 1.3 the client learns it late
            return client.ended();
        } catch (SSLException | java.net.SocketException e) {
            return true;
        }
    }

    private static String subject(WireClient client) throws SSLException {
        return ((java.security.cert.X509Certificate)
                        ((SSLSocket) client.socket).getSession().getPeerCertificates()[0])
                .getSubjectX500Principal()
                .getName();
    }

    /** Sends its certificate whatever authorities the server names. */
    private static final class OnlyKey extends javax.net.ssl.X509ExtendedKeyManager {
        private final X509Bundle bundle;

        OnlyKey(X509Bundle bundle) {
            this.bundle = bundle;
        }

        @Override
        public String[] getClientAliases(String type, java.security.Principal[] issuers) {
            return new String[] {"only"};
        }

        @Override
        public String chooseClientAlias(String[] types, java.security.Principal[] issuers, Socket socket) {
            return "only";
        }

        @Override
        public String[] getServerAliases(String type, java.security.Principal[] issuers) {
            return new String[0];
        }

        @Override
        public String chooseServerAlias(String type, java.security.Principal[] issuers, Socket socket) {
            return "";
        }

        @Override
        public java.security.cert.X509Certificate[] getCertificateChain(String alias) {
            return bundle.getCertificatePath();
        }

        @Override
        public java.security.PrivateKey getPrivateKey(String alias) {
            return bundle.getKeyPair().getPrivate();
        }
    }
}
