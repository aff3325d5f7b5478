// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Nodes of a cluster, each a process of the program in a network of its own. Clients reach them from here. Needs root and {@code ip}. */
final class ClusterNetwork extends NodeSpaces {

    static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Duration DIGESTS = Duration.ofSeconds(3);

    /** The port of each node for the others. */
    static final int CLUSTER_PORT = 7800;

    /** A user of all nodes. */
    static final String USER = "user-of-the-nodes";

    static final String PASSWORD = "s3cret";
    private static final String SECRET = "not-a-secret-at-all";
    private static final String HASH =
            "$7$5000$AA+iKxATW5U3YTpU$Jj9w434PdU03WwmDN50aWfl6FF1cAm+5W3gmLEO/DOBFYsz1TKx1ylPH5e1gOm8e+iSFCrxZXHcqFrV0XUp6kw==";
    private static final int MANAGEMENT_PORT = 18_083;
    private static final String TOKEN = "0123456789abcdef-of-a-test";

    private final Path directory;
    private final int count;
    private final String more;
    private final String secret;
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<@Nullable BrokerProcess> brokers = new ArrayList<>();

    /**
     * Makes the networks; nothing is started.
     *
     * @param directory for configurations and data
     * @param count nodes
     * @param more further lines of each configuration
     */
    ClusterNetwork(Path directory, int count, String more) {
        this(directory, count, more, SECRET);
    }

    /**
     * Makes the networks; nothing is started.
     *
     * @param secret the secret of the nodes; empty for none
     */
    ClusterNetwork(Path directory, int count, String more, String secret) {
        super(count);
        this.secret = secret;
        this.directory = directory;
        this.count = count;
        this.more = more;
        for (int i = 0; i < count; i++) {
            brokers.add(null);
        }
    }

    /** Starts a node, and waits until clients can come. */
    void start(int node) {
        List<String> seeds = IntStream.range(0, count)
                .mapToObj(i -> "'" + host(i) + ":" + CLUSTER_PORT + "'")
                .toList();
        try {
            Path home = Files.createDirectories(directory.resolve("n" + node));
            Path token = Files.writeString(home.resolve("token"), TOKEN);
            Files.setPosixFilePermissions(token, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
            Files.writeString(home.resolve("users"), USER + ':' + HASH + '\n');
            Path file = Files.writeString(home.resolve("smqtt.yaml"), """
                    management:
                      host: %s
                      port: %d
                      token-file: token
                    access:
                      allow-anonymous: 'true'
                      password-file: users
                    listeners:
                      tcp:
                        host: %s
                        port: 1883
                      ws:
                        enabled: false
                    cluster:
                      enabled: true
                      node-id: n%d
                      bind: '%s:%d'
                      seeds: [%s]
                    %s
                    %s
                    """.formatted(
                            host(node),
                            MANAGEMENT_PORT,
                            host(node),
                            node,
                            host(node),
                            CLUSTER_PORT,
                            String.join(", ", seeds),
                            secret.isEmpty() ? "" : "  secret: " + secret,
                            more));
            brokers.set(node, BrokerProcess.start(home, wrapper(node), file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts all nodes and waits until each knows the others. */
    void startAll() {
        for (int i = 0; i < count; i++) {
            start(i);
        }
        awaitTogether();
    }

    /** Whether a node can reach another one, as it says. */
    boolean reaches(int node, int other) {
        return view(node).peer("n" + other).reachable();
    }

    /** The sum of the meters of a node whose names begin so, with tags or without. */
    double metrics(int node, String start) {
        return LoopbackCluster.sum(ask(node, "/metrics"), start);
    }

    /** Waits until each node says that all can be reached and that nothing of their routes is missing. */
    void awaitTogether() {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(this::isTogether);
    }

    /** Whether every node sees every other one, and knows as many of its routes as it has. */
    boolean isTogether() {
        List<NodeView> views = IntStream.range(0, count).mapToObj(this::view).toList();
        for (NodeView view : views) {
            if (view.peers().size() != count - 1) {
                return false;
            }
            for (NodeView.PeerView peer : view.peers()) {
                boolean same = views.stream()
                        .anyMatch(other -> other.nodeId().equals(peer.nodeId()) && other.routes() == peer.routes());
                if (!peer.reachable() || peer.lag() > 0 || !same) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Bytes that the connections of the cluster's port between two nodes have carried from one to the other. */
    long wireBytes(int from, int to) {
        String sockets = inside(
                from,
                "ss",
                "-tinH",
                "dst",
                host(to),
                "and",
                "(",
                "sport",
                "=",
                ":" + CLUSTER_PORT,
                "or",
                "dport",
                "=",
                ":" + CLUSTER_PORT,
                ")");
        Matcher matcher = Pattern.compile("bytes_sent:(\\d+)").matcher(sockets);
        long sum = 0;
        while (matcher.find()) {
            sum += Long.parseLong(matcher.group(1));
        }
        return sum;
    }

    /** The process of a node. */
    BrokerProcess broker(int node) {
        BrokerProcess broker = brokers.get(node);
        if (broker == null) {
            throw new IllegalStateException("node " + node + " does not run");
        }
        return broker;
    }

    /** Where clients reach a node. */
    InetSocketAddress address(int node) {
        return new InetSocketAddress(host(node), 1883);
    }

    RawClient client(int node, String clientId) {
        RawClient client = RawClient.to(address(node), ProtocolVersion.MQTT_5).deadline(PATIENCE);
        client.connect(clientId);
        return client;
    }

    /** A client with a session that goes on. */
    RawClient stored(int node, String clientId) {
        RawClient client = RawClient.to(address(node), ProtocolVersion.MQTT_5).deadline(PATIENCE);
        client.connect(LoopbackCluster.storedConnect(clientId));
        return client;
    }

    /** How many sessions all nodes have. */
    int sessions() {
        return IntStream.range(0, count)
                .map(node -> LoopbackCluster.sessions(ask(node, "/metrics")))
                .sum();
    }

    /**
     * Waits until digests of the routes were exchanged again: each node says once a second what its table comes to, and the
     * others count a repair if theirs comes to something else.
     */
    void awaitEqualDigests() {
        long began = System.nanoTime();
        await().atMost(PATIENCE).until(() -> System.nanoTime() - began > DIGESTS.toNanos() && isTogether());
        for (int i = 0; i < count; i++) {
            if (view(i).repairs() > 0) {
                throw new AssertionError("tables of routes differ on node " + i);
            }
        }
    }

    /** How the cluster looks from a node; with no peers while it does not answer. */
    NodeView view(int node) {
        String answer = ask(node, "/cluster");
        return answer.isEmpty() ? NodeView.UNKNOWN : NodeView.of(answer);
    }

    /** What the management port answers; nothing while it does not. */
    private String ask(int node, String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + host(node) + ":" + MANAGEMENT_PORT + path))
                .header("Authorization", "Bearer " + TOKEN)
                .timeout(Duration.ofSeconds(2))
                .build();
        try {
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Ends a node, and with it the connections of its clients. */
    void close(int node) {
        broker(node).close();
        brokers.set(node, null);
    }

    @Override
    public void close() {
        for (BrokerProcess broker : brokers) {
            if (broker != null) {
                broker.close();
            }
        }
        super.close();
    }
}
