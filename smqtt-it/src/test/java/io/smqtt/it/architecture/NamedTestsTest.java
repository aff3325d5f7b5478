// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tests that {@code docs/hostile-inputs.md} names are there. */
final class NamedTestsTest {

    private static final Pattern NAMED = Pattern.compile("`(\\w+(?:Test|IT))\\.(\\w+)`");

    @Test
    void testsOfHostileInputsExist() throws IOException {
        Path root = Path.of("").toAbsolutePath().getParent();
        Map<String, String> sources = testSources(root);
        List<String> missing = new ArrayList<>();
        int named = 0;
        Matcher matcher = NAMED.matcher(Files.readString(root.resolve("docs/hostile-inputs.md")));
        while (matcher.find()) {
            named++;
            String source = sources.getOrDefault(matcher.group(1), "");
            if (!source.contains("void " + matcher.group(2) + "(")) {
                missing.add(matcher.group());
            }
        }
        assertThat(named).isGreaterThan(60);
        assertThat(missing).isEmpty();
    }

    private static Map<String, String> testSources(Path root) throws IOException {
        Map<String, String> sources = new HashMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : (Iterable<Path>) files.filter(NamedTestsTest::isTest)::iterator) {
                String name = file.getFileName().toString().replace(".java", "");
                sources.merge(name, Files.readString(file), String::concat);
            }
        }
        return sources;
    }

    private static boolean isTest(Path file) {
        return file.toString().matches(".*/src/test/java/.*(Test|IT)\\.java");
    }
}
