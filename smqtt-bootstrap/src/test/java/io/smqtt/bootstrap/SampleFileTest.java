// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keeps config/smqtt.yaml complete and true. A line that begins with # and no blank is a key that is commented out. */
class SampleFileTest {

    private static final Path SAMPLE = Path.of("..", "config", "smqtt.yaml");

    @TempDir
    Path directory;

    @Test
    void sampleAsItStandsChangesNothing() {
        EffectiveConfig config = EffectiveConfig.bind(EffectiveConfig.schema(), read(SAMPLE));

        assertThat(config.broker()).isEqualTo(EffectiveConfig.brokerDefaults());
        assertThat(config.program()).isEqualTo(ProgramConfig.defaults());
    }

    @Test
    void sampleStatesTheDefaultOfEveryKey() throws IOException {
        Map<String, ConfigValue> values = read(uncommented());
        values.keySet()
                .removeIf(key -> key.contains(".tls")
                        || key.startsWith("auto-subscriptions.")
                        || key.startsWith("topic-rewrites.")
                        || key.startsWith("retained-policies.")
                        || key.startsWith("validations.")
                        || key.startsWith("rules.")
                        || key.startsWith("sources.")
                        || key.startsWith("bridges.")
                        || key.startsWith("access.backends.")
                        || key.matches("management\\.(otlp|influx|tracing)\\..*"));
        // The only path with a default: relative to the working directory there, to the file here.
        values.computeIfPresent("storage.dir", (key, value) -> new ConfigValue(value.text(), "", Path.of("")));

        EffectiveConfig config = EffectiveConfig.bind(EffectiveConfig.schema(), values);

        assertThat(config.broker()).isEqualTo(EffectiveConfig.brokerDefaults());
        assertThat(config.program()).isEqualTo(ProgramConfig.defaults());
    }

    @Test
    void sampleNamesEveryKeyAndNoOther() throws IOException {
        Set<String> named = read(uncommented()).keySet().stream()
                .map(key -> key.replaceFirst(
                        "^(listeners|auto-subscriptions|topic-rewrites|retained-policies|validations|rules|sources|bridges|access\\.backends)\\.[a-z]+\\.",
                        "$1.<name>."))
                .map(key -> key.replaceFirst("^(rules\\.<name>\\.actions)\\.[a-z]+\\.", "$1.<name>."))
                .collect(Collectors.toCollection(TreeSet::new));
        List<String> known = EffectiveConfig.schema().describe().stream()
                .map(ConfigKey::name)
                .collect(Collectors.toList());

        assertThat(named).containsExactlyInAnyOrderElementsOf(known);
    }

    private static Map<String, ConfigValue> read(Path file) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        assertThat(YamlFile.read(file, file.toString(), values)).isEmpty();
        return values;
    }

    private Path uncommented() throws IOException {
        List<String> lines = Files.readAllLines(SAMPLE).stream()
                .map(line -> line.replaceFirst("^( *)#(?=[a-z])", "$1"))
                .collect(Collectors.toList());
        return Files.write(directory.resolve("uncommented.yaml"), lines);
    }
}
