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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/architecture.md names types that exist, and all that are long. */
class ArchitectureDocumentTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final List<String> PRODUCT = List.of(
            "core",
            "persistence",
            "replication",
            "cluster",
            "metric",
            "admin",
            "bootstrap",
            "migrate",
            "spring-boot-starter",
            "bench");
    private static final int LONG = 200;

    /** A type, or a member of one, of which the type counts. */
    private static final Pattern NAMED = Pattern.compile("`\\$?([A-Z]\\w*[a-z]\\w*)[^`]*`");

    @Test
    void everyTypeThatIsNamedExists() throws IOException {
        Set<String> known = new TreeSet<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(
                            path -> path.getFileName().toString().startsWith("smqtt-"))
                    .toList()) {
                sources(module.resolve("src")).forEach(file -> known.add(typeOf(file)));
            }
        }
        Set<String> named = named();

        assertThat(named).hasSizeGreaterThan(100);
        assertThat(named)
                .allSatisfy(type -> assertThat(isKnown(type, known)).as(type).isTrue());
    }

    @Test
    void everyLongTypeIsNamed() throws IOException {
        Set<String> named = named();
        List<String> missing = new ArrayList<>();
        for (String module : PRODUCT) {
            for (Path file : sources(ROOT.resolve("smqtt-" + module).resolve("src/main"))) {
                try (Stream<String> lines = Files.lines(file)) {
                    if (lines.count() > LONG && !named.contains(typeOf(file))) {
                        missing.add(typeOf(file));
                    }
                }
            }
        }

        assertThat(missing).isEmpty();
    }

    /** Names of the Java platform and of the MQTT standard stand in code spans, too. */
    private static boolean isKnown(String type, Set<String> known) {
        return known.contains(type) || type.equals("Mono");
    }

    private static Set<String> named() throws IOException {
        Matcher matcher = NAMED.matcher(Files.readString(ROOT.resolve("docs/architecture.md")));
        return matcher.results().map(found -> found.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<Path> sources(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    private static String typeOf(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }
}
