// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk of 160 MiB becomes full. Needs the right to mount one, which is why a command of its own runs it. */
class FullDiskProof {

    private static final int BALLAST_BYTES = 96 << 20;
    private static final Duration BACK_WITHIN = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    void aFullDiskLosesNothingAndIsUsedAgainWithoutARestart() throws IOException {
        Path disk = Files.createDirectories(directory.resolve("disk"));
        assertThat(run("mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", disk.toString()))
                .as("mounting a disk needs root")
                .isZero();
        try {
            Path ballast = Files.write(disk.resolve("ballast"), new byte[BALLAST_BYTES]);
            new FullDisk().run(disk, broker -> delete(ballast), BACK_WITHIN, "storage.write-buffer-bytes=4MiB");
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int run(String... command) {
        try (CapturedProcess process = CapturedProcess.start(command[0], new ProcessBuilder(command))) {
            return process.awaitExit(PATIENCE);
        }
    }
}
