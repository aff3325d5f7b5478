// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Nodes of a cluster, each a process of the program with a store of its own, that meet on the loopback address. */
final class LoopbackCluster implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final long EXPIRY_SECONDS = 1_000;
    private static final String SECRET = "not-a-secret-at-all";
    private static final String REPLICAS = "replicas";
    private static final Pattern SESSIONS = Pattern.compile("(?m)^smqtt_sessions_active(?:\\{[^}]*})? ([0-9.]+)");

    private final Path directory;
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<Integer> ports;
    private final List<Integer> clientPorts;
    private final List<Integer> replicaPorts;
    private final List<BrokerProcess> brokers = new ArrayList<>();
    private final String storage;
    private final String[] settings;

    private LoopbackCluster(Path directory, int count, String storage, String... settings) {
        this.directory = directory;
        this.storage = storage;
        this.settings = settings;
        List<Integer> free = LoopbackPorts.some(3 * count);
        this.ports = free.subList(0, count);
        this.clientPorts = free.subList(count, 2 * count);
        this.replicaPorts = free.subList(2 * count, 3 * count);
    }

    /** Starts nodes n0, n1 and so on, and waits until each knows the others. */
    static LoopbackCluster start(Path directory, int count) {
        return start(directory, count, "rocksdb");
    }

    /** Starts nodes with a {@code storage.kind}, or {@code replicas} for three of them, and further settings, {@code key=value}. */
    static LoopbackCluster start(Path directory, int count, String storage, String... settings) {
        LoopbackCluster cluster = new LoopbackCluster(directory, count, storage, settings);
        try {
            if (storage.equals(REPLICAS)) { // the first start needs all nodes
                List<CompletableFuture<BrokerProcess>> starts = IntStream.range(0, count)
                        .mapToObj(node -> CompletableFuture.supplyAsync(() -> cluster.process(node), THREADS))
                        .toList();
                starts.forEach(start -> cluster.brokers.add(start.join()));
            } else {
                for (int i = 0; i < count; i++) {
                    cluster.brokers.add(cluster.process(i));
                }
            }
            cluster.awaitTogether();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    /**
     * Starts nodes at the same moment, each with its own secret, and waits until each has started, not until they are together.
     *
     * @param secrets the {@code cluster.secret} of each node; empty for none
     */
    static LoopbackCluster startTogether(Path directory, List<String> secrets) {
        LoopbackCluster cluster = new LoopbackCluster(directory, secrets.size(), "memory");
        List<CompletableFuture<BrokerProcess>> starts = new ArrayList<>();
        for (int i = 0; i < secrets.size(); i++) {
            int node = i;
            starts.add(CompletableFuture.supplyAsync(() -> cluster.process(node, secrets.get(node)), THREADS));
        }
        CompletableFuture.allOf(starts.toArray(CompletableFuture[]::new))
                .handle((nothing, failure) -> nothing)
                .join();
        starts.stream()
                .filter(start -> !start.isCompletedExceptionally())
                .forEach(start -> cluster.brokers.add(start.join()));
        if (cluster.brokers.size() < secrets.size()) {
            cluster.close();
            starts.forEach(CompletableFuture::join);
        }
        return cluster;
    }

    private BrokerProcess process(int node) {
        return process(node, SECRET);
    }

    private BrokerProcess process(int node, String secret) {
        Path home = directory.resolve("n" + node);
        Path file = configuration(home, node, ports.get(node), clientPorts.get(node), secret);
        return BrokerProcess.start(home, wrapper(), file, settings);
    }

    private List<String> wrapper() {
        Path extension = ReplicatedCluster.EXTENSION;
        return storage.equals(REPLICAS) ? List.of("env", "JAVA_TOOL_OPTIONS=-Dsmqtt.ext=" + extension) : List.of();
    }

    /** Starts another process with the name of a node, at another port; it need not start. */
    CapturedProcess namesake(int node, int port) {
        Path home = directory.resolve("namesake-" + port);
        String file = configuration(home, node, port, 0, SECRET).toString();
        return BrokerProcess.run(
                home, "start", "--config", file, "--data", home.resolve("data").toString());
    }

    private Path configuration(Path home, int node, int port, int clientPort, String secret) {
        String seeds = String.join(
                ", ", ports.stream().map(seed -> "'127.0.0.1:" + seed + "'").toList());
        String yaml = """
                management:
                  port: 0
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: %d
                  ws:
                    host: 127.0.0.1
                    port: 0
                storage:
                  kind: %s
                  replicas: %d
                limits:
                  max-queued-messages: 1000000
                  max-queued-bytes: 1000000000
                cluster:
                  enabled: true
                  node-id: n%d
                  bind: '127.0.0.1:%d'
                  seeds: [%s]
                  nodes: [%s]
                %s
                """.formatted(
                        clientPort,
                        storage.equals(REPLICAS) ? "rocksdb" : storage,
                        storage.equals(REPLICAS) ? 3 : 1,
                        node,
                        port,
                        seeds,
                        storage.equals(REPLICAS) ? nodes() : "",
                        secret.isEmpty() ? "" : "  secret: " + secret);
        try {
            Files.createDirectories(home);
            return Files.writeString(home.resolve("smqtt.yaml"), yaml);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String nodes() {
        return String.join(
                ", ",
                IntStream.range(0, replicaPorts.size())
                        .mapToObj(node -> "'n" + node + "=127.0.0.1:" + replicaPorts.get(node) + "'")
                        .toList());
    }

    /** Starts a node again that has ended, and waits until all know each other. */
    void restart(int node) {
        brokers.get(node).close();
        brokers.set(node, process(node));
        awaitTogether();
    }

    /** Starts a node again that has ended, while others may be away. */
    void restartAlone(int node) {
        brokers.get(node).close();
        brokers.set(node, process(node));
    }

    /** Starts nodes again that have ended, in this order, and waits until all nodes know each other. */
    void restartAll(int... nodes) {
        for (int node : nodes) {
            brokers.get(node).close();
            brokers.set(node, process(node));
        }
        awaitTogether();
    }

    /** The process of a node. */
    BrokerProcess broker(int node) {
        return brokers.get(node);
    }

    /** The ports of all nodes for clients, the same after each restart. */
    List<Integer> clientPorts() {
        return clientPorts;
    }

    /** The port of a node for the others. */
    int port(int node) {
        return ports.get(node);
    }

    /** How the cluster looks from a node. */
    NodeView view(int node) {
        return NodeView.of(get(node, "/cluster", "application/json"));
    }

    /** Whether a node reaches another one, as it says. */
    boolean reaches(int node, int other) {
        return view(node).peer("n" + other).reachable();
    }

    /** How many sessions a node has. */
    int sessions(int node) {
        return sessions(get(node, "/metrics", "text/plain"));
    }

    /** What a node says of a meter without tags. */
    double metric(int node, String name) {
        return get(node, "/metrics", "text/plain")
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    /** The sum of the meters of a node whose names begin so, with tags or without. */
    double metrics(int node, String start) {
        return sum(get(node, "/metrics", "text/plain"), start);
    }

    /** The sum of the meters whose names begin so. */
    static double sum(String metrics, String start) {
        return metrics.lines()
                .filter(line -> line.startsWith(start))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** The number of sessions that metrics tell of. */
    static int sessions(String metrics) {
        Matcher matcher = SESSIONS.matcher(metrics);
        if (!matcher.find()) {
            throw new AssertionError("no number of sessions among the metrics");
        }
        return (int) Double.parseDouble(matcher.group(1));
    }

    private String get(int node, String path, String type) {
        URI uri = URI.create("http://127.0.0.1:" + brokers.get(node).port("management") + path);
        try {
            HttpRequest request = HttpRequest.newBuilder(uri)
                    .header("Accept", type)
                    .timeout(PATIENCE)
                    .build();
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private void awaitTogether() {
        await().atMost(PATIENCE).until(() -> IntStream.range(0, brokers.size()).allMatch(this::knowsAll));
    }

    private boolean knowsAll(int node) {
        List<NodeView.PeerView> peers = view(node).peers();
        return peers.size() == brokers.size() - 1
                && peers.stream().allMatch(peer -> peer.reachable() && peer.lag() == 0);
    }

    /** A client with a session that ends with its connection. */
    RawClient client(int node, String clientId) {
        RawClient client = open(node);
        client.connect(clientId);
        return client;
    }

    /** A client with a session that goes on. */
    RawClient stored(int node, String clientId) {
        RawClient client = open(node);
        client.connect(storedConnect(clientId));
        return client;
    }

    /** The CONNECT of a client with a session that goes on. */
    static ConnectBytes storedConnect(String clientId) {
        return ConnectBytes.of(clientId).persistent(EXPIRY_SECONDS);
    }

    /** A connection without a CONNECT. */
    RawClient open(int node) {
        return RawClient.to(brokers.get(node).address("tcp"), ProtocolVersion.MQTT_5)
                .deadline(PATIENCE);
    }

    /** Publishes with QoS 1 until the route has come to the publisher's node, once from then on. */
    static void publishUntilMatched(RawClient publisher, String topic, String payload) {
        await().atMost(PATIENCE).until(() -> {
            publisher.send(PublishBytes.to(topic).payload(payload).qos(1, publisher.nextPacketId()));
            return publisher.expect(MqttMessageType.PUBACK).reasonCode() == 0;
        });
    }

    @Override
    public void close() {
        brokers.forEach(BrokerProcess::close);
    }
}
