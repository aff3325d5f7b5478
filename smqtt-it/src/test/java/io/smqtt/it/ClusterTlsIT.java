// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes of the program that show each other certificates: those of one authority are a cluster, and nobody else joins it. */
class ClusterTlsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int NODES = 4;
    private static final int STRANGER = 2;
    private static final int PLAIN = 3;
    private static final int KNOCKS = 200;

    /** Lines of a node that come from the layer between nodes. */
    private static final List<String> OF_THE_CHANNEL = List.of("ChannelLog", "Refusals", "AdmittingSocket");

    private static final String REJECTED = "cluster.tls.client-ca";

    /** The channel, two kinds of errors and seven reasons for refusals each have six lines in a minute, and one with the number of the others. */
    private static final int LINES_PER_MINUTE = (1 + 2 + 7) * (6 + 1);

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private final List<Integer> ports = LoopbackPorts.some(NODES);
    private final List<BrokerProcess> brokers = new ArrayList<>();
    private TestCertificates certificates;
    private TestCertificates others;

    @BeforeEach
    void prepare() throws IOException {
        certificates = TestCertificates.in(Files.createDirectory(directory.resolve("ours")));
        others = TestCertificates.in(Files.createDirectory(directory.resolve("others")));
    }

    @AfterEach
    void stopNodes() {
        brokers.forEach(BrokerProcess::close);
    }

    /** All that are started here look for one of the first two, and trust the same authority where they have TLS. */
    private BrokerProcess startNode(int index, int seed, String tls) throws IOException {
        String yaml = """
                management: {port: 0}
                listeners:
                  tcp: {host: 127.0.0.1, port: 0}
                  ws: {enabled: false}
                storage: {kind: memory}
                cluster:
                  enabled: true
                  node-id: n%d
                  bind: '127.0.0.1:%d'
                  seeds: ['127.0.0.1:%d']
                %s
                """.formatted(index, ports.get(index), ports.get(seed), tls);
        Path home = Files.createDirectories(directory.resolve("n" + index));
        BrokerProcess broker =
                BrokerProcess.start(home, List.of(), Files.writeString(home.resolve("smqtt.yaml"), yaml));
        brokers.add(broker);
        return broker;
    }

    private String tls(TestCertificates issuer, String name) {
        issuer.renewNode(name);
        return "  tls: {certificate: '%s', key: '%s', client-ca: '%s'}"
                .formatted(issuer.certificate(name), issuer.key(name), certificates.authority());
    }

    private NodeView view(BrokerProcess broker) {
        URI uri = URI.create("http://127.0.0.1:" + broker.port("management") + "/cluster");
        try {
            HttpRequest request = HttpRequest.newBuilder(uri).timeout(PATIENCE).build();
            return NodeView.of(
                    http.send(request, HttpResponse.BodyHandlers.ofString()).body());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private static RawClient client(BrokerProcess broker, String clientId) {
        RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
        client.deadline(PATIENCE);
        client.connect(clientId);
        return client;
    }

    private static int publish(RawClient publisher, String topic, String payload) {
        publisher.send(PublishBytes.to(topic).payload(payload).qos(1, publisher.nextPacketId()));
        return publisher.expect(MqttMessageType.PUBACK).reasonCode();
    }

    @Test
    void nodesOfOneAuthorityAreAClusterAndNobodyElseJoins() throws Exception {
        long startNanos = System.nanoTime();
        BrokerProcess one = startNode(0, 1, tls(certificates, "one"));
        BrokerProcess other = startNode(1, 0, tls(certificates, "other"));
        try (RawClient subscriber = client(other, "subscriber");
                RawClient publisher = client(one, "publisher")) {
            subscriber.subscribe("tls/#", 1);
            await().atMost(PATIENCE).until(() -> publish(publisher, "tls/first", "joined") == 0);
            subscriber.expectPublish("tls/first", "joined");

            BrokerProcess stranger = startNode(STRANGER, 0, tls(others, "stranger"));
            BrokerProcess plain = startNode(PLAIN, 1, "");
            one.awaitLine(REJECTED);
            other.awaitLine(REJECTED);
            knock(ports.get(0));

            for (BrokerProcess outside : List.of(stranger, plain)) {
                assertThat(view(outside).peers()).as(outside.report()).isEmpty();
                try (RawClient spy = client(outside, "spy")) {
                    assertThat(publish(spy, "tls/forged", "from outside"))
                            .isEqualTo(ReasonCode.NO_MATCHING_SUBSCRIBERS.value());
                }
            }
            assertThat(view(one).peers()).extracting(NodeView.PeerView::nodeId).containsExactly("n1");
            assertThat(view(other).peers())
                    .extracting(NodeView.PeerView::nodeId)
                    .containsExactly("n0");
            assertThat(publish(publisher, "tls/last", "still")).isZero();
            subscriber.expectPublish("tls/last", "still");
        }
        long seconds = Duration.ofNanos(System.nanoTime() - startNanos).toSeconds();
        List<String> noise = one.output().stream()
                .filter(line -> OF_THE_CHANNEL.stream().anyMatch(line::contains))
                .toList();
        assertThat(noise).isNotEmpty().hasSizeLessThanOrEqualTo(LINES_PER_MINUTE * (int) (seconds / 60 + 1));
    }

    /** Many more handshakes that fail than the nodes that are left out make by themselves: without a certificate, and without TLS. */
    private void knock(int port) throws IOException {
        SSLContext trusting = TestCertificates.context(certificates.authority());
        InetSocketAddress node = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        for (int i = 0; i < KNOCKS; i++) {
            try (Socket socket = new Socket(node.getAddress(), node.getPort())) {
                if (i % 2 == 0) {
                    socket.getOutputStream().write("not a handshake".getBytes(java.nio.charset.StandardCharsets.UTF_8));
                } else {
                    SSLSocket secure =
                            (SSLSocket) trusting.getSocketFactory().createSocket(socket, Endpoint.HOST, port, true);
                    secure.setSoTimeout((int) PATIENCE.toMillis());
                    assertThat(isHungUpOn(secure)).isTrue();
                }
            } catch (java.net.SocketException e) { // hung up on while it was writing
                assertThat(e).isNotNull();
            }
        }
    }

    /** With TLS 1.3 a client learns after its handshake that its certificate was missed. */
    private static boolean isHungUpOn(SSLSocket socket) {
        try {
            socket.startHandshake();
            return socket.getInputStream().read() < 0;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }
}
