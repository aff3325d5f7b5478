// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tables of docs/migration.md are the rules of the mappers; {@code -Dsmqtt.docs.write=true} writes them. */
class MigrationDocumentTest {

    private static final Path DOCUMENT = Path.of("../docs/migration.md");
    private static final Pattern KEY = Pattern.compile("[a-z-]+(\\.(<name>|[a-z0-9-]+))+");

    @Test
    void tablesSayWhatTheMappersDo() throws IOException {
        String text = Files.readString(DOCUMENT);
        String expected = withTable(text, "smqtt", table(SmqttMapper.RULES.rules()));
        expected = withTable(expected, "mosquitto", table(MosquittoMapper.RULES.rules()));
        expected = withTable(expected, "goauth", table(GoAuth.RULES.rules()));
        expected = withTable(expected, "moquette", table(MoquetteMapper.RULES.rules()));
        expected = withTable(expected, "emqx", table(EmqxMapper.RULES.rules()));
        if (Boolean.getBoolean("smqtt.docs.write")) {
            Files.writeString(DOCUMENT, expected);
        }

        assertThat(DOCUMENT).hasContent(expected);
    }

    @Test
    void targetsAreKeysThatThereAre() {
        Set<String> known = ConfigSchema.of(BrokerConfig.defaults()).describe().stream()
                .map(ConfigKey::name)
                .collect(Collectors.toSet());
        List<String> blocks = List.of(
                "listeners.tcp.tls",
                "listeners.ws.tls",
                "management.tls",
                "logging.level",
                "legacy.management-paths",
                "bridges.<name>");
        Stream<Rule<?>> all = Stream.of(
                        SmqttMapper.RULES.rules(),
                        MosquittoMapper.RULES.rules(),
                        MoquetteMapper.RULES.rules(),
                        GoAuth.RULES.rules(),
                        EmqxMapper.RULES.rules())
                .flatMap(List::stream);

        assertThat(all.flatMap(rule -> KEY.matcher(rule.target()).results().map(found -> found.group())))
                .hasSizeGreaterThan(60)
                .filteredOn(key -> !key.startsWith("access.backends.<name>.") // their types declare more keys
                        && !key.startsWith("rules.<name>.actions.<name>."))
                .allSatisfy(key -> assertThat(known.contains(named(key)) || blocks.contains(key))
                        .as(key)
                        .isTrue());
    }

    /** The names that listeners are given stand for any name in the schema. */
    private static String named(String key) {
        return key.replaceFirst("^listeners\\.(tcp|ws|tls|wss)\\.", "listeners.<name>.");
    }

    private static String withTable(String text, String name, String table) {
        Matcher place = Pattern.compile("(?s)(<!-- table " + name + ": generated -->\n).*?(<!-- end -->)")
                .matcher(text);
        assertThat(place.find()).as("place of the table %s", name).isTrue();
        return text.substring(0, place.end(1)) + table + text.substring(place.start(2));
    }

    private static <M> String table(List<Rule<M>> rules) {
        StringBuilder text = new StringBuilder("| key | smqtt | what differs, what to do |\n|---|---|---|\n");
        for (Rule<M> rule : rules) {
            String target =
                    rule.target().isEmpty() ? (rule.outcome() == Outcome.SAME ? "" : "none") : code(rule.target());
            String advice = rule.outcome() == Outcome.UNGUARDED ? "**not enforced**: " + rule.advice() : rule.advice();
            text.append("| `")
                    .append(rule.key())
                    .append("` | ")
                    .append(target)
                    .append(" | ")
                    .append(escaped(advice))
                    .append(" |\n");
        }
        return text.toString();
    }

    private static String code(String keys) {
        return Stream.of(keys.split(", ")).map(key -> "`" + key + "`").collect(Collectors.joining(", "));
    }

    private static String escaped(String text) {
        return text.replace("<", "\\<").replace("|", "\\|");
    }
}
