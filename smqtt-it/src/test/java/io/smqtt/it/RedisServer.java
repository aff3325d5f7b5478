// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Redis as a child process on free loopback ports. */
final class RedisServer implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path directory;
    private final int port;
    private final List<String> options;
    private CapturedProcess process;

    private RedisServer(Path directory, int port, List<String> options) {
        this.directory = directory;
        this.port = port;
        this.options = options;
        this.process = run();
    }

    /** Starts a server with a listener for TLS, too. */
    static RedisServer start(Path directory, TestCertificates certificates, int tlsPort) {
        return new RedisServer(
                directory,
                LoopbackPorts.one(),
                List.of(
                        "--tls-port",
                        String.valueOf(tlsPort),
                        "--tls-cert-file",
                        certificates.serverCertificate().toString(),
                        "--tls-key-file",
                        certificates.serverKey().toString(),
                        "--tls-ca-cert-file",
                        certificates.authority().toString(),
                        "--tls-auth-clients",
                        "no"));
    }

    /** Starts a server that keeps every command in a file before it answers, which {@link #startAgain} reads. */
    static RedisServer stored(Path directory) {
        return new RedisServer(
                directory, LoopbackPorts.one(), List.of("--appendonly", "yes", "--appendfsync", "always"));
    }

    /** Starts a server that appends commands to a file, which it writes to the disk once a second. */
    static RedisServer appending(Path directory) {
        return new RedisServer(
                directory, LoopbackPorts.one(), List.of("--appendonly", "yes", "--appendfsync", "everysec"));
    }

    /** Starts a server that saves all keys after each second with a change, and takes no changes while that fails. */
    static RedisServer saving(Path directory) {
        return new RedisServer(
                directory, LoopbackPorts.one(), List.of("--save", "1 1", "--stop-writes-on-bgsave-error", "yes"));
    }

    /** Starts a cluster of one node. */
    static RedisServer cluster(Path directory) {
        RedisServer node = new RedisServer(
                directory,
                LoopbackPorts.one(),
                List.of("--cluster-enabled", "yes", "--cluster-port", String.valueOf(LoopbackPorts.one())));
        node.load("CLUSTER ADDSLOTSRANGE 0 16383\n");
        await().atMost(PATIENCE).until(() -> node.load("CLUSTER INFO\n").contains("cluster_state:ok"));
        return node;
    }

    /** Starts a sentinel that watches a server under the name {@code main}. */
    static RedisServer sentinel(Path directory, RedisServer watched) throws IOException {
        Path file = Files.writeString(
                directory.resolve("sentinel.conf"), "sentinel monitor main 127.0.0.1 %d 1%n".formatted(watched.port));
        return new RedisServer(directory, LoopbackPorts.one(), List.of(file.toString(), "--sentinel"));
    }

    int port() {
        return port;
    }

    private CapturedProcess run() {
        List<String> command = new ArrayList<>(List.of(ForeignProgram.path("redis-server")));
        boolean hasFile = !options.get(0).startsWith("--");
        command.addAll(hasFile ? options : List.of());
        command.addAll(List.of("--port", String.valueOf(port), "--bind", "127.0.0.1", "--dir", directory.toString()));
        command.addAll(hasFile ? List.of() : List.of("--save", "", "--appendonly", "no"));
        command.addAll(hasFile ? List.of() : options);
        CapturedProcess started =
                CapturedProcess.start("redis-server", new ProcessBuilder(command).directory(directory.toFile()));
        await().atMost(PATIENCE).until(() -> load("PING\n").contains("PONG"));
        return started;
    }

    /** Runs commands, one in each line, and returns the answers. */
    String load(String commands) {
        try {
            Path file = Files.writeString(directory.resolve("commands-" + port), commands);
            ProcessBuilder command =
                    new ProcessBuilder(ForeignProgram.path("redis-cli"), "-p", String.valueOf(port), "-h", "127.0.0.1");
            try (CapturedProcess cli = CapturedProcess.start("redis-cli", command.redirectInput(file.toFile()))) {
                assertThat(cli.awaitExit(PATIENCE)).as(cli.report()).isZero(); // else it has reached no server
                return String.join("\n", cli.output());
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs commands that must succeed. */
    void loadAll(String commands) {
        assertThat(load(commands)).doesNotContain("ERR", "WRONG");
    }

    /** Kills the server, whose data is lost unless it is stored. */
    void kill() {
        process.close();
    }

    /** Starts it again if it has ended by itself. */
    void startIfEnded() {
        if (!process.process().isAlive()) {
            startAgain();
        }
    }

    /** Starts it again on the same ports. */
    void startAgain() {
        process = run();
    }

    @Override
    public void close() {
        process.close();
    }
}
