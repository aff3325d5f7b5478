// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A disk in memory that can be filled. Mounting it needs root. */
final class SmallDisk implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int PIECE = 64 << 10;

    private final Path directory;

    private SmallDisk(Path directory) {
        this.directory = directory;
    }

    /** Mounts a disk at a folder, which is made if it is not there. */
    static SmallDisk at(Path directory, int megabytes) throws IOException {
        Files.createDirectories(directory);
        assertThat(run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", directory.toString()))
                .as("mounting a disk needs root")
                .isZero();
        return new SmallDisk(directory);
    }

    Path directory() {
        return directory;
    }

    /** Takes all the room that is left. */
    void fill() throws IOException {
        fill(0);
    }

    /** Takes all the room but for some bytes. */
    void fill(long left) throws IOException {
        try (OutputStream ballast = Files.newOutputStream(directory.resolve("ballast"))) {
            byte[] piece = new byte[PIECE];
            while (directory.toFile().getUsableSpace() >= left + PIECE) {
                ballast.write(piece);
            }
        } catch (IOException e) {
            if (!String.valueOf(e.getMessage()).contains("No space left")) {
                throw e;
            }
        }
    }

    /** Gives the room back. */
    void free() throws IOException {
        Files.delete(directory.resolve("ballast"));
    }

    private static int run(String... command) {
        try (CapturedProcess process = CapturedProcess.start(command[0], new ProcessBuilder(command))) {
            return process.awaitExit(PATIENCE);
        }
    }

    @Override
    public void close() {
        run("umount", "-l", directory.toString());
    }
}
