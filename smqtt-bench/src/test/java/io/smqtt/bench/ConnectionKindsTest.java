// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.Broker;
import io.smqtt.BrokerEvent;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.TlsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClientIdentity;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;

/** The ways in which clients connect, as a broker in this process sees them. */
@Tag("slow")
class ConnectionKindsTest {

    private static final String LOAD = "scenario symmetric --pubs 2 -L 200 --duration 30s --max-loss 0 ";

    @TempDir
    static Path directory;

    private static Broker broker;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Queue<ClientIdentity> clients = new ConcurrentLinkedQueue<>();
    private Disposable events;

    @BeforeAll
    static void startBroker() throws Exception {
        X509Bundle authority = new CertificateBuilder()
                .ecp256()
                .subject("CN=authority")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Path trusted = Files.writeString(directory.resolve("ca.pem"), authority.getCertificatePEM());
        write(
                "server",
                new CertificateBuilder().ecp256().subject("CN=localhost").addSanDnsName("localhost"),
                authority);
        write("client", new CertificateBuilder().ecp256().subject("CN=loader"), authority);
        X509Bundle stranger = new CertificateBuilder()
                .ecp256()
                .subject("CN=stranger")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Files.writeString(directory.resolve("stranger.pem"), stranger.getCertificatePEM());
        Files.writeString(directory.resolve("stranger.key"), stranger.getPrivateKeyPEM());
        TlsConfig secure = TlsConfig.builder(directory.resolve("server.pem"), directory.resolve("server.key"))
                .build();
        TlsConfig mutual = secure.toBuilder()
                .clientCa(trusted)
                .clientAuth(TlsConfig.ClientAuth.REQUIRED)
                .userName(TlsConfig.CertificateUserName.CN)
                .build();
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        ListenerConfig ws = ListenerConfig.ws(0).toBuilder().host("127.0.0.1").build();
        broker = Broker.builder()
                .config(BrokerConfig.builder()
                        .listeners(Map.of(
                                "tcp", tcp,
                                "mutual", tcp.toBuilder().tls(mutual).build(),
                                "wss", ws.toBuilder().tls(secure).build(),
                                "mutual-wss", ws.toBuilder().tls(mutual).build()))
                        .build())
                .start()
                .block();
    }

    private static void write(String name, CertificateBuilder builder, X509Bundle authority) throws Exception {
        X509Bundle issued = builder.buildIssuedBy(authority);
        Files.writeString(directory.resolve(name + ".pem"), issued.getCertificatePEM());
        Files.writeString(directory.resolve(name + ".key"), issued.getPrivateKeyPEM());
    }

    @AfterAll
    static void stopBroker() {
        broker.close(Duration.ofSeconds(1)).block();
    }

    @BeforeEach
    void watchConnections() {
        events = broker.events()
                .ofType(BrokerEvent.Connected.class)
                .subscribe(connected -> clients.add(connected.client()));
    }

    @AfterEach
    void stopWatching() {
        events.dispose();
    }

    @Test
    void clientCertificateNamesTheUser() {
        assertThat(run(LOAD + trust() + identity("client"), "mutual")).as(err()).isZero();

        awaitClients(4);
        assertThat(clients).allMatch(client -> client.listener().equals("mutual"));
        assertThat(clients).allMatch(client -> "loader".equals(client.userName()));
        assertThat(out()).contains("mqtts://localhost:").containsPattern("out of order +0 / 0 / 0");
    }

    @Test
    void brokerThatWantsACertificateRefusesClientsWithoutAGoodOne() {
        assertThat(run("conn -c 2 --duration 1s " + trust(), "mutual"))
                .as("without one")
                .isEqualTo(1);
        assertThat(err()).startsWith("smqtt bench: cannot connect to mqtts://localhost:");
        err.reset();
        assertThat(run("conn -c 2 --duration 1s " + trust() + identity("stranger"), "mutual"))
                .as("of nobody's")
                .isEqualTo(1);
        assertThat(err()).startsWith("smqtt bench: cannot connect to mqtts://localhost:");
        assertThat(clients).isEmpty();
    }

    @Test
    void webSocketOverTlsCarriesTheSameLoadWithAndWithoutClientCertificate() {
        String big = "scenario symmetric --pubs 2 -L 30 --duration 30s --max-loss 0 -s 100000 --ws " + trust();
        assertThat(run(big, "wss")).as(err()).isZero();
        awaitClients(4);
        assertThat(clients).allMatch(client -> client.listener().equals("wss"));
        clients.clear();
        assertThat(run(big + identity("client"), "mutual-wss")).as(err()).isZero();
        awaitClients(4);
        assertThat(clients).allMatch(client -> "loader".equals(client.userName()));
        assertThat(out()).contains("wss://localhost:").containsPattern("out of order +0 / 0 / 0");
    }

    @ParameterizedTest
    @CsvSource({"3, MQTT_3_1", "3.1, MQTT_3_1", "4, MQTT_3_1_1", "3.1.1, MQTT_3_1_1", "5, MQTT_5", "5.0, MQTT_5"})
    void everyProtocolVersionConnectsAsItself(String flag, ProtocolVersion version) {
        assertThat(run(LOAD + "--qos 2 -h 127.0.0.1 -V " + flag, "tcp"))
                .as(err())
                .isZero();

        awaitClients(4);
        assertThat(clients).allMatch(client -> client.version() == version);
        assertThat(out()).containsPattern("out of order +0 / 0 / 0");
    }

    @Test
    void sourceAddressesTakeTurns() {
        int code = run("conn -c 12 -h 127.0.0.1 --ifaddr 127.0.0.2,127.0.0.3,127.0.0.4 --duration 200ms", "tcp");

        assertThat(code).as(err()).isZero();
        awaitClients(12);
        Map<String, Long> perAddress = clients.stream()
                .collect(Collectors.groupingBy(
                        client -> client.remoteAddress().getAddress().getHostAddress(), Collectors.counting()));
        assertThat(perAddress).isEqualTo(Map.of("127.0.0.2", 4L, "127.0.0.3", 4L, "127.0.0.4", 4L));
    }

    @Test
    void sourceAddressOfNoInterfaceIsNamedInTheFailure() {
        assertThat(run("conn -c 1 -h 127.0.0.1 --ifaddr 192.0.2.1 --duration 1s", "tcp"))
                .isEqualTo(1);
        assertThat(err()).contains("--ifaddr 192.0.2.1: this machine has no such address");
    }

    private static String trust() {
        return "-h localhost --cacertfile " + directory.resolve("ca.pem") + " ";
    }

    private static String identity(String name) {
        return "--certfile " + directory.resolve(name + ".pem") + " --keyfile " + directory.resolve(name + ".key");
    }

    private void awaitClients(int count) {
        Awaitility.await().untilAsserted(() -> assertThat(clients).hasSize(count));
    }

    private int run(String line, String listener) {
        int port = broker.listeners().get(listener).getPort();
        List<String> arguments = List.of((line.trim() + " --quiet -p " + port).split(" +"));
        return BenchCommand.commandLine(print(out), print(err)).execute(arguments.toArray(new String[0]));
    }

    private static PrintStream print(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
