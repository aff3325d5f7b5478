// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.TreeMap;

/**
 * A copy of a store that is being written to, as the end of the process would leave it. Copying takes time, so it counts
 * only if no file came, went or changed meanwhile, but for logs, which grow at their ends.
 */
final class LiveCopy {

    private LiveCopy() {}

    static void of(Path from, Path to) {
        try {
            Map<String, Long> before;
            do {
                delete(to);
                before = files(from);
            } while (!copied(from, to, before) || !before.equals(files(from)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean copied(Path from, Path to, Map<String, Long> names) throws IOException {
        try {
            for (String name : names.keySet()) {
                Path target = to.resolve(name);
                Files.createDirectories(target.getParent());
                Files.copy(from.resolve(name), target);
            }
            return true;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private static Map<String, Long> files(Path from) throws IOException {
        Map<String, Long> files = new TreeMap<>();
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = from.relativize(file).toString();
                if (!name.startsWith("native")) {
                    files.put(name, name.endsWith(".log") ? 0 : attributes.size());
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) {
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }

    static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, IOException failure) throws IOException {
                Files.delete(folder);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
