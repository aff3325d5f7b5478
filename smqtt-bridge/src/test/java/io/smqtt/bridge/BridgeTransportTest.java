// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTlsConfig;
import io.smqtt.config.BridgeTlsConfigBuilder;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.TlsConfig;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bridges over TLS and WebSocket, between two brokers. */
@Timeout(60)
class BridgeTransportTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    static Path directory = Path.of("");

    private static X509Bundle authority = bundle(null, "authority");

    private final LoggedLines log = new LoggedLines();

    @AfterEach
    void close() {
        log.close();
    }

    @BeforeAll
    static void writeCertificates() throws Exception {
        authority = bundle(null, "authority");
        write("ca", authority);
        write("other-ca", bundle(null, "other"));
        write("server", bundle(authority, "server"));
        write("client", bundle(authority, "client"));
    }

    private static X509Bundle bundle(@Nullable X509Bundle issuer, String name) {
        try {
            CertificateBuilder builder =
                    new CertificateBuilder().ecp256().subject("CN=" + name).addSanDnsName("localhost");
            return issuer == null
                    ? builder.setIsCertificateAuthority(true).buildSelfSigned()
                    : builder.buildIssuedBy(issuer);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void write(String name, X509Bundle bundle) throws Exception {
        Files.writeString(directory.resolve(name + ".pem"), bundle.getCertificatePathPEM());
        Files.writeString(directory.resolve(name + ".key"), bundle.getPrivateKeyPEM());
    }

    private static BridgeTlsConfigBuilder trusting(String authority) {
        return BridgeTlsConfig.builder().ca(directory.resolve(authority + ".pem"));
    }

    private static BridgeTlsConfigBuilder withCertificate() {
        return trusting("ca").certificate(directory.resolve("client.pem")).key(directory.resolve("client.key"));
    }

    private static BridgedBroker remote(boolean webSocket, TlsConfig.@Nullable ClientAuth clientAuth) {
        ListenerConfig listener = webSocket ? ListenerConfig.ws(0) : ListenerConfig.tcp(0);
        TlsConfig tls = clientAuth == null
                ? null
                : TlsConfig.builder(directory.resolve("server.pem"), directory.resolve("server.key"))
                        .clientCa(directory.resolve("ca.pem"))
                        .clientAuth(clientAuth)
                        .build();
        return BridgedBroker.plain()
                .listener(listener.toBuilder().host("127.0.0.1").tls(tls).build())
                .start();
    }

    /** Forwards a large message to the other broker and one back. */
    private static void assertForwards(BridgeTlsConfig tls, String scheme, BridgedBroker remote) {
        try (BridgedBroker here = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(scheme + "localhost:" + remote.port(), "out/# out 1", "in/# in 1")
                                        .tls(tls))
                        .start();
                RawClient there = remote.client("there");
                RawClient client = here.client("here")) {
            there.subscribe("out/#", 0);
            client.subscribe("in/#", 0);
            await().atMost(PATIENCE).until(() -> here.isConnected("cloud"));
            await().atMost(PATIENCE).until(() -> hasSubscribed(remote));
            client.publish(PublishBytes.to("out/a").payload(new byte[300_000]).qos(1));
            assertThat(there.expect(MqttMessageType.PUBLISH).payload()).hasSize(300_000);
            there.publish("in/a", "there", 1);
            client.expectPublish("in/a", "there");
        }
    }

    private static boolean hasSubscribed(BridgedBroker remote) {
        return !Objects.requireNonNull(remote.broker().client("plant").block(PATIENCE))
                .subscriptions()
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"mqtt://, false", "ws://, false", "mqtts://, true", "wss://, true"})
    void messagesGoBothWays(String scheme, boolean tls) {
        try (BridgedBroker remote = remote(scheme.startsWith("ws"), tls ? TlsConfig.ClientAuth.NONE : null)) {
            assertForwards(trusting("ca").build(), scheme, remote);
        }
    }

    @ParameterizedTest
    @CsvSource({"1.3, TLS_AES_128_GCM_SHA256", "1.2, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "1.3, ''"})
    void versionAndSuiteOfTls(String version, String suite) {
        List<String> suites = suite.isEmpty() ? List.of() : List.of(suite);
        try (BridgedBroker remote = remote(false, TlsConfig.ClientAuth.NONE)) {
            assertForwards(trusting("ca").minVersion(version).ciphers(suites).build(), "mqtts://", remote);
        }
    }

    @Test
    void aSuiteThatTheOtherBrokerDoesNotTake() {
        try (BridgedBroker remote = remote(false, TlsConfig.ClientAuth.NONE)) {
            assertRefused(
                    trusting("ca")
                            .ciphers(List.of("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")) // its key is not of RSA
                            .build(),
                    "mqtts://localhost:" + remote.port(),
                    "TLS fails: ");
        }
    }

    @Test
    void aSuiteThatIsNotKnownIsRefused() {
        BridgeConfig config = BridgedBroker.bridge("localhost:1", "a")
                .tls(trusting("ca")
                        .ciphers(List.of("ECDHE-RSA-AES128-GCM-SHA256"))
                        .build())
                .build();

        assertThatThrownBy(() -> new BridgeFiles("cloud", config))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(
                        "bridges.cloud.tls.ciphers has ECDHE-RSA-AES128-GCM-SHA256, which this Java runtime does not have");
    }

    @ParameterizedTest
    @CsvSource({
        "1.1, '', tls.min-version must be 1.2 or 1.3",
        "1.3, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.ciphers must have a suite of TLS 1.3",
        "1.2, TLS_ECDH_anon_WITH_AES_128_CBC_SHA, tls.ciphers has a suite without",
        "1.2, TLS_ECDHE_RSA_WITH_NULL_SHA, tls.ciphers has a suite without"
    })
    void weakSettingsAreRefused(String version, String suite, String problem) {
        List<String> suites = suite.isEmpty() ? List.of() : List.of(suite);

        assertThatThrownBy(() -> BridgeTlsConfig.builder()
                        .minVersion(version)
                        .ciphers(suites)
                        .build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem);
    }

    /** Without a scheme the block decides. */
    @Test
    void aCertificateIsShownIfOneIsConfigured() {
        try (BridgedBroker remote = remote(false, TlsConfig.ClientAuth.REQUIRED)) {
            assertForwards(withCertificate().build(), "", remote);
        }
    }

    @Test
    void aCertificateOverWebSocket() {
        try (BridgedBroker remote = remote(true, TlsConfig.ClientAuth.REQUIRED)) {
            assertForwards(withCertificate().build(), "wss://", remote);
        }
    }

    @Test
    void theNameInTheCertificateIsCheckedUnlessThatIsTurnedOff() {
        try (BridgedBroker remote = remote(false, TlsConfig.ClientAuth.NONE)) {
            assertRefused(
                    trusting("ca").build(),
                    "mqtts://127.0.0.1:" + remote.port(),
                    "its certificate is not accepted: No subject alternative names matching IP address 127.0.0.1 found");
            try (BridgedBroker here = BridgedBroker.with(
                            "cloud",
                            BridgedBroker.bridge("mqtts://127.0.0.1:" + remote.port(), "a/# out 1")
                                    .tls(trusting("ca").verifyHost(false).build()))
                    .start()) {
                await().atMost(PATIENCE).until(() -> here.isConnected("cloud"));
            }
        }
    }

    private void assertRefused(BridgeTlsConfig tls, String address, String problem) {
        try (BridgedBroker here = BridgedBroker.with(
                        "cloud", BridgedBroker.bridge(address, "a/# out 1").tls(tls))
                .start()) {
            log.awaitLine(problem);
            assertThat(here.isConnected("cloud")).isFalse();
        }
        assertThat(log.with(problem)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mqtts://", "wss://"})
    void aCertificateOfAnotherAuthorityIsRefused(String scheme) {
        try (BridgedBroker remote = remote(scheme.startsWith("ws"), TlsConfig.ClientAuth.NONE)) {
            assertRefused(
                    trusting("other-ca").build(),
                    scheme + "localhost:" + remote.port(),
                    "its certificate is not trusted: unable to find valid certification path");
        }
    }

    @Test
    void aMissingCertificateOfTheBridgeIsReported() {
        try (BridgedBroker remote = remote(false, TlsConfig.ClientAuth.REQUIRED)) {
            assertRefused(trusting("ca").build(), "mqtts://localhost:" + remote.port(), "TLS fails: ");
        }
    }

    @Test
    void aPortWithoutTlsIsReported() throws Exception {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker here = BridgedBroker.with(
                                "cloud", BridgedBroker.bridge("mqtts://localhost:" + remote.port(), "a/# out 1"))
                        .start()) {
            try (Socket socket = remote.acceptSocket()) {
                socket.getOutputStream().write("SSH-2.0-OpenSSH_9.2\r\n".getBytes(StandardCharsets.US_ASCII));
                log.awaitLine("it does not use TLS on this port");
            }
            assertThat(here.isConnected("cloud")).isFalse();
        }
    }

    @Test
    void aPathThatTheOtherBrokerDoesNotHaveIsReported() {
        try (BridgedBroker remote = remote(true, null)) {
            assertRefused(
                    BridgeTlsConfig.builder().build(),
                    "ws://localhost:" + remote.port() + "/elsewhere",
                    "it refuses the WebSocket handshake: 404 Not Found");
        }
    }

    @Test
    void renewedCertificatesAreUsedAfterAReload() throws Exception {
        write("renewed", bundle(bundle(null, "other"), "client"));
        BridgeConfig config = BridgedBroker.bridge("localhost:1", "a/# out 1")
                .tls(trusting("ca")
                        .certificate(directory.resolve("renewed.pem"))
                        .key(directory.resolve("renewed.key"))
                        .build())
                .build();
        BridgeFiles files = new BridgeFiles("cloud", config);

        assertThat(files.reload())
                .containsExactly(
                        directory.resolve("ca.pem").toString(),
                        directory.resolve("renewed.pem").toString(),
                        directory.resolve("renewed.key").toString());
        Files.writeString(directory.resolve("renewed.key"), "nothing");
        assertThatThrownBy(files::reload)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("bridges.cloud.tls.key");
    }
}
