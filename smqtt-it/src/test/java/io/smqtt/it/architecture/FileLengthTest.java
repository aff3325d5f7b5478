// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No file of main code is longer than {@value #MOST} lines. */
class FileLengthTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final int MOST = 600;

    @Test
    void noFileIsTooLong() throws IOException {
        Set<String> found = new TreeSet<>();
        List<Path> files = mainFiles();
        for (Path file : files) {
            try (Stream<String> lines = Files.lines(file)) {
                if (lines.count() > MOST) {
                    found.add(file.getFileName().toString().replace(".java", ""));
                }
            }
        }

        assertThat(files).hasSizeGreaterThan(500);
        assertThat(found).as("files of more than %d lines", MOST).isEmpty();
    }

    private static List<Path> mainFiles() throws IOException {
        List<Path> all = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : (Iterable<Path>) modules::iterator) {
                Path main = module.resolve("src/main");
                if (module.getFileName().toString().startsWith("smqtt-") && Files.isDirectory(main)) {
                    addFiles(main, all);
                }
            }
        }
        return all;
    }

    private static void addFiles(Path directory, List<Path> all) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            files.filter(file -> file.toString().endsWith(".java")).forEach(all::add);
        }
    }
}
