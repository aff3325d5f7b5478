// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RotatingFileTest {

    @TempDir
    Path folder;

    @Test
    void fullFileIsRenamedAndTheOldestRemoved() throws IOException {
        Path path = folder.resolve("below/a.jsonl");
        try (RotatingFile file = new RotatingFile(path, 10, 2, false, true)) {
            for (int i = 1; i <= 5; i++) {
                file.append(("line-" + i + "\n").getBytes(UTF_8));
            }
        }

        assertThat(path).hasContent("line-5\n");
        assertThat(path.resolveSibling("a.jsonl.1")).hasContent("line-4\n");
        assertThat(path.resolveSibling("a.jsonl.2")).hasContent("line-3\n");
        assertThat(path.resolveSibling("a.jsonl.3")).doesNotExist();
    }

    @Test
    void formerFilesAreCompressed() throws IOException {
        Path path = folder.resolve("a");
        try (RotatingFile file = new RotatingFile(path, 5, 1, true, false)) {
            file.append("first\n".getBytes(UTF_8));
            file.append("second\n".getBytes(UTF_8));
        }

        try (GZIPInputStream in = new GZIPInputStream(Files.newInputStream(folder.resolve("a.1.gz")))) {
            assertThat(in.readAllBytes()).asString().isEqualTo("first\n");
        }
        assertThat(path).hasContent("second\n");
    }

    @Test
    void restOfALineThatACrashHasLeftIsCutOff() throws IOException {
        Path path = folder.resolve("a");
        Files.writeString(path, "whole\n" + "x".repeat(70_000));
        try (RotatingFile file = new RotatingFile(path, 1 << 20, 1, false, false)) {
            file.append("next\n".getBytes(UTF_8));
        }

        assertThat(path).hasContent("whole\nnext\n");
    }

    @Test
    void fileThatWasMovedAwayBeginsAnew() throws IOException {
        Path path = folder.resolve("a");
        try (RotatingFile file = new RotatingFile(path, 1 << 20, 1, false, false)) {
            file.append("first\n".getBytes(UTF_8));
            Files.move(path, folder.resolve("taken"));
            file.append("second\n".getBytes(UTF_8));
        }

        assertThat(path).hasContent("second\n");
    }

    @Test
    void fileThatCannotBeWrittenSaysSo() throws IOException {
        Path path = Files.writeString(folder.resolve("plain"), "", StandardOpenOption.CREATE);
        try (RotatingFile file = new RotatingFile(path.resolve("below"), 1 << 20, 1, false, false)) {
            assertThatThrownBy(() -> file.append("a\n".getBytes(UTF_8))).isInstanceOf(IOException.class);
        }
    }

    @Test
    void checkChangesNothing() throws IOException {
        Path path = Files.writeString(folder.resolve("a"), "no end of a line");
        try (RotatingFile present = new RotatingFile(path, 1 << 20, 1, false, false);
                RotatingFile absent = new RotatingFile(folder.resolve("b/c"), 1 << 20, 1, false, false);
                RotatingFile below = new RotatingFile(path.resolve("below"), 1 << 20, 1, false, false);
                RotatingFile directory = new RotatingFile(folder, 1 << 20, 1, false, false)) {
            present.check();
            absent.check();
            assertThatThrownBy(below::check).hasMessageContaining("is not a folder");
            assertThatThrownBy(directory::check).hasMessageContaining("is a folder");
        }

        assertThat(path).hasContent("no end of a line");
        assertThat(folder.resolve("b")).doesNotExist();
    }
}
