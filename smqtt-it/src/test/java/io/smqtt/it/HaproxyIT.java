// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Two brokers behind HAProxy with {@code deploy/haproxy/haproxy.cfg}, of which nothing but addresses and file names is replaced. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HaproxyIT {

    private static final String CLIENT_HOST = "127.0.9.9";
    private static final List<String> FRONTS = List.of("1883", "8883", "8884", "8083", "8084");

    private final Map<String, InetSocketAddress> fronts = new LinkedHashMap<>();
    private Path directory;
    private BrokerPair brokers;
    private TestCertificates certificates;
    private CapturedProcess haproxy;
    private int visits;

    @BeforeAll
    void start(@TempDir Path shared) throws IOException {
        directory = shared;
        brokers = BrokerPair.start(directory);
        certificates = TestCertificates.in(Files.createDirectory(directory.resolve("haproxy-tls")));
        Path pem = Files.writeString(
                directory.resolve("server.pem"),
                Files.readString(certificates.serverCertificate()) + Files.readString(certificates.serverKey()));
        // and the number of clients, for which a test may not have the descriptors
        Map<String, String> replaced =
                new HashMap<>(Map.of("/etc/haproxy/server.pem", pem.toString(), "maxconn 131072", "maxconn 1000"));
        List<Integer> free = LoopbackPorts.some(FRONTS.size());
        for (int i = 0; i < FRONTS.size(); i++) {
            fronts.put(FRONTS.get(i), Endpoint.loopback(free.get(i)));
            replaced.put("bind :" + FRONTS.get(i) + " ", "bind " + Endpoint.HOST + ":" + free.get(i) + " ");
        }
        Map<String, String> listeners = Map.of("1883", "tcp", "8883", "tls", "8083", "ws");
        Path file = Files.writeString(
                directory.resolve("haproxy.cfg"),
                brokers.adapt(BrokerPair.sample("haproxy/haproxy.cfg"), listeners, replaced));
        assertThatTheFileIsValid(file);
        haproxy = CapturedProcess.start(
                "haproxy", new ProcessBuilder(ForeignProgram.path("haproxy"), "-db", "-f", file.toString()));
        for (InetSocketAddress front : fronts.values()) {
            await().atMost(BrokerPair.PATIENCE)
                    .untilAsserted(() -> assertThat(BrokerPair.isListening(front))
                            .as("haproxy%s", haproxy.report())
                            .isTrue());
        }
    }

    private static void assertThatTheFileIsValid(Path file) {
        try (CapturedProcess check = CapturedProcess.start(
                "haproxy -c", new ProcessBuilder(ForeignProgram.path("haproxy"), "-c", "-f", file.toString()))) {
            assertThat(check.awaitExit(BrokerPair.PATIENCE))
                    .as("haproxy -c%s", check.report())
                    .isZero();
            assertThat(check.output()).noneMatch(line -> line.contains("WARNING"));
        }
    }

    @AfterAll
    void end() {
        if (haproxy != null) {
            haproxy.close();
        }
        brokers.close();
    }

    private String visit(String front, SSLContext tls) {
        return BrokerPair.visit(fronts.get(front), CLIENT_HOST, tls, "visitor-" + ++visits);
    }

    @Test
    void clientsAreSpreadAndGoToTheOtherBrokerWhileOneIsDown() throws IOException {
        int clients = 20;
        List<RawClient> open = new ArrayList<>();
        List<RawClient> onOne = new ArrayList<>();
        try {
            for (int i = 0; i < clients; i++) {
                RawClient client = BrokerPair.open(fronts.get("1883"), CLIENT_HOST, null);
                open.add(client);
                client.connect("spread-" + i);
                if (BrokerPair.reachedBy(client).equals("one")) {
                    onOne.add(client);
                }
            }
            assertThat(onOne).as("%s", haproxy.report()).hasSizeBetween(clients / 2 - 3, clients / 2 + 3);
            brokers.get("one").kill9();
            onOne.forEach(RawClient::expectClosed);
            assertThat(IntStream.range(0, clients).mapToObj(i -> visit("1883", null)))
                    .containsOnly("two");
        } finally {
            open.forEach(RawClient::close);
            brokers.restart("one");
        }
        await().atMost(BrokerPair.PATIENCE)
                .untilAsserted(() -> assertThat(visit("1883", null)).isEqualTo("one"));
    }

    @Test
    void tlsEndsInTheBrokerOrInHaproxy() {
        SSLContext broker = TestCertificates.context(brokers.certificates().authority());
        SSLContext proxy = TestCertificates.context(certificates.authority());

        assertThat(visit("8883", broker)).isIn("one", "two");
        assertThat(visit("8884", proxy)).isIn("one", "two");
    }

    @Test
    void theClientsOwnAddressIsSeen() throws IOException {
        try (RawClient client = BrokerPair.open(fronts.get("1883"), CLIENT_HOST, null)) {
            client.send((byte) 0xFF, (byte) 0);
            client.expectClosed();
        }
        await().atMost(BrokerPair.PATIENCE)
                .untilAsserted(() -> assertThat(brokers.report()).contains(CLIENT_HOST));
    }

    @Test
    void webSocketIsPassedOn() throws Exception {
        for (Map.Entry<String, Transport> way :
                Map.of("8083", Transport.WS, "8084", Transport.WSS).entrySet()) {
            Endpoint endpoint =
                    new Endpoint(way.getValue(), fronts.get(way.getKey()).getPort(), certificates.authority());
            try (HiveMq5 library = new HiveMq5()) {
                ClientLink client = library.connect(new ConnectRequest(endpoint, 5, "web-" + ++visits, true, 0, null));
                client.subscribe(BrokerPair.NAME_TOPIC, 0);
                assertThat(client.next().payload()).isIn("one", "two");
                client.disconnect();
            }
        }
    }
}
