// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class YamlFileTest {

    @TempDir
    Path directory;

    @Test
    void nestedAndDottedKeysAreFlatAndKnowTheirLine() throws IOException {
        Map<String, ConfigValue> values =
                read("# comment\nlisteners:\n  tcp:\n    port: 1884\nlimits.max-in-flight: \"7\"\n");

        assertThat(values).containsOnlyKeys("listeners.tcp.port", "limits.max-in-flight");
        assertThat(values.get("listeners.tcp.port"))
                .isEqualTo(new ConfigValue("1884", "f.yaml:4", directory.toAbsolutePath()));
        assertThat(values.get("limits.max-in-flight"))
                .isEqualTo(new ConfigValue("7", "f.yaml:5", directory.toAbsolutePath()));
    }

    @Test
    void listsAreJoined() throws IOException {
        assertThat(read("a: [x, y]\nb:\n  - 1\n  - 2\nc: []\n"))
                .extractingFromEntries(
                        entry -> entry.getKey() + "=" + entry.getValue().text())
                .containsExactly("a=x,y", "b=1,2", "c=");
    }

    @Test
    void keyWithoutValueHasNoText() throws IOException {
        assertThat(read("a:\nb: ~\nc: null\nd: \"\"\n"))
                .extractingFromEntries(
                        entry -> entry.getKey() + "=" + entry.getValue().text())
                .containsExactly("a=null", "b=null", "c=null", "d=");
    }

    @Test
    void aTabThatIndentsIsNamed() {
        assertThatThrownBy(() -> read("listeners:\n\ttcp:\n"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("f.yaml:2")
                .hasMessageContaining("the line is indented by a tab");
    }

    @Test
    void emptyFileHasNoKeys() throws IOException {
        assertThat(read("")).isEmpty();
        assertThat(read("# nothing\n")).isEmpty();
        assertThat(read("---\n")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'a: 1\nb: 2\na: 3\n' | f.yaml:3: a is given twice, first in line 1",
                "'a:\n  b: 2\na.b: 3\n' | f.yaml:3: a.b is given twice, first in line 2",
                "'a: 1\n  b: 2\n' | f.yaml:2: is not valid YAML",
                "'a: &x 1\nb: *x\n' | f.yaml:2: anchors and aliases are not supported",
                "'a:\n  - [1]\n' | f.yaml:2: a must be a list of plain values",
                "'a: [\"1,2\"]\n' | f.yaml:1: a holds a comma within an item of the list",
                "'a: 1\n---\nb: 2\n' | f.yaml:2: only one document is allowed",
                "'- a\n' | f.yaml:1: expected keys",
                "'just words' | f.yaml:1: expected keys",
                "'? [a]\n: 1\n' | f.yaml:1: expected a key",
                "'a: \u0001\n' | f.yaml: is not valid YAML in UTF-8",
            })
    void problemIsNamedWithItsLine(String text, String problem) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(problem);
    }

    @Test
    void missingFileIsNamed() {
        assertThatThrownBy(() -> YamlFile.read(directory.resolve("none"), "none", new LinkedHashMap<>()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("none: the file does not exist");
    }

    private Map<String, ConfigValue> read(String text) throws IOException {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        List<String> problems = YamlFile.read(Files.writeString(directory.resolve("f.yaml"), text), "f.yaml", values);
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return values;
    }
}
