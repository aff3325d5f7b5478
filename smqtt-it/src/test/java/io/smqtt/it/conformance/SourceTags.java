// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The tags in the sources of all modules. */
final class SourceTags {

    private static final String OWN_PACKAGE = "/io/smqtt/it/conformance/";

    private SourceTags() {}

    /** Scans {@code <module>/src/**}{@code /*.java} below the root, except this package whose texts are about tags. */
    static List<SourceTag> in(Path root) throws IOException {
        List<SourceTag> tags = new ArrayList<>();
        for (Path file : sources(root)) {
            String name = root.relativize(file).toString().replace('\\', '/');
            tags.addAll(TagScanner.scan(Files.readString(file), name));
        }
        return tags;
    }

    private static List<Path> sources(Path root) throws IOException {
        List<Path> sources = new ArrayList<>();
        for (Path module : list(root)) {
            Path directory = module.resolve("src");
            if (Files.isDirectory(directory)) {
                try (Stream<Path> files = Files.walk(directory)) {
                    files.filter(SourceTags::isScanned).sorted().forEach(sources::add);
                }
            }
        }
        return sources;
    }

    private static List<Path> list(Path root) throws IOException {
        try (Stream<Path> entries = Files.list(root)) {
            return entries.filter(Files::isDirectory).sorted().toList();
        }
    }

    private static boolean isScanned(Path file) {
        String name = file.toString().replace('\\', '/');
        return name.endsWith(".java") && !name.contains(OWN_PACKAGE);
    }
}
