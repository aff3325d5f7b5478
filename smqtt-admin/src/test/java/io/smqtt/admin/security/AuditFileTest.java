// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditFileTest {

    @TempDir
    Path directory;

    private static byte[] line(int number) {
        return ("line " + number + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void aFullFileIsRenamedAndTheOldestIsRemoved() throws Exception {
        Path file = directory.resolve("audit.jsonl");
        for (int i = 0; i < 7; i++) {
            try (AuditFile audit = new AuditFile(file, 14, 3)) { // two lines
                audit.write(line(i));
            }
        }

        assertThat(file).hasContent("line 6\n");
        assertThat(directory.resolve("audit.jsonl.1")).hasContent("line 4\nline 5\n");
        assertThat(directory.resolve("audit.jsonl.2")).hasContent("line 2\nline 3\n");
        assertThat(directory.resolve("audit.jsonl.3")).doesNotExist();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
    }

    @Test
    void oneFileBeginsAnew() throws Exception {
        Path file = directory.resolve("audit.jsonl");
        try (AuditFile audit = new AuditFile(file, 7, 1)) {
            audit.write(line(1));
            audit.write(line(2));
        }

        assertThat(file).hasContent("line 2\n");
        assertThat(directory).isDirectoryNotContaining("glob:**.1");
    }
}
