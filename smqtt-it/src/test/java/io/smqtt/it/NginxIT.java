// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two brokers behind nginx with each of the files of {@code deploy/nginx}, of which nothing but addresses and file names is replaced. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NginxIT {

    private static final int CLIENTS = 30;

    /** Other addresses of the loopback interface than the one nginx connects from. */
    private static final String CLIENT_NETWORK = "127.0.7.";

    private static final String CLIENT_HOST = CLIENT_NETWORK + 7;

    private Path directory;
    private BrokerPair brokers;
    private TestCertificates nginxCertificates;
    private CapturedProcess nginx;
    private int visits;

    @BeforeAll
    void start(@TempDir Path shared) throws IOException {
        directory = shared;
        brokers = BrokerPair.start(directory);
        nginxCertificates = TestCertificates.in(Files.createDirectory(directory.resolve("nginx-tls")));
    }

    @AfterEach
    void endNginx() {
        if (nginx != null) {
            nginx.terminate();
            nginx.awaitExit(BrokerPair.PATIENCE);
        }
    }

    @AfterAll
    void endBrokers() {
        brokers.close();
    }

    /** Runs nginx with a file of {@code deploy/nginx}; returns where it listens, in the order of the ports given. */
    private List<InetSocketAddress> nginx(String file, Map<String, String> listeners, int... ports) throws IOException {
        Map<String, String> replaced = new HashMap<>();
        List<InetSocketAddress> fronts = new ArrayList<>();
        List<Integer> free = LoopbackPorts.some(ports.length);
        for (int i = 0; i < ports.length; i++) {
            replaced.put("listen " + ports[i] + " ", "listen " + Endpoint.HOST + ":" + free.get(i) + " ");
            fronts.add(Endpoint.loopback(free.get(i)));
        }
        String sample = BrokerPair.sample("nginx/" + file);
        if (sample.contains("ssl_certificate")) {
            replaced.put(
                    "/etc/nginx/tls/server.crt",
                    nginxCertificates.serverCertificate().toString());
            replaced.put(
                    "/etc/nginx/tls/server.key", nginxCertificates.serverKey().toString());
        }
        Path configuration =
                Files.writeString(directory.resolve("nginx.conf"), brokers.adapt(sample, listeners, replaced));
        String globals = "daemon off; pid " + directory.resolve("nginx.pid") + "; error_log stderr;";
        nginx = CapturedProcess.start(
                "nginx",
                new ProcessBuilder(
                        ForeignProgram.path("nginx"), "-c", configuration.toString(), "-e", "stderr", "-g", globals));
        for (InetSocketAddress front : fronts) {
            await().atMost(BrokerPair.PATIENCE)
                    .untilAsserted(() -> assertThat(BrokerPair.isListening(front))
                            .as("nginx%s", nginx.report())
                            .isTrue());
        }
        return fronts;
    }

    private InetSocketAddress nginx(String file, String listener) throws IOException {
        return nginx(file, Map.of("1883", listener), 1883).get(0);
    }

    private String visit(InetSocketAddress front, String from) {
        return BrokerPair.visit(front, from, null, "visitor-" + ++visits);
    }

    /** How many of that many new clients reach each broker. */
    private Map<String, Integer> spread(InetSocketAddress front, int clients) throws IOException {
        Map<String, Integer> reached = new HashMap<>();
        List<RawClient> open = new ArrayList<>();
        try {
            for (int i = 0; i < clients; i++) {
                RawClient client = BrokerPair.open(front, CLIENT_NETWORK + (i + 1), null);
                open.add(client);
                client.connect("spread-" + i);
                reached.merge(BrokerPair.reachedBy(client), 1, Integer::sum);
            }
        } finally {
            open.forEach(RawClient::close);
        }
        return reached;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp.conf", "proxy-protocol.conf", "least-conn.conf"})
    void equalWeightsGiveEqualShares(String file) throws IOException {
        InetSocketAddress front = nginx(file, file.equals("tcp.conf") ? "plain" : "tcp");

        Map<String, Integer> reached = spread(front, CLIENTS);

        assertThat(reached.get("one")).as("%s", reached).isCloseTo(CLIENTS / 2, within(2));
        assertThat(reached.get("two")).as("%s", reached).isCloseTo(CLIENTS / 2, within(2));
    }

    @Test
    void aWeightOfTwoGivesTwiceAsMany() throws IOException {
        Map<String, Integer> reached = spread(nginx("weights.conf", "tcp"), CLIENTS);

        assertThat(reached.get("one")).as("%s", reached).isCloseTo(CLIENTS / 3, within(2));
        assertThat(reached.get("two")).as("%s", reached).isCloseTo(CLIENTS * 2 / 3, within(2));
    }

    @Test
    void aHashOfTheAddressSendsAClientWhereItWas() throws IOException {
        InetSocketAddress front = nginx("hash-address.conf", "tcp");
        List<String> hosts = IntStream.rangeClosed(1, CLIENTS)
                .mapToObj(i -> CLIENT_NETWORK + i)
                .toList();

        List<String> first = hosts.stream().map(host -> visit(front, host)).toList();
        List<String> second = hosts.stream().map(host -> visit(front, host)).toList();

        assertThat(second).isEqualTo(first);
        assertThat(first).contains("one", "two");
    }

    @Test
    void aHashOfThePortSpreadsTheClientsOfOneAddress() throws IOException {
        InetSocketAddress front = nginx("hash-port.conf", "tcp");
        Set<String> reached = new HashSet<>();

        await().atMost(BrokerPair.PATIENCE).until(() -> {
            reached.add(visit(front, CLIENT_HOST));
            return reached.size() == 2;
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"proxy-protocol.conf", "hash-address.conf"})
    void aKilledBrokerIsLeftOutAndGetsClientsAgainWhenItIsBack(String file) throws IOException {
        InetSocketAddress front = nginx(file, "tcp");
        List<String> hosts =
                IntStream.rangeClosed(1, 12).mapToObj(i -> CLIENT_NETWORK + i).toList();
        List<RawClient> connected = new ArrayList<>();
        List<RawClient> onOne = new ArrayList<>();
        try {
            for (String host : hosts) {
                RawClient client = BrokerPair.open(front, host, null);
                connected.add(client);
                client.connect("held-" + host);
                if (BrokerPair.reachedBy(client).equals("one")) {
                    onOne.add(client);
                }
            }
            brokers.get("one").kill9();

            assertThat(onOne).isNotEmpty().hasSizeLessThan(hosts.size());
            onOne.forEach(RawClient::expectClosed);
            assertThat(hosts).allSatisfy(host -> assertThat(visit(front, host)).isEqualTo("two"));
            connected.removeAll(onOne);
            connected.forEach(RawClient::ping);
        } finally {
            connected.forEach(RawClient::close);
            onOne.forEach(RawClient::close);
            brokers.restart("one");
        }

        await().atMost(BrokerPair.PATIENCE)
                .untilAsserted(() -> assertThat(
                                hosts.stream().map(host -> visit(front, host)).toList())
                        .contains("one", "two"));
    }

    @Test
    void aBrokerThatStopsTellsItsClientsToGoElsewhere() throws IOException {
        InetSocketAddress front = nginx("proxy-protocol.conf", "tcp");
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 12; i++) {
                RawClient client = BrokerPair.open(front, CLIENT_HOST, null);
                clients.add(client);
                client.connect("stay-" + i);
            }
            brokers.get("one").terminate();
            assertThat(brokers.get("one").awaitExit(BrokerPair.PATIENCE)).isZero();

            int moved = 0;
            for (int i = 0; i < clients.size(); i++) {
                RawClient client = clients.get(i);
                client.send((byte) 0xC0, (byte) 0);
                ReceivedPacket answer = client.receive();
                if (answer != null && answer.type() == MqttMessageType.DISCONNECT) {
                    assertThat(answer.reasonCode()).isEqualTo(ReasonCode.SERVER_SHUTTING_DOWN.value());
                    moved++;
                    client.close();
                    clients.set(i, BrokerPair.open(front, CLIENT_HOST, null));
                    clients.get(i).connect("stay-" + i);
                }
            }
            assertThat(moved).isBetween(1, clients.size() - 1);
        } finally {
            clients.forEach(RawClient::close);
            brokers.restart("one");
        }
    }

    @Test
    void tlsEndsInTheBroker() throws IOException {
        InetSocketAddress front =
                nginx("tls-passthrough.conf", Map.of("8883", "tls"), 8883).get(0);
        SSLContext trust = TestCertificates.context(brokers.certificates().authority());

        assertThat(BrokerPair.visit(front, CLIENT_HOST, trust, "passed-through"))
                .isIn("one", "two");
        assertThatTheBrokersSeeTheAddress(front, trust, "127.0.8.1");
    }

    @Test
    void tlsEndsInNginx() throws IOException {
        InetSocketAddress front =
                nginx("tls-termination.conf", Map.of("1883", "tcp"), 8883).get(0);
        SSLContext trust = TestCertificates.context(nginxCertificates.authority());

        assertThat(BrokerPair.visit(front, CLIENT_HOST, trust, "terminated")).isIn("one", "two");
        assertThatTheBrokersSeeTheAddress(front, trust, "127.0.8.2");
        try (RawClient old = BrokerPair.open(front, CLIENT_HOST, trust)) {
            assertThat(((SSLSocket) old.socket()).getSession().getProtocol()).isIn("TLSv1.2", "TLSv1.3");
        }
    }

    @Test
    void theClientsOwnAddressIsSeen() throws IOException {
        assertThatTheBrokersSeeTheAddress(nginx("proxy-protocol.conf", "tcp"), null, "127.0.8.3");
    }

    /** A protocol error is logged with the address of who made it. */
    private void assertThatTheBrokersSeeTheAddress(InetSocketAddress front, SSLContext tls, String from)
            throws IOException {
        try (RawClient client = BrokerPair.open(front, from, tls)) {
            client.send((byte) 0xFF, (byte) 0);
            client.expectClosed();
        }
        await().atMost(BrokerPair.PATIENCE)
                .untilAsserted(() -> assertThat(brokers.report()).contains(from));
    }

    @Test
    void webSocketIsPassedOnAsTcp() throws Exception {
        List<InetSocketAddress> fronts = nginx("websocket.conf", Map.of("8083", "ws"), 8083, 8084);

        assertThat(reachedByWebSocket(Transport.WS, fronts.get(0))).isIn("one", "two");
        assertThat(reachedByWebSocket(Transport.WSS, fronts.get(1))).isIn("one", "two");
    }

    @Test
    void webSocketSharesThePortOfAWebSite() throws Exception {
        InetSocketAddress front =
                nginx("websocket-http.conf", Map.of("8083", "plainws"), 443).get(0);

        assertThat(Stream.of(
                        reachedByWebSocket(Transport.WSS, front),
                        reachedByWebSocket(Transport.WSS, front),
                        reachedByWebSocket(Transport.WSS, front)))
                .contains("one", "two");
    }

    private String reachedByWebSocket(Transport transport, InetSocketAddress front) throws Exception {
        Endpoint endpoint = new Endpoint(transport, front.getPort(), nginxCertificates.authority());
        try (HiveMq5 library = new HiveMq5()) {
            ClientLink client = library.connect(new ConnectRequest(endpoint, 5, "web-" + ++visits, true, 0, null));
            client.subscribe(BrokerPair.NAME_TOPIC, 0);
            String name = client.next().payload();
            client.disconnect();
            return name;
        }
    }

    @Test
    void aClientThatComesAroundNginxIsRefused() {
        try (RawClient client = RawClient.to(brokers.get("one").address("tcp"), ProtocolVersion.MQTT_5)) {
            client.send(ConnectBytes.of("without a header"));
            client.expectClosed();
        }
    }
}
