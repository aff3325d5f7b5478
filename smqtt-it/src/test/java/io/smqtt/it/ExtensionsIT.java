// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jars in {@code lib/ext} of an installation. */
class ExtensionsIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path home;

    @Test
    void jarsInTheFolderAreOnTheClassPath() throws IOException {
        install();
        Files.createDirectories(home.resolve("lib/ext"));
        writeJar("lib/ext/empty.jar", "an-entry.txt", "");
        try (CapturedProcess broker = start()) {
            broker.awaitLine("the start", line -> line.startsWith("smqtt started"), PATIENCE);
            assertThat(commandLine(broker))
                    .contains("-cp", home.resolve("lib/smqtt.jar") + ":" + home.resolve("lib/ext/empty.jar"))
                    .contains("--add-opens", "java.base/java.nio=ALL-UNNAMED")
                    .doesNotContain("-jar");
        }
    }

    @Test
    void withoutJarsThereTheManifestCounts() throws IOException {
        install();
        Files.createDirectories(home.resolve("lib/ext"));
        try (CapturedProcess broker = start()) {
            broker.awaitLine("the start", line -> line.startsWith("smqtt started"), PATIENCE);
            assertThat(commandLine(broker))
                    .contains("-jar", home.resolve("lib/smqtt.jar").toString());
        }
    }

    private void install() throws IOException {
        Files.createDirectories(home.resolve("bin"));
        Files.createDirectories(home.resolve("lib"));
        Files.copy(BrokerProcess.script(), home.resolve("bin/smqtt"));
        Path jar = Path.of(System.getProperty(
                "smqtt.jar",
                BrokerProcess.script()
                        .resolveSibling("../smqtt-bootstrap/target/smqtt.jar")
                        .toString()));
        Files.createSymbolicLink(
                home.resolve("lib/smqtt.jar"), jar.toAbsolutePath().normalize());
    }

    private CapturedProcess start() {
        ProcessBuilder command = new ProcessBuilder(
                home.resolve("bin/smqtt").toString(),
                "start",
                "--data",
                home.resolve("data").toString(),
                "--set",
                "listeners.tcp.host=127.0.0.1",
                "--set",
                "listeners.tcp.port=0",
                "--set",
                "listeners.ws.enabled=false",
                "--set",
                "management.enabled=false");
        command.environment().put("SMQTT_CACHE_DIR", "none");
        return CapturedProcess.start("bin/smqtt", command);
    }

    private static List<String> commandLine(CapturedProcess broker) throws IOException {
        Path file = Path.of("/proc", Long.toString(broker.process().pid()), "cmdline");
        return List.of(Files.readString(file).split("\0"));
    }

    private void writeJar(String name, String entry, String text) throws IOException {
        try (OutputStream file = Files.newOutputStream(home.resolve(name));
                JarOutputStream jar = new JarOutputStream(file)) {
            jar.putNextEntry(new JarEntry(entry));
            jar.write(text.getBytes(StandardCharsets.UTF_8));
            jar.closeEntry();
        }
    }
}
