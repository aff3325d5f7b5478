// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What {@code docs/spring.md} shows is what the samples have, which are compiled and run; its properties are those of the schema. */
class SpringDocumentTest {

    private static final Path ROOT = Path.of("..");
    private static final Path DOCUMENT = ROOT.resolve("docs/spring.md");

    private static String plain(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }

    private static String samples() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(ROOT.resolve("samples"))) {
            for (Path file : files.filter(path -> !path.toString().contains("/target/"))
                    .filter(path -> path.toString().endsWith(".java")
                            || path.getFileName().toString().equals("pom.xml"))
                    .toList()) {
                all.append(plain(Files.readString(file))).append('\n');
            }
        }
        return all.toString();
    }

    @Test
    void everyExampleStandsInASample() throws IOException {
        String samples = samples();
        Matcher block = Pattern.compile("(?ms)^```(java|xml)\n(.*?)^```$").matcher(Files.readString(DOCUMENT));
        int found = 0;
        while (block.find()) {
            String example = plain(block.group(2).replace("</dependency>", ""));
            assertThat(samples).contains(example);
            found++;
        }
        assertThat(found).isGreaterThan(4);
    }

    private static Set<String> brokerKeys() {
        return ConfigSchema.of(BrokerConfig.defaults()).describe().stream()
                .map(ConfigKey::name)
                .collect(Collectors.toSet());
    }

    /** The keys of the reference, with their blocks. */
    private static Set<String> allKeys() throws IOException {
        Set<String> keys = new TreeSet<>();
        String block = "";
        for (String line : Files.readAllLines(ROOT.resolve("docs/configuration.md"))) {
            if (line.startsWith("## ")) {
                block = line.equals("## top level") ? "" : line.substring(3).replace("`", "") + ".";
            } else if (line.startsWith("| `")) {
                keys.add(block + line.substring(3, line.indexOf('`', 3)));
            }
        }
        return keys;
    }

    @Test
    void keysOfTheProgramAreNamed() throws IOException {
        Matcher sentence = Pattern.compile("(?s)\\*\\*Not available\\*\\*: (.*?) They stop the start")
                .matcher(Files.readString(DOCUMENT));
        assertThat(sentence.find()).isTrue();
        List<String> named = Pattern.compile("`([^`]+)`")
                .matcher(sentence.group(1))
                .results()
                .map(found -> found.group(1))
                .toList();
        Set<String> known = SmqttProperties.schema().describe().stream()
                .map(ConfigKey::name)
                .filter(key -> !SmqttProperties.PORT.contains(key))
                .collect(Collectors.toSet());

        Set<String> refused = allKeys();
        refused.removeAll(known);
        assertThat(refused).containsAll(SmqttProperties.PORT).hasSizeGreaterThan(SmqttProperties.PORT.size());
        for (String name : named) {
            assertThat(refused.removeIf(key -> name.endsWith("*")
                            ? key.startsWith(name.substring(0, name.length() - 1))
                            : key.equals(name)))
                    .as(name)
                    .isTrue();
        }
        assertThat(refused).isEmpty();
    }

    @Test
    void thePropertiesAreThoseOfTheSchema() throws IOException {
        String text = Files.readString(DOCUMENT);
        List<ConfigKey> own = SmqttProperties.schema().describe().stream()
                .filter(key -> !brokerKeys().contains(key.name()))
                .toList();

        assertThat(own)
                .hasSize(12)
                .allSatisfy(key ->
                        assertThat(text).contains("| `smqtt." + key.name() + "` | `" + key.defaultText() + "` |"));
    }
}
