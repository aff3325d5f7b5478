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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Nodes of a cluster, each a process of the program in a network of its own that is plugged into one bridge, so that its cable can be
 * cut. Clients reach them from here. Needs root and {@code ip}.
 */
final class ClusterNetwork implements AutoCloseable {

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

    /** A hardware address that no node has. */
    private static final String NOBODY = "02:00:00:00:00:01";

    private static final AtomicInteger NETWORKS = new AtomicInteger();

    private final Path directory;
    private final String name;
    private final String prefix;
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
        this.secret = secret;
        this.directory = directory;
        this.count = count;
        this.more = more;
        long pid = ProcessHandle.current().pid();
        name = "sq" + pid % 100_000
                + (char) ('a' + NETWORKS.getAndIncrement() % 26); // links outlive their space a little
        prefix = "10.213." + pid % 250 + ".";
        ip("link", "add", bridge(), "type", "bridge");
        ip("addr", "add", prefix + "1/24", "dev", bridge());
        ip("link", "set", bridge(), "up");
        for (int i = 0; i < count; i++) {
            brokers.add(null);
            ip("netns", "add", space(i));
            ip("link", "add", cable(i), "type", "veth", "peer", "name", "eth0", "netns", space(i));
            ip("link", "set", cable(i), "master", bridge(), "up");
            inside(i, "ip", "addr", "add", host(i) + "/24", "dev", "eth0");
            inside(i, "ip", "link", "set", "eth0", "up");
            inside(i, "ip", "link", "set", "lo", "up");
        }
    }

    private String bridge() {
        return name;
    }

    private String space(int node) {
        return name + "n" + node;
    }

    private String cable(int node) {
        return name + "v" + node;
    }

    private String host(int node) {
        return prefix + (10 + node);
    }

    /** The addresses of all nodes. */
    List<String> hosts() {
        return IntStream.range(0, count).mapToObj(this::host).toList();
    }

    /** The interfaces on this side that all packets of the nodes pass. */
    List<String> cables() {
        return IntStream.range(0, count).mapToObj(this::cable).toList();
    }

    private static String ip(String... arguments) {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        return run(command);
    }

    private String inside(int node, String... command) {
        List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", space(node)));
        all.addAll(List.of(command));
        return run(all);
    }

    private static String run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output =
                    new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new AssertionError(command + ": " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
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
            List<String> wrapper = List.of("ip", "netns", "exec", space(node));
            brokers.set(node, BrokerProcess.start(home, wrapper, file));
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

    /** Pulls the cable of a node. */
    void cut(int node) {
        ip("link", "set", cable(node), "down");
    }

    /** Plugs it in again. */
    void heal(int node) {
        ip("link", "set", cable(node), "up");
    }

    /** Whether this process may make networks. */
    static boolean isAllowed() {
        try {
            ip("netns", "add", "sqprobe" + ProcessHandle.current().pid());
            ip("netns", "del", "sqprobe" + ProcessHandle.current().pid());
            return true;
        } catch (AssertionError | UncheckedIOException e) {
            return false;
        }
    }

    /** Gives the cable of a node a rate in each direction, such as {@code 4mbit}. */
    void limit(int node, String rate) {
        String[] discipline = {"root", "handle", "1:", "htb", "default", "1"};
        String[] class1 = {"parent", "1:", "classid", "1:1", "htb", "rate", rate, "ceil", rate};
        run(words("tc qdisc add dev " + cable(node), discipline));
        run(words("tc class add dev " + cable(node), class1));
        inside(node, words("tc qdisc add dev eth0", discipline).toArray(String[]::new));
        inside(node, words("tc class add dev eth0", class1).toArray(String[]::new));
    }

    /** Takes that back. */
    void unlimit(int node) {
        run(words("tc qdisc del dev " + cable(node) + " root"));
        inside(node, words("tc qdisc del dev eth0 root").toArray(String[]::new));
    }

    private static List<String> words(String first, String... more) {
        List<String> words = new ArrayList<>(List.of(first.split(" ")));
        words.addAll(List.of(more));
        return words;
    }

    /** Loses all packets from one node to another, unnoticed by their sender; the other way stays open. */
    void mute(int from, int to) {
        inside(from, "ip", "neigh", "replace", host(to), "lladdr", NOBODY, "nud", "permanent", "dev", "eth0");
    }

    /** Ends {@link #mute}. */
    void unmute(int from, int to) {
        inside(from, "ip", "neigh", "del", host(to), "dev", "eth0");
    }

    /** Refuses all packets from one node to another: their sender gets an error. The other way stays open. */
    void forbid(int from, int to) {
        inside(from, "ip", "route", "add", "blackhole", host(to) + "/32");
    }

    /** Ends {@link #forbid}. */
    void permit(int from, int to) {
        inside(from, "ip", "route", "del", "blackhole", host(to) + "/32");
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
        for (int i = 0; i < count; i++) {
            ip("netns", "del", space(i));
        }
        ip("link", "del", bridge());
    }
}
