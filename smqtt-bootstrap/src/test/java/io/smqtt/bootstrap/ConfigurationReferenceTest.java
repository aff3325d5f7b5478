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

            Every key, with its default, its type and its meaning.

            - **File**: YAML, `bin/smqtt start --config FILE` or `SMQTT_CONFIG`. Keys are nested or dotted. [config/smqtt.yaml](../config/smqtt.yaml)
              lists all of them with reasons to change them. Relative paths are relative to the file's directory.
              All keys may be below a root `smqtt:`, as in a Spring application; then nothing else is in the file.
            - **Environment**: `SMQTT_LISTENERS__TCP__PORT=1884` is `listeners.tcp.port`; two underscores are a level, one is a hyphen.
              A secret may be in a file: `SMQTT_CLUSTER__SECRET_FILE=/run/secrets/cluster`.
            - **Flags**: `--set listeners.tcp.port=1884`, as often as needed; `--data DIR` is `storage.dir`; `-v` is `logging.level=debug`, `-vv` `trace`.
            - **Precedence**: defaults, file, environment, flags.
            - An unknown key or a wrong value stops the start with exit code 3 and names where it was given.
            - A key without a value (`port:`) is an error, except where a key may be absent: there it leaves the default.
            - `bin/smqtt config check` only checks, also what is in the access files, certificates and keys, and names all problems at once;
              `bin/smqtt config print` shows every value and where it comes from.
            - Durations are written `250ms`, `5s`, `10m`, `1h`, `1d` or as in ISO 8601 (`PT5S`); sizes `64KiB`, `1MiB`, `16MB`, plain bytes, or as
              a share of the largest heap, `25%`; lists as YAML lists or separated by commas.
            - Listeners have names. `tcp` (port 1883) and `ws` (port 8083) exist by default and can be changed key by key; a new name needs a `type`.
            - A line of the log begins with its time in UTC with milliseconds, always 24 characters: `2026-01-02T03:04:05.000Z`; in JSON it is `time`.
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
