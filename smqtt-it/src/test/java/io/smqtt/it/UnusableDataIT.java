// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program on a disk that cannot be used says so, names the directory, and ends with exit code 5. */
class UnusableDataIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    @Test
    void aFullDiskEndsTheStart() throws IOException {
        Path disk = mounted();
        try {
            fill(disk);
            assertRefused("No space left", disk);
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    @Test
    void aDiskThatBecameFullEndsTheStartUntilThereIsRoom() throws IOException {
        Path disk = mounted();
        try {
            startAndKill();
            Path ballast = fill(disk);
            assertRefused("No space left", disk);
            Files.delete(ballast);
            startAndKill();
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    @Test
    void aDiskThatCannotBeWrittenEndsTheStart() throws IOException {
        Path disk = mounted();
        try {
            startAndKill();
            assertThat(run("mount", "-o", "remount,ro", disk.toString())).isZero();
            assertRefused("Read-only file system", disk);
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    @Test
    void aFileInPlaceOfTheDirectoryEndsTheStart() throws IOException {
        Path data = StoredBroker.data(directory);
        Files.writeString(data, "no directory");
        try (CapturedProcess start = CapturedProcess.start("smqtt start", StoredBroker.command(directory, List.of()))) {
            assertThat(start.awaitExit(PATIENCE))
                    .as("exit code%s", start.report())
                    .isEqualTo(3); // of a wrong configuration
            assertThat(start.report()).contains("storage.dir: " + data + " is a file, but must be a directory");
        }
    }

    /** The data directory, on a disk of its own. */
    private Path mounted() throws IOException {
        Path disk = Files.createDirectories(StoredBroker.data(directory));
        assumeThat(run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk.toString()))
                .as("mounting needs rights that this test may not have")
                .isZero();
        return disk;
    }

    private static Path fill(Path disk) throws IOException {
        Path ballast = disk.resolve("ballast");
        byte[] zeros = new byte[4096];
        try (OutputStream out = Files.newOutputStream(ballast)) {
            while (true) {
                out.write(zeros);
            }
        } catch (IOException full) {
            return ballast;
        }
    }

    private void startAndKill() {
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            broker.kill9();
        }
    }

    private void assertRefused(String reason, Path named) {
        try (CapturedProcess start = CapturedProcess.start("smqtt start", StoredBroker.command(directory, List.of()))) {
            assertThat(start.awaitExit(PATIENCE))
                    .as("exit code%s", start.report())
                    .isEqualTo(5);
            assertThat(start.report())
                    .contains("smqtt: the data in " + named)
                    .contains(reason)
                    .contains("choose another directory with --data or storage.dir")
                    .doesNotContain("unexpected error")
                    .doesNotContain("Exception");
        }
    }

    private static int run(String... command) {
        try (CapturedProcess process = CapturedProcess.start(command[0], new ProcessBuilder(command))) {
            return process.awaitExit(PATIENCE);
        }
    }
}
