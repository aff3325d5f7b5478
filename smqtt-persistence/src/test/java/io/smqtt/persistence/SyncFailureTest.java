// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that does not sync: what was told as failed stays away, what was told as safe is there. */
@Tag("slow")
class SyncFailureTest {

    private static final int MORE = 50;

    @TempDir
    Path directory;

    @Test
    void whatFailedDoesNotComeBackEvenIfTheLogCouldNotBeCutAtOnce() throws Exception {
        assumeThat(exitCode(List.of("strace", "-V")))
                .as("failures are made with strace")
                .isZero();
        Path said = directory.resolve("said");

        int exitCode = exitCode(
                said,
                List.of(
                        "strace",
                        "-f",
                        "-qq",
                        "-o",
                        "/dev/null",
                        "-e",
                        "trace=fdatasync,ftruncate",
                        "-e",
                        "inject=fdatasync:error=EIO:when=100..101",
                        "-e",
                        "inject=ftruncate:error=EIO:when=1", // in each thread
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        SyncFailureTest.class.getName(),
                        directory.resolve("store").toString()));

        List<String> lines = Files.readAllLines(said, StandardCharsets.ISO_8859_1);
        assertThat(exitCode).as("%s", lines).isZero();
        List<String> safe = topics(lines, "safe ");
        List<String> failed = topics(lines, "failed ");
        assertThat(failed).isNotEmpty();
        assertThat(safe).hasSizeGreaterThan(MORE);
        assertThat(recovered()).containsAll(safe).doesNotContainAnyElementsOf(failed);
    }

    private Set<String> recovered() {
        RecoveredStore recovered = new RecoveredStore();
        try (RocksBrokerStore store = RocksBrokerStore.open(directory.resolve("store"), StoreSettings.defaults())) {
            store.recover(recovered);
        }
        return recovered.retained().keySet();
    }

    private static List<String> topics(List<String> lines, String word) {
        return lines.stream()
                .filter(line -> line.startsWith(word))
                .map(line -> line.substring(word.length()))
                .toList();
    }

    private int exitCode(List<String> command) throws InterruptedException {
        try {
            return exitCode(directory.resolve("version"), command);
        } catch (IOException e) {
            return -1; // there is no such program
        }
    }

    private static int exitCode(Path output, List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            return process.exitValue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /** Stores one retained message after the other until some have failed and some more are safe; says which. */
    public static void main(String[] args) {
        List<String> said = new ArrayList<>();
        try (RocksBrokerStore store = RocksBrokerStore.open(Path.of(args[0]), StoreSettings.defaults())) {
            store.recover(new RecoveredStore());
            StoreLoop loop = new StoreLoop(store);
            int more = MORE;
            for (int number = 1; more > 0; number++) {
                String topic = "number/" + number;
                long position = loop.flush(writer -> {
                    writer.putRetained(
                            ApplicationMessage.builder(topic).payload("1").build());
                    writer.requireSync();
                });
                loop.awaitTold(position);
                boolean safe = loop.safe() == position;
                if (safe || loop.failures().size() <= MORE) { // while it is broken all fail, quickly
                    said.add((safe ? "safe " : "failed ") + topic);
                }
                more -= safe && !loop.failures().isEmpty() ? 1 : 0;
            }
            loop.close();
        }
        said.forEach(System.out::println);
    }
}
