// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    /** As with a full disk: the compressed file cannot be written. */
    @Test
    void rotationThatFailsAgainAndAgainLosesNoFormerFile() throws IOException {
        Path path = folder.resolve("a");
        Path obstacle = folder.resolve("a.gz.tmp");
        try (RotatingFile file = new RotatingFile(path, 5, 3, true, true)) {
            for (int i = 1; i <= 4; i++) {
                file.append(("line-" + i + "\n").getBytes(UTF_8));
            }
            Files.writeString(Files.createDirectory(obstacle).resolve("x"), "");
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> file.append("line-5\n".getBytes(UTF_8)))
                        .isInstanceOf(IOException.class);
            }
            assertThat(List.of(unzipped(1), unzipped(2), unzipped(3)))
                    .containsExactly("line-3\n", "line-2\n", "line-1\n");
            Files.delete(obstacle.resolve("x"));
            Files.delete(obstacle);

            file.append("line-5\n".getBytes(UTF_8));
        }

        assertThat(List.of(unzipped(1), unzipped(2), unzipped(3))).containsExactly("line-4\n", "line-3\n", "line-2\n");
        assertThat(path).hasContent("line-5\n");
        assertThat(obstacle).doesNotExist();
    }

    /** As when another program has the full file open, where that prevents its deletion. */
    @Test
    void rotationWhoseLastDeletionFailsAgainAndAgainLosesNoFormerFile() throws IOException {
        Path path = folder.resolve("a");
        Path full = folder.resolve("a.full");
        try (RotatingFile file = new RotatingFile(path, 5, 3, true, true)) {
            for (int i = 1; i <= 4; i++) {
                file.append(("line-" + i + "\n").getBytes(UTF_8));
            }
            Files.move(folder.resolve("a.1.gz"), folder.resolve("a.full.gz")); // the rotation before, without its end
            Files.writeString(Files.createDirectory(full).resolve("x"), "");
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> file.append("line-5\n".getBytes(UTF_8)))
                        .isInstanceOf(IOException.class);
            }
            assertThat(List.of(unzipped(2), unzipped(3))).containsExactly("line-2\n", "line-1\n");
            Files.delete(full.resolve("x"));
            Files.delete(full);

            file.append("line-5\n".getBytes(UTF_8));
        }

        assertThat(path).hasContent("line-5\n");
        assertThat(folder.resolve("a.full.gz")).doesNotExist();
        assertThat(List.of(unzipped(1), unzipped(2), unzipped(3))).containsExactly("line-4\n", "line-3\n", "line-2\n");
    }

    /** As after a crash at each step of a rotation. */
    @ParameterizedTest
    @CsvSource({"a.full", "a.full.gz", "a.full a.full.gz", "a.full a.gz.tmp"})
    void compressionThatWasInterruptedIsContinued(String left) throws IOException {
        Files.writeString(folder.resolve("a"), "new\n");
        for (String name : left.split(" ")) {
            write(folder.resolve(name), name.equals("a.gz.tmp") ? "part" : "full\n");
        }
        try (RotatingFile file = new RotatingFile(folder.resolve("a"), 1 << 20, 3, true, true)) {
            file.append("next\n".getBytes(UTF_8));
        }

        assertThat(folder.resolve("a")).hasContent("new\nnext\n");
        assertThat(unzipped(1)).isEqualTo("full\n");
        try (Stream<Path> names = Files.list(folder)) {
            assertThat(names)
                    .extracting(name -> name.getFileName().toString())
                    .containsExactlyInAnyOrder("a", "a.1.gz");
        }
    }

    /** As after such a crash, when files are no longer compressed. */
    @ParameterizedTest
    @CsvSource({"a.full, a.1", "a.full.gz, a.1.gz", "a.full a.full.gz, a.1.gz"})
    void whatAnInterruptedCompressionHasLeftGetsItsPlaceWithoutCompressionToo(String left, String place)
            throws IOException {
        for (String name : left.split(" ")) {
            write(folder.resolve(name), "full\n");
        }
        try (RotatingFile file = new RotatingFile(folder.resolve("a"), 1 << 20, 3, false, true)) {
            file.append("next\n".getBytes(UTF_8));
        }

        try (Stream<Path> names = Files.list(folder)) {
            assertThat(names).extracting(name -> name.getFileName().toString()).containsExactlyInAnyOrder("a", place);
        }
    }

    private static void write(Path path, String text) throws IOException {
        OutputStream file = Files.newOutputStream(path);
        try (OutputStream out = path.toString().endsWith(".gz") ? new GZIPOutputStream(file) : file) {
            out.write(text.getBytes(UTF_8));
        }
    }

    /** As after a crash between two renamings. */
    @Test
    void rotationThatWasInterruptedIsContinued() throws IOException {
        Path path = folder.resolve("a");
        Files.writeString(folder.resolve("a.2"), "line-2\n");
        Files.writeString(folder.resolve("a.3"), "line-1\n");
        Files.writeString(path, "line-3\n");
        try (RotatingFile file = new RotatingFile(path, 5, 3, false, false)) {
            file.append("line-4\n".getBytes(UTF_8));
        }

        assertThat(folder.resolve("a.1")).hasContent("line-3\n");
        assertThat(folder.resolve("a.2")).hasContent("line-2\n");
        assertThat(folder.resolve("a.3")).hasContent("line-1\n");
    }

    private String unzipped(int number) throws IOException {
        try (GZIPInputStream in = new GZIPInputStream(Files.newInputStream(folder.resolve("a." + number + ".gz")))) {
            return new String(in.readAllBytes(), UTF_8);
        }
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
