// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.ConfigKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Keeps docs/configuration.md equal to the schema. With -Dsmqtt.docs.write=true it writes the file. */
class ConfigurationReferenceTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "configuration.md");

    private static final String HEAD = """
            # Configuration

            ## How to configure

            - **File**: `bin/smqtt start --config FILE`, or the variable `SMQTT_CONFIG`. The format is YAML; keys are nested or dotted.
              Start with a copy of [config/smqtt.yaml](../config/smqtt.yaml), which lists all keys. Relative paths are relative to the file.
              All keys may be below a root `smqtt:`, as in a Spring application.
            - **Environment**: `SMQTT_LISTENERS__TCP__PORT=1884` is `listeners.tcp.port`. Two underscores separate levels; one underscore is a hyphen.
              For a secret, a variable can name a file: `SMQTT_CLUSTER__SECRET_FILE=/run/secrets/cluster`.
            - **Flags**: `--set listeners.tcp.port=1884` (repeatable). `--data DIR` is `storage.dir`. `-v` is `logging.level=debug`, `-vv` is `trace`.
            - **Precedence**, lowest first: defaults, file, environment, flags.
            - **Check**: `bin/smqtt config check` reads the configuration and all files that it names, and starts nothing. It lists all problems at once.
            - **Print**: `bin/smqtt config print` shows every value and its source. Secrets are masked.

            ## Values

            - An unknown key or a wrong value is an error: the broker does not start (exit code 3). The error has the place and the nearest known key.
            - A key without a value (`port:`) is an error, unless the key is optional.
            - Durations: `250ms`, `5s`, `10m`, `1h`, `1d`, or ISO 8601 (`PT5S`). Where the type names a word, such as `never`, `0s` means the same.
            - Sizes: `64KiB`, `1MiB`, `16MB`, bytes, or a share of the maximum heap (`25%`).
            - Lists: YAML lists, or values separated by commas.
            - Listeners have names. `tcp` (port 1883) and `ws` (port 8083) exist by default. A new name needs a `type`.
            - Log lines begin with the time in UTC: `2026-01-02T03:04:05.000Z`. In JSON it is the field `time`.

            The tables below list every key with its default, type and meaning.
            """;

    private static final String TAIL = """

            ## About this page

            Generated from the configuration schema: do not edit. To generate it again after a change of the configuration records, run
            `mvn -pl smqtt-bootstrap -am test -Dtest=ConfigurationReferenceTest -Dsurefire.failIfNoSpecifiedTests=false -Dsmqtt.docs.write=true`.
            """;

    @Test
    void documentSaysWhatTheSchemaSays() throws IOException {
        String expected = document();
        if (Boolean.getBoolean("smqtt.docs.write")) {
            Files.createDirectories(DOCUMENT.getParent());
            Files.writeString(DOCUMENT, expected);
        }

        assertThat(DOCUMENT).hasContent(expected);
    }

    @Test
    void everyKeyHasWords() {
        assertThat(EffectiveConfig.schema().describe()).allSatisfy(key -> {
            assertThat(key.doc()).as(key.name()).isNotBlank();
            assertThat(key.name()).matches("[a-z0-9.<>-]+");
        });
    }

    private static String document() {
        Map<String, StringBuilder> blocks = new LinkedHashMap<>();
        for (ConfigKey key : EffectiveConfig.schema().describe()) {
            int dot = key.name().lastIndexOf('.');
            blocks.computeIfAbsent(dot < 0 ? "top level" : key.name().substring(0, dot), name -> new StringBuilder())
                    .append(row(key, key.name().substring(dot + 1)));
        }
        StringBuilder text = new StringBuilder(HEAD);
        blocks.forEach((name, rows) -> text.append("\n## ")
                .append(name.contains("<") ? "`" + name + "`" : name)
                .append("\n\n| key | default | type | meaning |\n|---|---|---|---|\n")
                .append(rows));
        return text.append(TAIL).toString();
    }

    private static String row(ConfigKey key, String name) {
        String type = key.range().isEmpty() ? key.type() : key.type() + ", " + key.range();
        String fallback =
                key.required() ? "required" : key.defaultText().isEmpty() ? "none" : "`" + key.defaultText() + "`";
        String secret = key.secret() ? "; never shown" : "";
        return String.join(" | ", List.of("| `" + name + "`", fallback, type, key.doc() + secret + " |\n"));
    }
}
