// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Three nodes n0, n1 and n2 with {@code storage.replicas: 3}, each a process of the program with the extension. */
final class ReplicatedCluster implements AutoCloseable {

    static final int NODES = 3;

    /** The node that takes the place of a lost one. */
    static final int REPLACEMENT = NODES;

    private static final int PROCESSES = NODES + 1;

    private static final Path HOME = Path.of(System.getProperty("smqtt.home", ".."));
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The extension, as it is beside the program. */
    static final Path EXTENSION =
            HOME.resolve("smqtt-replication/target/ext").toAbsolutePath().normalize();

    private static final Pattern SERVER = Pattern.compile("\"home\":\"(\\w+)\".*?\"server\":(?:\"(\\w+)\"|null)");
    private static final int USUAL_MEGABYTES = 256;
    private static final String LOOPBACK = "127.0.0.1";
    private static final String TOKEN = "0123456789abcdef-of-a-test";

    private final Path directory;
    private final int heapMegabytes;
    private final @Nullable NodeSpaces spaces;
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<Integer> ports = LoopbackPorts.some(3 * PROCESSES);
    private final @Nullable BrokerProcess[] brokers = new BrokerProcess[PROCESSES];
    private final List<Whereabouts> addresses = new ArrayList<>();
    private final String[] clocks = new String[PROCESSES];
    private int replaced = -1;

    private ReplicatedCluster(Path directory, int heapMegabytes, @Nullable NodeSpaces spaces) {
        this.directory = directory;
        this.heapMegabytes = heapMegabytes;
        this.spaces = spaces;
        Arrays.fill(clocks, "");
        for (int node = 0; node < NODES; node++) {
            addresses.add(new Whereabouts());
        }
    }

    /** Starts all nodes, and waits until each serves. */
    static ReplicatedCluster start(Path directory) {
        return start(directory, USUAL_MEGABYTES);
    }

    /** The same, with a heap for each node. */
    static ReplicatedCluster start(Path directory, int heapMegabytes) {
        return start(directory, heapMegabytes, null);
    }

    /** The same, with each node in a network of its own, which stays open at the end; or all on this machine's loopback without. */
    static ReplicatedCluster start(Path directory, @Nullable NodeSpaces spaces) {
        return start(directory, USUAL_MEGABYTES, spaces);
    }

    private static ReplicatedCluster start(Path directory, int heapMegabytes, @Nullable NodeSpaces spaces) {
        ReplicatedCluster cluster = new ReplicatedCluster(directory, heapMegabytes, spaces);
        try {
            cluster.startTogether(0, 1, 2);
            cluster.awaitSettled();
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    /** Starts nodes at the same moment, and waits until each serves. */
    void startTogether(int... nodes) {
        List<CompletableFuture<Void>> starts = new ArrayList<>();
        for (int node : nodes) {
            starts.add(CompletableFuture.runAsync(() -> start(node), THREADS));
        }
        starts.forEach(CompletableFuture::join);
    }

    /** Waits until each node serves its own store, as all of them see it: an election may still follow the first one. */
    private void awaitSettled() {
        Map<String, String> own = new TreeMap<>();
        for (int node = 0; node < NODES; node++) {
            own.put("n" + node, "n" + node);
        }
        await().atMost(PATIENCE).untilAsserted(() -> {
            for (int node = 0; node < NODES; node++) {
                assertThat(servers(node)).as("servers, as n%d sees them", node).isEqualTo(own);
                assertThat(get(node, "/health/ready").statusCode())
                        .as("readiness of n%d", node)
                        .isEqualTo(200);
            }
        });
    }

    /** Starts a node, and waits until it serves. */
    void start(int node) {
        start(node, node);
        await().atMost(PATIENCE).until(() -> get(node, "/health/ready").statusCode() == 200);
    }

    private void start(int node, int clientsOf) {
        Path log = log(node);
        BrokerProcess started = BrokerProcess.start(command(node), line -> append(log, line));
        brokers[node] = started;
        addresses.get(clientsOf).set(listener(node));
    }

    private InetSocketAddress listener(int node) {
        return new InetSocketAddress(host(node), broker(node).port("tcp"));
    }

    private String host(int node) {
        NodeSpaces networks = spaces;
        return networks == null ? LOOPBACK : networks.host(node);
    }

    /** Starts another node in the place of a lost one, whose clients come to it from then on. */
    void startInPlaceOf(int node) {
        replaced = node;
        start(REPLACEMENT, node);
    }

    /** Kills the node in the place of a lost one. */
    void killReplacement() {
        addresses.get(replaced).set(null);
        BrokerProcess broker = broker(REPLACEMENT);
        broker.kill9();
        broker.close();
    }

    /** Runs {@code ctl} against a node. */
    CapturedProcess ctl(int node, String... arguments) {
        List<String> command = new ArrayList<>(BrokerProcess.program());
        command.add("ctl");
        command.addAll(List.of(arguments));
        command.addAll(List.of(
                "--url",
                "http://" + host(node) + ":" + broker(node).port("management"),
                "--token-file",
                token(node).toString()));
        return CapturedProcess.start("ctl", new ProcessBuilder(command));
    }

    /** The output of all processes of a node. */
    Path log(int node) {
        return directory.resolve("n" + node + ".log");
    }

    private static void append(Path log, String line) {
        try {
            Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The command of a node. */
    ProcessBuilder command(int node, String... settings) {
        Path home = directory.resolve("n" + node);
        Path file = configuration(home, node);
        NodeSpaces networks = spaces;
        List<String> command = new ArrayList<>(networks == null ? List.of() : networks.wrapper(node));
        if (!clocks[node].isEmpty()) {
            command.addAll(ClockProof.withClock(clocks[node]));
        }
        command.addAll(BrokerProcess.program());
        command.addAll(List.of(
                "start", "--config", file.toString(), "--data", data(node).toString()));
        for (String setting : settings) {
            command.addAll(List.of("--set", setting));
        }
        return withExtension(command, node);
    }

    private ProcessBuilder withExtension(List<String> command, int node) {
        Path home = directory.resolve("n" + node);
        ProcessBuilder builder = new ProcessBuilder(command).directory(home.toFile());
        builder.environment()
                .put(
                        "JAVA_TOOL_OPTIONS",
                        "-Xmx" + heapMegabytes + "m -Dsmqtt.ext=" + EXTENSION + " -Djdk.net.hosts.file="
                                + hosts(home, node));
        return builder;
    }

    /** The names that a node knows: those of the other nodes, not its own, as in a pod that has just been started. */
    private Path hosts(Path home, int node) {
        StringBuilder lines = new StringBuilder("127.0.0.1 localhost\n");
        for (int other = 0; other < NODES; other++) {
            if (other != node) {
                lines.append(host(other)).append(' ').append(name(other)).append('\n');
            }
        }
        try {
            return Files.writeString(home.resolve("hosts"), lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String name(int node) {
        return "n" + node + ".nodes.test";
    }

    /** A node that is configured with a fourth one, and knows no address of this cluster; the nodes of the cluster know its address. */
    CapturedProcess startWithOtherNodes(int node) {
        List<String> nodes = new ArrayList<>();
        for (int other = 0; other <= NODES; other++) {
            int port = other == node ? ports.get(PROCESSES + other) : 1 + other; // no program listens at such a port
            nodes.add("n" + other + "=127.0.0.1:" + port);
        }
        return CapturedProcess.start("n" + node, command(node, "cluster.nodes=" + String.join(",", nodes)));
    }

    private Path configuration(Path home, int node) {
        String seeds = String.join(
                ", ",
                IntStream.range(0, NODES)
                        .mapToObj(other -> "'" + host(other) + ":" + ports.get(other) + "'")
                        .toList());
        String nodes = String.join(
                ", ",
                IntStream.range(0, NODES)
                        .mapToObj(other -> node == REPLACEMENT && other == replaced
                                ? "'n" + other + "/n" + node + "=" + name(node) + ":" + ports.get(PROCESSES + node)
                                        + "'"
                                : "'n" + other + "=" + name(other) + ":" + ports.get(PROCESSES + other) + "'")
                        .toList());
        String yaml = """
                management:
                  host: %s
                  port: 0
                  token-file: token
                access:
                  allow-anonymous: 'true'
                listeners:
                  tcp:
                    host: %s
                    port: %d
                  ws:
                    enabled: false
                storage:
                  kind: rocksdb
                  replicas: 3
                limits:
                  max-queued-messages: 1000000
                  max-queued-bytes: 1000000000
                cluster:
                  enabled: true
                  node-id: n%d
                  bind: '%s:%d'
                  seeds: [%s]
                  nodes: [%s]
                  secret: not-a-secret-at-all
                """.formatted(
                        host(node),
                        host(node),
                        ports.get(2 * PROCESSES + node),
                        node,
                        host(node),
                        ports.get(node),
                        seeds,
                        nodes);
        try {
            Files.createDirectories(home);
            Files.setPosixFilePermissions(
                    Files.writeString(token(node), TOKEN), PosixFilePermissions.fromString("rw-------"));
            return Files.writeString(home.resolve("smqtt.yaml"), yaml);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path token(int node) {
        return directory.resolve("n" + node).resolve("token");
    }

    private Path data(int node) {
        return directory.resolve("n" + node).resolve("data");
    }

    /** The wall clock of a node is ahead of that of the machine from its next start on, such as "+5m", or behind; as it is with an empty text. */
    void clock(int node, String step) {
        clocks[node] = step;
    }

    /** Kills a node (SIGKILL). */
    void kill(int node) {
        addresses.get(node).set(null);
        BrokerProcess broker = broker(node);
        broker.kill9();
        broker.close();
    }

    /** Asks a node to stop (SIGTERM). Its clients are to go elsewhere. */
    void terminate(int node) {
        addresses.get(node).set(null);
        broker(node).terminate();
    }

    /**
     * Waits for the end of a node that was asked to stop.
     *
     * @return whether it has ended by itself; otherwise it is killed
     */
    boolean awaitEnd(int node) {
        try (BrokerProcess broker = broker(node)) {
            broker.awaitExit(PATIENCE);
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** Makes a backup of a node's data directory, whether it runs or not. */
    Path backup(int node) {
        Path backup = directory.resolve("backup" + node);
        dataCommand(node, data(node), "backup", backup.toString());
        return backup;
    }

    /** Checks a backup; returns what the command says. */
    String check(int node, Path backup) {
        return dataCommand(node, backup, "check");
    }

    private String dataCommand(int node, Path data, String... arguments) {
        List<String> command = new ArrayList<>(BrokerProcess.program());
        command.addAll(List.of("data", arguments[0], "--data", data.toString()));
        command.addAll(Arrays.asList(arguments).subList(1, arguments.length));
        try (CapturedProcess process = CapturedProcess.start("data" + node, withExtension(command, node))) {
            if (process.awaitExit(PATIENCE) != 0) {
                throw new IllegalStateException(process.report());
            }
            return process.report();
        }
    }

    /** Makes a backup the content of a node's data directory, which is empty. */
    void restore(int node, Path backup) {
        try {
            Files.move(backup, data(node));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes the data directory of a node that does not run. */
    void wipe(int node) {
        try (Stream<Path> files = Files.walk(data(node))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The process of a node, which was started. */
    BrokerProcess broker(int node) {
        BrokerProcess broker = brokers[node];
        if (broker == null) {
            throw new IllegalStateException("node " + node + " was not started");
        }
        return broker;
    }

    /** The place of a node's clients, while it serves. */
    Whereabouts address(int node) {
        return addresses.get(node);
    }

    /** The node that has a listener at an address. */
    int nodeAt(InetSocketAddress address) {
        return ports.indexOf(address.getPort()) - 2 * PROCESSES;
    }

    /** Whether each node serves its own store, and no node has seen another one serve it since. */
    boolean isHome() {
        return IntStream.range(0, NODES).allMatch(node -> {
            Map<String, String> servers = servers(node);
            return servers.containsKey("n" + node)
                    && servers.entrySet().stream()
                            .allMatch(each -> each.getKey().equals(each.getValue()));
        });
    }

    /** Which node serves whose store, as a node sees it: names of nodes, without the stores that no node serves. */
    Map<String, String> servers(int node) {
        Map<String, String> servers = new TreeMap<>();
        Matcher matcher = SERVER.matcher(get(node, "/cluster").body());
        while (matcher.find()) {
            if (matcher.group(2) != null) {
                servers.put(matcher.group(1), matcher.group(2));
            }
        }
        return servers;
    }

    /** Whether a supervisor would let a node run: {@code /health/live}. */
    boolean isLive(int node) {
        return get(node, "/health/live").statusCode() == HttpURLConnection.HTTP_OK;
    }

    /** Whether a node says that it reaches another one. */
    boolean reaches(int node, int other) {
        return NodeView.of(get(node, "/cluster").body()).peer("n" + other).reachable();
    }

    /** A connection to a node without a CONNECT. */
    RawClient open(int node) {
        InetSocketAddress address = listener(node);
        return RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE);
    }

    /** The answer of the management port of a node. */
    HttpResponse<String> get(int node, String path) {
        URI uri = URI.create("http://" + host(node) + ":" + broker(node).port("management") + path);
        try {
            return http.send(
                    HttpRequest.newBuilder(uri)
                            .header("Accept", "application/json")
                            .header("Authorization", "Bearer " + TOKEN)
                            .timeout(PATIENCE)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        for (BrokerProcess broker : brokers) {
            if (broker != null) {
                broker.close();
            }
        }
    }
}
