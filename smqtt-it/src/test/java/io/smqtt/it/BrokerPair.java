// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Two brokers, not a cluster, for tests of what stands in front of them. Listeners {@code tcp}, {@code tls} and {@code ws} want the PROXY
 * protocol, {@code plain} and {@code plainws} do not. Each broker retains its name, so that a client can tell which one it has reached.
 */
final class BrokerPair implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final List<String> NAMES = List.of("one", "two");

    static final String NAME_TOPIC = "which/broker";
    private static final List<String> HOSTS_OF_SAMPLES = List.of("10.0.0.11", "10.0.0.12");

    private final Path directory;
    private final TestCertificates certificates;
    private final List<BrokerProcess> brokers = new ArrayList<>();
    private final Map<String, String[]> ports = new HashMap<>();

    private BrokerPair(Path directory) {
        this.directory = directory;
        this.certificates = TestCertificates.in(directory);
    }

    static BrokerPair start(Path directory) throws IOException {
        BrokerPair pair = new BrokerPair(directory);
        Files.writeString(directory.resolve("smqtt.yaml"), """
                management:
                  port: 0
                access:
                  allow-anonymous: true
                listeners:
                  tcp: {host: 127.0.0.1, port: 0, proxy-protocol: true, trusted-proxies: [127.0.0.1]}
                  tls:
                    {type: tcp, host: 127.0.0.1, port: 0, proxy-protocol: true, trusted-proxies: [127.0.0.1],
                     tls: {certificate: '%1$s', key: '%2$s'}}
                  ws: {host: 127.0.0.1, port: 0, proxy-protocol: true, trusted-proxies: [127.0.0.1]}
                  plain: {type: tcp, host: 127.0.0.1, port: 0}
                  plainws: {type: ws, host: 127.0.0.1, port: 0}
                """.formatted(
                        pair.certificates.serverCertificate(), pair.certificates.serverKey()));
        for (String name : NAMES) {
            Files.createDirectory(directory.resolve(name));
            String[] ports = Stream.of("tcp", "tls", "ws", "plain", "plainws")
                    .map(listener -> "listeners." + listener + ".port=" + LoopbackPorts.one())
                    .toArray(String[]::new);
            pair.ports.put(name, ports);
            pair.brokers.add(pair.process(name));
            pair.name(name);
        }
        return pair;
    }

    private BrokerProcess process(String name) {
        return BrokerProcess.start(
                directory.resolve(name), List.of(), directory.resolve("smqtt.yaml"), requireNonNull(ports.get(name)));
    }

    /** Retains the broker's name; again after each start, since a kill may come before anything is written. */
    private void name(String name) {
        try (RawClient client = RawClient.to(get(name).address("plain"), ProtocolVersion.MQTT_5)) {
            client.deadline(PATIENCE).connect("names");
            client.publish(PublishBytes.to(NAME_TOPIC).payload(name).qos(1).retained());
        }
    }

    BrokerProcess get(String name) {
        return brokers.get(NAMES.indexOf(name));
    }

    TestCertificates certificates() {
        return certificates;
    }

    /** Starts a broker that was killed once more, on the ports that it had. */
    void restart(String name) {
        get(name).close();
        brokers.set(NAMES.indexOf(name), process(name));
        name(name);
    }

    /** The name of the broker that a connected client has reached. */
    static String reachedBy(RawClient client) {
        client.subscribe(NAME_TOPIC, 0);
        return client.expect(MqttMessageType.PUBLISH).text();
    }

    /** A socket from a loopback address of the caller's choice, with TLS when there is a context. */
    static RawClient open(InetSocketAddress front, String from, @Nullable SSLContext tls) throws IOException {
        InetAddress local = InetAddress.getByName(from);
        Socket socket = tls == null
                ? new Socket(front.getAddress(), front.getPort(), local, 0)
                : tls.getSocketFactory().createSocket(front.getAddress(), front.getPort(), local, 0);
        return RawClient.over(socket, ProtocolVersion.MQTT_5).deadline(PATIENCE);
    }

    /** Connects a client, and returns the name of the broker that it has reached. */
    static String visit(InetSocketAddress front, String from, @Nullable SSLContext tls, String clientId) {
        try (RawClient client = open(front, from, tls)) {
            client.connect(clientId);
            return reachedBy(client);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * A sample with the addresses of this pair.
     *
     * @param sample the text of a file in {@code deploy}
     * @param listeners port of the brokers in the sample to listener of the brokers here
     * @param fronts what is bound in the sample to what is bound here
     */
    String adapt(String sample, Map<String, String> listeners, Map<String, String> fronts) {
        String adapted = sample;
        for (int i = 0; i < NAMES.size(); i++) {
            for (Map.Entry<String, String> listener : listeners.entrySet()) {
                String before = HOSTS_OF_SAMPLES.get(i) + ":" + listener.getKey();
                assertThat(adapted).contains(before);
                adapted = adapted.replace(before, "127.0.0.1:" + brokers.get(i).port(listener.getValue()));
            }
        }
        for (Map.Entry<String, String> front : fronts.entrySet()) {
            assertThat(adapted).contains(front.getKey());
            adapted = adapted.replace(front.getKey(), front.getValue());
        }
        assertThat(adapted).doesNotContain(HOSTS_OF_SAMPLES);
        return adapted;
    }

    static boolean isListening(InetSocketAddress address) {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    /** The text of a file below {@code deploy}. */
    static String sample(String path) throws IOException {
        return Files.readString(
                BrokerProcess.script().resolveSibling("../deploy/" + path).normalize());
    }

    String report() {
        return brokers.get(0).report() + brokers.get(1).report();
    }

    @Override
    public void close() {
        brokers.forEach(BrokerProcess::close);
    }
}
