// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The script {@code bin/smqtt}: which flags it gives to Java, and that Java obeys them. */
@Execution(ExecutionMode.CONCURRENT)
class LauncherIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private Path configuration(String yaml) throws IOException {
        return Files.writeString(directory.resolve("test.yaml"), yaml);
    }

    private static String oneListener() {
        return "management:\n  port: 0\nlisteners:\n  tcp:\n    host: 127.0.0.1\n    port: 0\n  ws:\n    enabled: false\n";
    }

    /** The script with the Java that runs this test, and without a class archive, which takes time to make. */
    private ProcessBuilder script(String... arguments) {
        List<String> command = new ArrayList<>(List.of(BrokerProcess.script().toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("SMQTT_CACHE_DIR", "none");
        return builder;
    }

    @Test
    void nettyUsesUnsafe() throws IOException {
        ProcessBuilder command = script(
                "start",
                "--config",
                configuration(oneListener()).toString(),
                "--set",
                "storage.kind=memory",
                "--set",
                "logging.library-level=debug");
        try (BrokerProcess broker = BrokerProcess.start(command)) {
            assertThat(broker.output())
                    .anyMatch(line -> line.endsWith("PlatformDependent: sun.misc.Unsafe: available"))
                    .noneMatch(line -> line.startsWith("WARNING"));
        }
    }

    @Test
    void theClassArchiveIsMadeOnceAndUsed() throws IOException {
        ProcessBuilder command =
                script("start", "--config", configuration(oneListener()).toString());
        Path cache = directory.resolve("cache");
        command.environment().put("SMQTT_CACHE_DIR", cache.toString());
        try (BrokerProcess broker = BrokerProcess.start(command)) {
            assertThat(broker.output()).anyMatch(line -> line.contains("making the class archive"));
            assertThat(Files.readString(Path.of("/proc/" + broker.handle().pid() + "/maps")))
                    .contains(cache + "/smqtt-");
        }
        try (BrokerProcess broker = BrokerProcess.start(command)) {
            assertThat(broker.output()).noneMatch(line -> line.contains("making the class archive"));
            assertThat(Files.readString(Path.of("/proc/" + broker.handle().pid() + "/maps")))
                    .contains(cache + "/smqtt-");
        }
    }

    @Test
    void theScriptObeysTheFlagsOfTheManual() throws IOException {
        List<Integer> ports = LoopbackPorts.some(3);
        Path file = configuration("listeners:\n  tcp:\n    host: 127.0.0.1\n  ws:\n    host: 127.0.0.1\n");
        ProcessBuilder command = script(
                "start",
                "--config",
                file.toString(),
                "--set",
                "listeners.tcp.port=" + ports.get(0),
                "--set",
                "listeners.ws.port=" + ports.get(1),
                "--set",
                "management.port=" + ports.get(2),
                "--data",
                directory.resolve("data").toString());
        try (BrokerProcess broker = BrokerProcess.start(command);
                RawClient client = RawClient.to(Endpoint.loopback(ports.get(0)), ProtocolVersion.MQTT_3_1_1)) {
            assertThat(broker.awaitLine("listener tcp bound")).contains("127.0.0.1:" + ports.get(0));
            assertThat(broker.awaitLine("listener ws bound")).contains("127.0.0.1:" + ports.get(1));
            client.connect("flags");
        }
    }

    @Test
    void theProfileChoosesJavasFlags() throws IOException {
        Path file = configuration(oneListener());
        ProcessBuilder command = script("start", "--profile", "large", "--config", file.toString());
        try (BrokerProcess broker = BrokerProcess.start(command);
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("profile");
            assertThat(broker.commandLine())
                    .contains("-XX:+UseG1GC", "-Dsmqtt.profile=large")
                    .anyMatch(flag -> flag.matches("-Xmn\\d+m"));
        }
    }

    @Test
    void anUnknownProfileEndsTheStartWithCode2() throws IOException {
        ProcessBuilder command = script("start", "--profile=huge");
        try (CapturedProcess start = CapturedProcess.start("smqtt start", command)) {
            assertThat(start.awaitExit(PATIENCE))
                    .as("exit code%s", start.report())
                    .isEqualTo(2);
            assertThat(start.report()).contains("--profile: huge is none of small, default, large");
        }
    }

    @Test
    void javasOptionsAreThoseThatItsVersionKnows() throws IOException {
        assertThat(flags("17.0.9")).noneMatch(LauncherIT::isOfLaterVersion);
        assertThat(flags("21.0.2")).noneMatch(LauncherIT::isOfLaterVersion);
        assertThat(flags("24.0.1"))
                .contains("--sun-misc-unsafe-memory-access=allow")
                .doesNotContain("-XX:+UseCompactObjectHeaders");
        assertThat(flags("25")).contains("--sun-misc-unsafe-memory-access=allow", "-XX:+UseCompactObjectHeaders");
    }

    @Test
    void theCollectorFollowsWhatWasInUse() throws IOException {
        Path data = Files.createDirectories(directory.resolve("some/data"));
        assertThat(flags("17", "--data", data.toString())).contains("-XX:+UseSerialGC");

        Files.writeString(data.resolve("live-heap"), "255\n");
        assertThat(flags("17", "--data", data.toString())).contains("-XX:+UseSerialGC");
        Files.writeString(data.resolve("live-heap"), "256\n");
        assertThat(flags("17", "--data=" + data)).contains("-XX:+UseG1GC").doesNotContain("-XX:+UseSerialGC");
        assertThat(flags("17", "--profile", "small", "--data", data.toString())).contains("-XX:+UseSerialGC");
        Files.writeString(data.resolve("live-heap"), "many\n");
        assertThat(flags("17", "--data", data.toString())).contains("-XX:+UseSerialGC");
    }

    @Test
    void theDataDirectoryIsFoundInTheConfigurationAndBesideIt() throws IOException {
        Path data = Files.createDirectories(directory.resolve("data"));
        Path other = Files.createDirectories(directory.resolve("other"));
        Path configuration = configuration("smqtt:\n  storage:\n    dir: other # beside\n  logging:\n    dir: data\n");

        Files.writeString(data.resolve("live-heap"), "1000\n");
        assertThat(flags("17")).as("in the working directory").contains("-XX:+UseG1GC");
        assertThat(flags("17", "--config", configuration.toString())).contains("-XX:+UseSerialGC");
        Files.writeString(other.resolve("live-heap"), "1000\n");
        assertThat(flags("17", "-c", "test.yaml")).contains("-XX:+UseG1GC");
    }

    @Test
    void aCollectorOfTheUserStays() throws IOException {
        Path data = Files.createDirectories(directory.resolve("data"));
        Files.writeString(data.resolve("live-heap"), "1000\n");

        assertThat(flags("17", Map.of("SMQTT_JAVA_OPTS", "-XX:+UseParallelGC")))
                .contains("-XX:+UseParallelGC")
                .doesNotContain("-XX:+UseG1GC", "-XX:+UseSerialGC");
    }

    private static boolean isOfLaterVersion(String flag) {
        return flag.startsWith("--sun-misc") || flag.contains("CompactObjectHeaders") || flag.contains("TrimNative");
    }

    /** The words that the script starts Java with: a copy of it, and a Java that prints them. */
    private List<String> flags(String version, String... arguments) throws IOException {
        return flags(version, Map.of(), arguments);
    }

    private List<String> flags(String version, Map<String, String> environment, String... arguments)
            throws IOException {
        Path home = Files.createDirectories(directory.resolve("home"));
        Path bin = Files.createDirectories(home.resolve("bin"));
        Path java = Files.createDirectories(home.resolve("java/bin")).resolve("java");
        install(BrokerProcess.script(), bin.resolve("smqtt"));
        Files.createDirectories(home.resolve("lib"));
        Files.writeString(home.resolve("lib/smqtt.jar"), "");
        Files.writeString(home.resolve("java/release"), "JAVA_VERSION=\"" + version + "\"\n");
        executable(java, "printf '%s\\n' \"$@\"");
        executable(bin.resolve("nproc"), "echo 2");
        List<String> command = new ArrayList<>(List.of(bin.resolve("smqtt").toString(), "start"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("SMQTT_") || name.equals("JAVA_OPTS"));
        builder.environment().put("JAVA_HOME", home.resolve("java").toString());
        builder.environment().put("PATH", bin + ":" + System.getenv("PATH"));
        builder.environment().put("SMQTT_MEMORY", "16384");
        builder.environment().put("SMQTT_CACHE_DIR", "none");
        builder.environment().putAll(environment);
        try (CapturedProcess script = CapturedProcess.start("smqtt start", builder)) {
            assertThat(script.awaitExit(PATIENCE))
                    .as("exit code%s", script.report())
                    .isZero();
            return script.output();
        }
    }

    private static void executable(Path file, String command) throws IOException {
        Path text =
                Files.writeString(file.resolveSibling(file.getFileName() + ".text"), "#!/bin/sh\n" + command + "\n");
        install(text, file);
    }

    /**
     * Makes an executable file by another process. A file that this process has open for writing can be inherited by a program that another test
     * starts at the same moment, and cannot be executed until then ("Text file busy").
     */
    private static void install(Path from, Path to) {
        ProcessBuilder command = new ProcessBuilder("install", "-m", "755", from.toString(), to.toString());
        try (CapturedProcess install = CapturedProcess.start("install", command)) {
            assertThat(install.awaitExit(PATIENCE)).as(install.report()).isZero();
        }
    }
}
