// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** RabbitMQ of one node as a child process on free loopback ports, with a port mapper (epmd) and a cookie of its own. */
final class RabbitmqServer implements AutoCloseable {

    /** The largest message that the server takes. */
    static final int MOST_BYTES = 1 << 20;

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Path directory;
    private final int port = LoopbackPorts.one();
    private final int tlsPort = LoopbackPorts.one();
    private final Map<String, String> environment;
    private final CapturedProcess mapper;
    private CapturedProcess process;

    private RabbitmqServer(Path directory, String configuration) throws IOException {
        this.directory = directory;
        int mapperPort = LoopbackPorts.one();
        this.environment = Map.ofEntries(
                Map.entry("HOME", directory.toString()), // where the cookie is
                Map.entry("ERL_EPMD_PORT", String.valueOf(mapperPort)),
                Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"),
                Map.entry("RABBITMQ_NODENAME", "smqtt-" + port + "@localhost"),
                Map.entry("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"),
                Map.entry("RABBITMQ_NODE_PORT", String.valueOf(port)),
                Map.entry("RABBITMQ_DIST_PORT", String.valueOf(LoopbackPorts.one())),
                Map.entry("RABBITMQ_MNESIA_BASE", directory.resolve("data").toString()),
                Map.entry("RABBITMQ_LOG_BASE", directory.resolve("log").toString()),
                Map.entry("RABBITMQ_CONF_ENV_FILE", directory.resolve("none").toString()),
                Map.entry(
                        "RABBITMQ_CONFIG_FILE",
                        directory.resolve("rabbitmq.conf").toString()),
                Map.entry(
                        "RABBITMQ_ENABLED_PLUGINS_FILE",
                        Files.writeString(directory.resolve("plugins"), "[].\n").toString()),
                Map.entry(
                        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
                        "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none"));
        Files.writeString(
                directory.resolve("rabbitmq.conf"),
                "max_message_size = " + MOST_BYTES + "\n" + configuration.formatted(tlsPort));
        mapper = run("epmd", ForeignProgram.path("epmd"), "-port", String.valueOf(mapperPort), "-address", "127.0.0.1");
        process = start();
    }

    /** Starts a server. */
    static RabbitmqServer start(Path directory) throws IOException {
        return new RabbitmqServer(directory, "");
    }

    /** Starts a server with a listener for TLS, too. */
    static RabbitmqServer start(Path directory, TestCertificates certificates) throws IOException {
        return new RabbitmqServer(directory, """
                listeners.ssl.default = 127.0.0.1:%%d
                ssl_options.cacertfile = %s
                ssl_options.certfile = %s
                ssl_options.keyfile = %s
                """.formatted(
                        certificates.authority(), certificates.serverCertificate(), certificates.serverKey()));
    }

    int port() {
        return port;
    }

    int tlsPort() {
        return tlsPort;
    }

    private CapturedProcess run(String name, String... command) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().putAll(environment);
        return CapturedProcess.start(name, builder);
    }

    /** Debian's scripts in the search path are for its own user; those that they call are beside the server. */
    private static String script(String name) {
        Path wrapper = Path.of("/usr/lib/rabbitmq/bin", name);
        return Files.isExecutable(wrapper) ? wrapper.toString() : ForeignProgram.path(name);
    }

    private CapturedProcess start() {
        CapturedProcess started = run("rabbitmq-server", script("rabbitmq-server"));
        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            assertThat(started.process().isAlive()).as(started.report()).isTrue();
            connect().close();
            return true;
        });
        return started;
    }

    /** Connects as an administrator. */
    Connection connect() throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost("127.0.0.1");
        factory.setPort(port);
        factory.setAutomaticRecoveryEnabled(false);
        return factory.newConnection("test");
    }

    /** Runs a command of {@code rabbitmqctl}, and returns its output. */
    String control(String... arguments) {
        String[] command = new String[arguments.length + 2];
        command[0] = script("rabbitmqctl");
        command[1] = "-q";
        System.arraycopy(arguments, 0, command, 2, arguments.length);
        try (CapturedProcess run = run("rabbitmqctl", command)) {
            assertThat(run.awaitExit(PATIENCE)).as(run.report()).isZero();
            return String.join("\n", run.output());
        }
    }

    /** Stops it from doing anything; its connections stay open. */
    void pause() {
        signal("STOP");
    }

    /** Ends {@link #pause}. */
    void resume() {
        signal("CONT");
    }

    private void signal(String name) {
        List<String> machines = process.process()
                .descendants()
                .filter(each -> each.info().command().orElse("").endsWith("beam.smp"))
                .map(each -> String.valueOf(each.pid()))
                .toList();
        assertThat(machines).as(process.report()).hasSize(1);
        try (CapturedProcess kill = run("kill", "kill", "-" + name, machines.get(0))) {
            assertThat(kill.awaitExit(PATIENCE)).as(kill.report()).isZero();
        }
    }

    /** Kills the server. What it has confirmed is in its files. */
    void kill() {
        process.close();
    }

    /** Starts it again on the same ports. */
    void startAgain() {
        process = start();
    }

    @Override
    public void close() {
        process.close();
        mapper.close();
    }
}
