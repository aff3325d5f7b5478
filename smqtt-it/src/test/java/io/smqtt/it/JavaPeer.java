// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another broker in Java, the jars of which {@code smqtt-benchmark/bin/peers} has brought, with a folder for its configuration and data. */
final class JavaPeer {

    private static final Path BENCHMARK = Path.of("../smqtt-benchmark").toAbsolutePath();
    private static final String PEERS = System.getenv()
            .getOrDefault("PEERS_DIR", BENCHMARK.resolve("target/peers").toString());

    private final String name;
    private final Path home;
    private final int port;
    private final List<String> arguments;

    private JavaPeer(String name, Path home, int port, List<String> arguments) {
        this.name = name;
        this.home = home;
        this.port = port;
        this.arguments = arguments;
    }

    /** A Moquette that keeps nothing. */
    static JavaPeer moquette(Path home, int port) throws IOException {
        write(home, "config/moquette.conf", """
                host 127.0.0.1
                port %d
                allow_anonymous true
                persistence_enabled false
                telemetry_enabled false
                """.formatted(port));
        return new JavaPeer(
                "moquette",
                home,
                port,
                List.of("-Dmoquette.path=" + home, "-cp", jars("moquette"), "io.moquette.broker.Server"));
    }

    /** A HiveMQ CE that keeps sessions and messages in files. */
    static JavaPeer hivemq(Path home, int port) throws IOException {
        write(home, "conf/config.xml", """
                <hivemq>
                  <listeners><tcp-listener><port>%d</port><bind-address>127.0.0.1</bind-address></tcp-listener></listeners>
                  <persistence><mode>file</mode></persistence>
                  <mqtt>
                    <queued-messages><max-queue-size>10000000</max-queue-size></queued-messages>
                    <receive-maximum><server-receive-maximum>%d</server-receive-maximum></receive-maximum>
                  </mqtt>
                  <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
                </hivemq>
                """.formatted(
                        port, 2 * JournalClient.WINDOW)); // it ends connections of clients that exceed it
        Files.createDirectories(home.resolve("data"));
        Files.createDirectories(home.resolve("extensions"));
        String source = BENCHMARK.resolve("peers/hivemq/AllowAll.java").toString();
        return new JavaPeer("hivemq", home, port, List.of("-cp", jars("hivemq"), source, home.toString()));
    }

    private static void write(Path home, String file, String text) throws IOException {
        Path path = home.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private static String jars(String name) {
        Path jars = Path.of(PEERS, name).toAbsolutePath();
        if (!Files.isDirectory(jars)) {
            throw ForeignProgram.missing(jars + " (smqtt-benchmark/bin/peers " + name + ")");
        }
        return jars + "/*";
    }

    /** Starts it; returns when it takes connections. */
    CapturedProcess start() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx512m");
        command.addAll(arguments);
        CapturedProcess process = CapturedProcess.start(name, new ProcessBuilder(command).directory(home.toFile()));
        InstalledMosquitto.awaitListening(port, process);
        return process;
    }
}
