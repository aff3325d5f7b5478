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

class EmqxActionsTest {

    private static final Path SAMPLE = Path.of("src/test/resources/migrate/emqx-rules.conf");

    @TempDir
    Path directory;

    private Migration sample() {
        return Migration.read(SAMPLE, "emqx-rules.conf", OldBroker.emqx);
    }

    private Migration read(String text) throws IOException {
        Path file = Files.writeString(directory.resolve("f.conf"), text);
        return Migration.read(file, "f.conf", OldBroker.emqx);
    }

    @Test
    void aRuleHasItsStatementAndItsActions() {
        assertThat(sample().settings("new"))
                .containsEntry(
                        "rules.hot.sql",
                        "SELECT payload.t AS t, clientid, topic FROM \"sensors/#\" WHERE payload.t > 40")
                .containsEntry("rules.hot.description", "hot rooms")
                .containsEntry("rules.hot.actions.republish.type", "republish")
                .containsEntry("rules.hot.actions.republish.topic", "alarms/${clientid}")
                .containsEntry("rules.hot.actions.republish.payload", "${t} degrees")
                .containsEntry("rules.hot.actions.republish.qos", "1")
                .containsEntry("rules.hot.actions.republish.retain", "false")
                .containsEntry("rules.hot.actions.console.type", "console")
                .containsEntry("rules.hot.actions.http-hook.type", "http")
                .containsEntry("rules.hot.actions.http-hook.url", "https://example.com/base/hot/${clientid}")
                .containsEntry("rules.hot.actions.http-hook.method", "put")
                .containsEntry("rules.hot.actions.http-hook.headers.content-type", "application/json")
                .containsEntry("rules.hot.actions.http-hook.headers.x-site", "s1")
                .containsEntry("rules.hot.actions.http-hook.body", "{\"t\": ${t}}")
                .containsEntry("rules.hot.actions.http-hook.batch-size", "50")
                .containsEntry("rules.copy.enabled", "false")
                .containsEntry("rules.copy.actions.republish.payload", "${payload}")
                .containsEntry("rules.copy.actions.republish.qos", "${qos}")
                .containsEntry("rules.copy.actions.republish.retain", "${flags.retain}");
    }

    @Test
    void retainIsThatOfAColumnWithThisName() throws IOException {
        String actions = "actions = [{ function = republish, args { topic = \"x\", retain = \"${retain}\" } }]";
        Map<String, String> settings = read("rule_engine.rules.whole { sql = \"SELECT * FROM \\\"t\\\"\", " + actions
                        + " }\n" + "rule_engine.rules.named { sql = \"SELECT flags.retain AS retain FROM \\\"t\\\"\", "
                        + actions + " }\n")
                .settings("new");

        assertThat(settings)
                .containsEntry("rules.whole.actions.republish.retain", "false")
                .containsEntry("rules.named.actions.republish.retain", "${retain}");
    }

    @Test
    void eachTypeHasItsKeys() throws IOException {
        Migration migration = sample();
        Map<String, String> settings = migration.settings("new");

        assertThat(settings)
                .containsEntry("rules.all.actions.influxdb-climate.type", "influxdb")
                .containsEntry("rules.all.actions.influxdb-climate.url", "http://127.0.0.1:8086")
                .containsEntry("rules.all.actions.influxdb-climate.version", "v2")
                .containsEntry("rules.all.actions.influxdb-climate.org", "plant")
                .containsEntry("rules.all.actions.influxdb-climate.bucket", "b")
                .containsEntry("rules.all.actions.influxdb-climate.token-file", "new.rule-all-influxdb-climate.token")
                .containsEntry("rules.all.actions.influxdb-climate.measurement", "climate")
                .containsEntry("rules.all.actions.influxdb-climate.tags.device", "${clientid}")
                .containsEntry("rules.all.actions.influxdb-climate.fields.t", "${payload.t}")
                .containsEntry("rules.all.actions.influxdb-climate.fields.n", "${payload.n}")
                .containsEntry("rules.all.actions.influxdb-climate.timestamp", "${timestamp}")
                .containsEntry("rules.all.actions.influxdb-climate.precision", "ms")
                .containsEntry("rules.all.actions.pgsql-db.type", "jdbc")
                .containsEntry(
                        "rules.all.actions.pgsql-db.url", "jdbc:postgresql://db.example:5432/plant?sslmode=verify-full")
                .containsEntry("rules.all.actions.pgsql-db.username", "smqtt")
                .containsEntry("rules.all.actions.pgsql-db.password-file", "new.rule-all-pgsql-db.password")
                .containsEntry(
                        "rules.all.actions.pgsql-db.statement",
                        "INSERT INTO r (device, t) VALUES (${clientid}, ${payload.t})")
                .containsEntry("rules.all.actions.kafka-producer-k.type", "kafka")
                .containsEntry("rules.all.actions.kafka-producer-k.bootstrap-servers", "k1:9092,k2:9093")
                .containsEntry("rules.all.actions.kafka-producer-k.topic", "climate")
                .containsEntry("rules.all.actions.kafka-producer-k.key", "${clientid}")
                .containsEntry("rules.all.actions.kafka-producer-k.value", "${.}")
                .containsEntry("rules.all.actions.kafka-producer-k.compression", "snappy")
                .containsEntry("rules.all.actions.kafka-producer-k.headers.site", "${username}")
                .containsEntry("rules.all.actions.kafka-producer-k.sasl", "scram-sha-256")
                .containsEntry("rules.all.actions.kafka-producer-k.username", "smqtt")
                .containsEntry("rules.all.actions.rabbitmq-q.type", "rabbitmq")
                .containsEntry("rules.all.actions.rabbitmq-q.url", "amqp://mq.example:5673")
                .containsEntry("rules.all.actions.rabbitmq-q.exchange", "amq.topic")
                .containsEntry("rules.all.actions.rabbitmq-q.routing-key", "climate.${clientid}")
                .containsEntry("rules.all.actions.rabbitmq-q.persistent", "false")
                .containsEntry("rules.all.actions.rabbitmq-q.headers.t", "${payload.t}")
                .containsEntry("rules.all.actions.rabbitmq-q.properties.content-type", "application/json")
                .containsEntry("rules.all.actions.redis-r.type", "redis")
                .containsEntry("rules.all.actions.redis-r.url", "redis://127.0.0.1:6379")
                .containsEntry("rules.all.actions.redis-r.database", "2")
                .containsEntry(
                        "rules.all.actions.redis-r.command", "HSET last:${clientid} t ${payload.t} \"two words\"");
        assertThat(settings.values()).noneMatch(value -> value.contains("s3cret"));
        assertThat(migration.notes()).noneMatch(note -> note.contains("s3cret"));
        migration.writeAccessFiles(directory, "new", false);
        assertThat(directory.resolve("new.rule-all-pgsql-db.password")).hasContent("s3cret-pg");
    }

    @Test
    void whatCannotBeWrittenIsNamedWithItsLine() {
        assertThat(sample().notes())
                .anyMatch(note ->
                        note.contains("rule_engine.rules.other: not migrated; it has no action that can be written"))
                .anyMatch(note -> note.contains("there is no sink for the type cassandra"))
                .anyMatch(note -> note.contains("the statement does not select username, which parameters.body has"))
                .anyMatch(note -> note.contains("headers.authorization: is not written, because it may hold a secret"))
                .anyMatch(note -> note.contains("lib/ext/sink-kafka"))
                .anyMatch(note -> note.contains("connectors.redis.unused: not migrated; no rule"))
                .anyMatch(
                        note -> note.startsWith("emqx-rules.conf:62: rule_engine.rules.hot.actions[3]: not migrated"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SELECT a FROM | it has no statement",
                "SELECT * FROM \"$bridges/http:x\" | it reads a source",
                "SELECT payload.t AS t FROM \"t\" | does not select clientid",
                "FOREACH payload.s AS e DO e.x AS x FROM \"t\" | does not select clientid",
            })
    void aRuleThatCannotBeWrittenIsLeftOut(String sql, String reason) throws IOException {
        Migration migration = read("rule_engine.rules.r { sql = \"\"\"" + sql + "\"\"\""
                + ", actions = [{ function = republish, args { topic = \"a/${.clientid}\" } }] }");

        assertThat(migration.settings("new").keySet()).noneMatch(key -> key.startsWith("rules."));
        assertThat(migration.notes()).anyMatch(note -> note.contains(reason));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SELECT * FROM \"t\" | ${qos} | ${payload}",
                "SELECT clientid, payload FROM \"t\" | 0 | ${payload}",
                "SELECT clientid, payload.t AS payload FROM \"t\" | 0 | ${payload}",
                "SELECT clientid, payload.t AS t FROM \"t\" | 0 | ${.}",
                "SELECT clientid, max(payload.x, 2) AS qos FROM \"t\" | ${qos} | ${.}",
                "FOREACH payload.s FROM \"t\" | ${qos} | ${payload}",
            })
    void theDefaultsOfRepublishAreWrittenIfTheStatementHasThem(String sql, String qos, String payload)
            throws IOException {
        Migration migration = read("rule_engine.rules.r { sql = \"\"\"" + sql + "\"\"\""
                + ", actions = [{ function = republish, args { topic = \"a/${.clientid}\" } }] }");

        assertThat(migration.settings("new"))
                .containsEntry("rules.r.actions.republish.qos", qos)
                .containsEntry("rules.r.actions.republish.payload", payload);
    }

    @Test
    void retainOfRepublishIsThatOfTheStatementIfNothingElseIsSaid() throws IOException {
        Map<String, String> settings =
                read("rule_engine.rules.named { sql = \"SELECT payload, flags.retain AS retain FROM \\\"t\\\"\", "
                                + "actions = [{ function = republish, args { topic = \"x\" } }] }\n"
                                + "rule_engine.rules.whole { sql = \"SELECT * FROM \\\"t\\\"\", "
                                + "actions = [{ function = republish, args { topic = \"x\" } }] }")
                        .settings("new");

        assertThat(settings)
                .containsEntry("rules.named.actions.republish.retain", "${retain}")
                .containsEntry("rules.whole.actions.republish.retain", "false");
    }

    @Test
    void eachArgumentOfRepublishThatIsNotWrittenHasALine() throws IOException {
        Migration migration = read("rule_engine.rules.r { sql = \"SELECT * FROM \\\"t\\\"\", actions = [{\n"
                + " function = republish, args { topic = \"x\", direct_dispatch = true,\n"
                + " mqtt_properties { \"Content-Type\" = \"text/plain\" } } }] }");

        assertThat(migration.notes())
                .anyMatch(note -> note.contains("args.direct_dispatch: not migrated"))
                .anyMatch(note -> note.contains("args.mqtt_properties") && note.contains("no such argument"))
                .anyMatch(note -> note.contains("properties of the message, such as its content type"))
                .noneMatch(note -> note.contains("args.topic"));
    }

    private Migration influx(String fields) throws IOException {
        return read(
                "connectors.influxdb.i { server = \"h:8086\", parameters { influxdb_type = influxdb_api_v1, database = d } }\n"
                        + "actions.influxdb.a { connector = i, parameters { write_syntax = \"\"\"m,d=${clientid} "
                        + fields
                        + "\"\"\" } }\n"
                        + "rule_engine.rules.r { sql = \"SELECT * FROM \\\"t\\\"\", actions = [\"influxdb:a\"] }");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1i", "1.5", "true", "f", "${payload.a}${payload.b}", "1${payload.a}"})
    void anInfluxFieldThatIsNoTextStaysNone(String value) throws IOException {
        Migration migration = influx("t=${payload.t},status=" + value);

        assertThat(migration.settings("new").keySet()).noneMatch(key -> key.startsWith("rules."));
        assertThat(migration.notes())
                .anyMatch(note -> note.contains("its field status is neither a text in quotes nor one placeholder"));
    }

    @Test
    void anInfluxFieldInQuotesIsAText() throws IOException {
        Migration migration = influx("name=\"abc\",at=\"${payload.x}/${payload.y}\",x=\"${payload.x}\"");

        assertThat(migration.settings("new"))
                .containsEntry("rules.r.actions.influxdb-a.fields.name", "abc")
                .containsEntry("rules.r.actions.influxdb-a.fields.at", "${payload.x}/${payload.y}")
                .containsEntry("rules.r.actions.influxdb-a.fields.x", "${payload.x}");
        assertThat(migration.notes())
                .anyMatch(note ->
                        note.contains("write_syntax: differs; rules.r.actions.influxdb-a.fields.x: is a text there"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '#',
            value = {
                "{\"topic\":\"${topic}\",\"payload\":${payload}} | true",
                "{\"topic\":\"${topic}\",\"payload\":\"${payload}\"} | true",
                "[${payload.t}] | true",
                "{\"topic\":\"${topic}\",\"t\":\"${payload.t}\"} | false",
                "{\"a\":\"\\\"${topic}\"} | false",
                "${payload} | false",
            })
    void aTemplateOfJsonThatIsFilledInOtherwiseHasALine(String template, boolean differs) throws IOException {
        Migration migration = read(
                "connectors.kafka_producer.k { bootstrap_hosts = \"h:9092\" }\n"
                        + "actions.kafka_producer.k { connector = k, parameters { topic = t, message { value = \"\"\""
                        + template
                        + "\"\"\" } } }\n"
                        + "connectors.rabbitmq.q { server = h, port = 5672 }\n"
                        + "actions.rabbitmq.q { connector = q, parameters { exchange = e, payload_template = \"\"\""
                        + template
                        + "\"\"\" } }\n"
                        + "connectors.http.w { url = \"http://h\" }\n"
                        + "actions.http.w { connector = w, parameters { path = p, body = \"\"\"" + template
                        + "\"\"\" } }\n"
                        + "actions.http.plain { connector = w, parameters { path = p, body = \"\"\"" + template
                        + "\"\"\", headers { Content-Type = \"text/plain\" } } }\n"
                        + "rule_engine.rules.r { sql = \"SELECT * FROM \\\"t\\\"\", actions = [\"kafka_producer:k\", \"rabbitmq:q\", \"http:w\", \"http:plain\"] }");

        assertThat(migration.notes())
                .filteredOn(note -> note.contains(": a value is written as JSON"))
                .hasSize(differs ? 3 : 0)
                .noneMatch(note -> note.contains("http-plain"));
        assertThat(migration.settings("new")).containsEntry("rules.r.actions.kafka-producer-k.value", template);
    }

    @ParameterizedTest
    @CsvSource({"'', true", "'verify = verify_none', true", "'verify = verify_peer', false"})
    void whetherCertificatesOfServersAreCheckedHasOneDefault(String verify, boolean differs) throws IOException {
        String ssl = "ssl { enable = true, " + verify + " }";
        Migration migration = read(
                "connectors.kafka_producer.k { bootstrap_hosts = \"h:9092\", " + ssl + " }\n"
                        + "actions.kafka_producer.k { connector = k, parameters { topic = t } }\n"
                        + "connectors.pgsql.p { server = \"h:5432\", database = d, " + ssl + " }\n"
                        + "actions.pgsql.p { connector = p, parameters { sql = \"INSERT INTO t VALUES (1)\" } }\n"
                        + "connectors.http.w { url = \"https://h\", " + ssl + " }\n"
                        + "actions.http.w { connector = w, parameters { path = p } }\n"
                        + "rule_engine.rules.r { sql = \"SELECT * FROM \\\"t\\\"\", actions = [\"kafka_producer:k\", \"pgsql:p\", \"http:w\"] }");

        assertThat(migration.notes())
                .filteredOn(note -> note.contains("the certificate of the server is checked"))
                .hasSize(differs ? 2 : 0);
        assertThat(migration.settings("new"))
                .containsEntry(
                        "rules.r.actions.pgsql-p.url",
                        "jdbc:postgresql://h:5432/d?sslmode=" + (differs ? "require" : "verify-full"));
    }

    @Test
    void authoritiesOfAServerWithoutTlsAreNotWritten() throws IOException {
        Migration migration =
                read("connectors.http.w { url = \"http://h\", ssl { enable = false, cacertfile = \"ca.pem\" } }\n"
                        + "actions.http.w { connector = w, parameters { path = p } }\n"
                        + "rule_engine.rules.r { sql = \"SELECT * FROM \\\"t\\\"\", actions = [\"http:w\"] }");

        assertThat(migration.settings("new"))
                .containsKey("rules.r.actions.http-w.url")
                .doesNotContainKey("rules.r.actions.http-w.ca");
    }

    @Test
    void aKeyOfAnActionThatMayChangeTheDataIsNotOneOfItsQueue() throws IOException {
        Migration migration = read("connectors.kafka_producer.k { bootstrap_hosts = \"h:9092\" }\n"
                + "actions.kafka_producer.k { connector = k, parameters { topic = t, partition_strategy = random },\n"
                + " local_topic = \"more/#\", resource_opts { request_ttl = 45s } }\n"
                + "rule_engine.rules.r { sql = \"SELECT * FROM \\\"t\\\"\", actions = [\"kafka_producer:k\"] }");

        assertThat(migration.notes())
                .anyMatch(note ->
                        note.contains("parameters.partition_strategy: not migrated; is not written, and may change"))
                .anyMatch(note -> note.contains("local_topic: not migrated; is not written, and may change the data"))
                .anyMatch(note -> note.contains("request_ttl: not migrated; connections, pauses and queues"));
    }
}
