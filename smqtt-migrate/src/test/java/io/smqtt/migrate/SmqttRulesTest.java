// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rule chains of the former smqtt and smqttx. */
class SmqttRulesTest {

    @TempDir
    Path directory;

    private Migration migrated(String chains) throws IOException {
        Path old = directory.resolve("old.yaml");
        Files.writeString(old, "smqtt:\n  tcp:\n    port: 1883\n  rules:\n" + chains.indent(4));
        return Migration.read(old, "old.yaml", null);
    }

    @Test
    void plainChainBecomesARule() throws IOException {
        Migration migration = migrated("""
                - ruleName: Hot rooms
                  chain:
                    - ruleType: PREDICATE
                      script: qos == 1 && topic.equals("test/test")
                    - ruleType: PREDICATE
                      script: msg.t > 40 or msg.alarm == true
                    - ruleType: LOG
                    - ruleType: TOPIC
                      param: alarms/hot
                """);

        assertThat(migration.settings("new"))
                .containsEntry(
                        "rules.hot-rooms.sql",
                        "SELECT topic, clientid, qos, payload FROM \"#\" WHERE qos = 1 AND topic = 'test/test'"
                                + " AND (payload.t > 40 OR payload.alarm = true)")
                .containsEntry("rules.hot-rooms.actions.action-1.type", "console")
                .containsEntry("rules.hot-rooms.actions.action-2.type", "republish")
                .containsEntry("rules.hot-rooms.actions.action-2.topic", "alarms/hot")
                .containsEntry("rules.hot-rooms.actions.action-2.payload", "${payload}")
                .containsEntry("rules.hot-rooms.actions.action-2.qos", "${qos}");
        assertThat(migration.notes())
                .contains(
                        "old.yaml:5: smqtt.rules[0].ruleName: differs; rules.hot-rooms: messages are published by the broker"
                                + " itself; a rule leaves out what it has published");
    }

    @Test
    void whatIsNotPlainIsNamed() throws IOException {
        Migration migration = migrated("""
                - ruleName: a
                  chain:
                    - ruleType: PREDICATE
                      script: topic.startsWith("a")
                    - ruleType: TOPIC
                      script: b
                - ruleName: b
                  chain:
                    - ruleType: TOPIC
                      script: b
                    - ruleType: KAFKA
                      script: "{'topic':topic}"
                - ruleName: b
                  chain:
                    - ruleType: TOPIC
                      script: c
                - ruleName: c
                  chain:
                    - ruleType: ROCKET_MQ
                """);

        Map<String, String> settings = migration.settings("new");
        assertThat(settings.keySet().stream().filter(key -> key.startsWith("rules.")))
                .allMatch(key -> key.startsWith("rules.b.") || key.startsWith("rules.b-2."));
        assertThat(settings)
                .containsEntry("rules.b.sql", "SELECT topic, clientid, qos, payload FROM \"#\"")
                .containsEntry("rules.b-2.actions.action-1.topic", "c")
                .doesNotContainKey("rules.b.actions.action-2.type");
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith(
                        "old.yaml:8: smqtt.rules[0].chain[0].script: not migrated; its filter is not plain"))
                .anyMatch(note -> note.startsWith(
                        "old.yaml:15: smqtt.rules[1].chain[1].ruleType: not migrated; the chain ends here"))
                .anyMatch(
                        note -> note.startsWith("old.yaml:21: smqtt.rules[3].ruleName: not migrated; the chain ends"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '`',
            value = {
                "$.event.equals(\"publish\") ~ ``",
                "$.event.equals('PUBLISH') && $.clientId == 'c' ~ clientid = 'c'",
                "clientIdentifier != \"a-b\" ~ clientid != 'a-b'",
                "retain == false and qos ge 1 ~ flags.retain = false AND qos >= 1",
                "msg.a.b < -1.5 || topic eq 'x' && qos==2 ~ payload.a.b < -1.5 OR topic = 'x' AND qos = 2",
                "body == 'on' ~ payload = 'on'",
            })
    void comparisonsBecomeSql(String script, String sql) {
        assertThat(SmqttPredicate.sql(script)).isEqualTo(sql);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "true",
                "topic",
                "topic == other",
                "topic == 'it''s'",
                "topic == 'a\\'b'",
                "(qos == 1)",
                "!(qos == 1)",
                "qos == 1 qos == 2",
                "qos == 1 &&",
                "topic.x == 'a'",
                "msg.select == 1",
                "timestamp > 5",
                "event == 'connect'",
                "event == 'publish' || qos == 1",
                "msg.size() == 1",
            })
    void otherExpressionsAreNotPlain(String script) {
        assertThat(SmqttPredicate.sql(script)).isNull();
    }
}
