// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileProblemTest {

    @TempDir
    Path directory;

    @Test
    void aFileThatCanBeReadHasNone() throws IOException {
        assertThat(FileProblem.of(Files.writeString(directory.resolve("f"), "x")))
                .isNull();
    }

    @Test
    void missingIsNotTheSameAsADirectory() {
        assertThat(FileProblem.of(directory)).isEqualTo("is a directory, but must be a file");
        assertThat(FileProblem.of(directory.resolve("f"))).isEqualTo("does not exist");
        assertThat(FileProblem.of(directory.resolve("d/f")))
                .isEqualTo("does not exist, and neither does its directory");
        assertThat(FileProblem.of(Path.of("/dev/null")))
                .isEqualTo("must be a regular file, but is a device, a pipe or a socket");
    }

    /** As another user finds it: tests may run as root, who may read everything. */
    @Test
    void permissionIsNotTheSameAsMissing() throws IOException {
        Path file = Files.writeString(directory.resolve("f"), "x");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

        assertThat(FileProblem.of(file, new FileProblem.View() {
                    @Override
                    public BasicFileAttributes attributes(Path asked) throws IOException {
                        return Files.readAttributes(asked, BasicFileAttributes.class);
                    }

                    @Override
                    public InputStream open(Path asked) throws IOException {
                        throw new AccessDeniedException(asked.toString());
                    }
                }))
                .startsWith(
                        "exists, but the user " + System.getProperty("user.name") + " may not read it: it belongs to ")
                .endsWith(" with permissions rw-r-----");
    }

    @Test
    void aClosedDirectoryIsNamedAsSuch() {
        Path file = directory.resolve("d/f"); // whose attributes cannot be read, as below a closed directory

        assertThat(FileProblem.reason(file, new AccessDeniedException(file.toString())))
                .endsWith("may not read it: a directory above it is not accessible to this user");
    }
}
