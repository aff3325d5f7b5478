// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The real broker as a child process with the listeners {@code tcp}, {@code tls}, {@code ws} and {@code wss} on free loopback ports.
 *
 * <p>System properties: {@code smqtt.jar} names the fat jar to run by {@code java -jar}; when there is no such file {@code bin/smqtt}
 * of the repository is run ({@code smqtt.home}, default the parent of the working directory).
 */
final class BrokerProcess implements AutoCloseable {

    private static final Pattern BOUND = Pattern.compile("listener (\\S+) bound to \\S*:(\\d+)");
    private static final Duration START = Duration.ofSeconds(120);
    private static final Duration STOP = Duration.ofSeconds(30);

    private final CapturedProcess process;
    private final Map<String, Integer> ports = new ConcurrentHashMap<>();

    private BrokerProcess(ProcessBuilder command, Consumer<String> lines) {
        this.process = CapturedProcess.start("broker", command, line -> {
            observe(line);
            lines.accept(line);
        });
    }

    /**
     * Starts the broker and waits until it says that it has started.
     *
     * @param directory empty folder for configuration and data
     * @param certificates the server's certificate
     * @param settings further settings, {@code key=value}, given as {@code --set} flags
     */
    static BrokerProcess start(Path directory, TestCertificates certificates, String... settings) {
        return start(directory, List.of(), writeConfiguration(directory, certificates), settings);
    }

    /**
     * Starts the broker with a configuration file of the caller's.
     *
     * @param directory working directory, where data is kept too
     * @param wrapper a command that runs the broker and becomes it, such as {@code prlimit}; or empty
     * @param configuration the file
     * @param settings further settings, {@code key=value}
     */
    static BrokerProcess start(Path directory, List<String> wrapper, Path configuration, String... settings) {
        // a shell's nohup, handed down, would make Java leave SIGHUP alone
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=HUP"));
        command.addAll(wrapper);
        command.addAll(program());
        command.addAll(List.of("start", "--config", configuration.toString()));
        command.addAll(List.of("--data", directory.resolve("data").toString()));
        for (String setting : settings) {
            command.addAll(List.of("--set", setting));
        }
        return start(new ProcessBuilder(command).directory(directory.toFile()));
    }

    /** Starts the broker with the configuration of another one, by {@code start --migrate}, and further options. */
    static BrokerProcess migrated(Path directory, Path old, List<String> options) {
        List<String> command = new ArrayList<>(program());
        command.addAll(List.of("start", "--migrate", old.toString()));
        command.addAll(List.of("--data", directory.resolve("data").toString()));
        command.addAll(options);
        return start(new ProcessBuilder(command).directory(directory.toFile()));
    }

    /** Starts a command that becomes a broker and waits until that says that it has started. */
    static BrokerProcess start(ProcessBuilder command) {
        return start(command, line -> {});
    }

    /** The same; each line of output is handed to a consumer, on the thread that reads it. */
    static BrokerProcess start(ProcessBuilder command, Consumer<String> lines) {
        BrokerProcess broker = new BrokerProcess(command, lines);
        try {
            broker.process.awaitLine("saying that it started", line -> line.contains("smqtt started in"), START);
            return broker;
        } catch (RuntimeException e) {
            broker.close();
            throw e;
        }
    }

    /** Runs any of the program's commands, without waiting for anything. */
    static CapturedProcess run(Path directory, String... arguments) {
        List<String> command = new ArrayList<>(program());
        command.addAll(List.of(arguments));
        return CapturedProcess.start(
                "smqtt " + arguments[0], new ProcessBuilder(command).directory(directory.toFile()));
    }

    /** The script that users start, of the repository that is tested. */
    static Path script() {
        return Path.of(System.getProperty("smqtt.home", ".."))
                .resolve("bin/smqtt")
                .toAbsolutePath()
                .normalize();
    }

    /** The words of the command that the broker's process runs. */
    List<String> commandLine() throws IOException {
        Path file = Path.of("/proc", Long.toString(process.process().pid()), "cmdline");
        return List.of(Files.readString(file).split("\0"));
    }

    /** A flag for programs that live shorter than the better compiler needs to be of use. */
    static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1";

    /** The words that begin a command of the tested program. */
    static List<String> program() {
        String jar = System.getProperty("smqtt.jar", "");
        if (!jar.isEmpty() && Files.isRegularFile(Path.of(jar))) {
            Path file = Path.of(jar).toAbsolutePath();
            List<String> java = List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(), SHORT_LIVED, "-ea:io.smqtt...");
            List<String> command = new ArrayList<>(java);
            command.addAll(ClassArchive.flags(java, file));
            command.addAll(List.of("-jar", file.toString()));
            return command;
        }
        Path script = script();
        if (!Files.isExecutable(script)) {
            throw new IllegalStateException(
                    "no broker to test: set smqtt.jar, or smqtt.home to a folder with bin/smqtt");
        }
        return List.of(script.toString());
    }

    private static Path writeConfiguration(Path directory, TestCertificates certificates) {
        String tls = "    tls:\n      certificate: '%s'\n      key: '%s'\n"
                .formatted(certificates.serverCertificate(), certificates.serverKey());
        StringBuilder yaml = new StringBuilder("management:\n  port: 0\nlisteners:\n");
        for (Transport transport : Transport.values()) {
            yaml.append("  ").append(transport.listener()).append(":\n");
            yaml.append("    type: ")
                    .append(transport.webSocket() ? "ws" : "tcp")
                    .append('\n');
            yaml.append("    host: ").append(Endpoint.HOST).append("\n    port: 0\n");
            if (transport.secure()) {
                yaml.append(tls);
            }
        }
        try {
            return Files.writeString(directory.resolve("smqtt.yaml"), yaml);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void observe(String line) {
        Matcher matcher = BOUND.matcher(line);
        if (matcher.find()) {
            ports.put(matcher.group(1), Integer.valueOf(matcher.group(2)));
        }
    }

    /** The port that a listener is bound to. */
    int port(String listener) {
        return requireNonNull(
                ports.get(listener), () -> "no listener " + listener + " among " + ports + process.report());
    }

    /** Where to reach a listener from this machine. */
    InetSocketAddress address(String listener) {
        return Endpoint.loopback(port(listener));
    }

    /** The broker's process. */
    ProcessHandle handle() {
        return process.process().toHandle();
    }

    /** Sends a signal, such as {@code HUP}. */
    void signal(String name) {
        String pid = String.valueOf(handle().pid());
        try (CapturedProcess kill = CapturedProcess.start("kill", new ProcessBuilder("kill", "-" + name, pid))) {
            if (kill.awaitExit(STOP) != 0) {
                throw new IllegalStateException("kill failed" + kill.report());
            }
        }
    }

    /** Waits for a line of output and returns it; one that is already there counts. */
    String awaitLine(String part) {
        return process.awaitLine("\"" + part + "\"", line -> line.contains(part), STOP);
    }

    /** Waits for the end and returns the exit code. */
    int awaitExit(Duration patience) {
        return process.awaitExit(patience);
    }

    /** The last lines that the broker has printed, oldest first. */
    List<String> output() {
        return process.output();
    }

    /** The lines so far that warn of something else than the load of a busy machine. */
    List<String> warnings() {
        return output().stream()
                .filter(line -> line.contains(" WARN ") || line.contains("SEVERE"))
                .filter(line -> !line.contains("alarm overload: an event loop was"))
                .toList();
    }

    /** What the broker has printed so far, for messages of failed tests. */
    String report() {
        return process.report();
    }

    /** Asks the broker to stop gracefully (SIGTERM). */
    void terminate() {
        process.process().destroy();
    }

    /** Ends the broker at once (SIGKILL). */
    void kill9() {
        process.kill();
        process.awaitExit(STOP);
    }

    @Override
    public void close() {
        process.close();
    }
}
