// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.basic.RepublishSinkFactory;
import io.smqtt.spi.ActionType;
import io.smqtt.spi.RuleStatus;
import io.smqtt.spi.Rules;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rules of a broker in memory. */
class RulesTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final Path FOLDER = folder();

    private RulesModule module;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config.rules(rules()), parts -> {
        module = RulesModule.of(BrokerConfig.builder().rules(rules()).build());
        return parts.module(module);
    });

    private static Path folder() {
        try {
            return Files.createTempDirectory("smqtt-rules");
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static RuleActionConfig action(String type, String... pairs) {
        Map<String, ConfigValue> settings = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            settings.put(pairs[i], new ConfigValue(pairs[i + 1], "test", FOLDER));
        }
        return RuleActionConfig.builder(type).settings(settings).build();
    }

    private static Map<String, RuleConfig> rules() {
        Map<String, RuleConfig> rules = new LinkedHashMap<>();
        rules.put(
                "hot",
                RuleConfig.builder(
                                "SELECT payload.t AS t, clientid, qos FROM \"sensors/#\", \"sensors/a\" WHERE payload.t > 20")
                        .actions(Map.of(
                                "alarm",
                                action(
                                        "republish",
                                        "topic",
                                        "alarms/${clientid}",
                                        "payload",
                                        "${t} C",
                                        "qos",
                                        "${qos}"),
                                "log",
                                action("file", "path", "hot.jsonl")))
                        .build());
        rules.put(
                "circle",
                RuleConfig.builder("SELECT * FROM \"circle/#\"")
                        .actions(Map.of("again", action("republish", "topic", "circle/next", "qos", "1")))
                        .build());
        rules.put(
                "wrong",
                RuleConfig.builder("SELECT payload.topic AS topic FROM \"wrong\"")
                        .actions(Map.of("out", action("republish", "topic", "${topic}")))
                        .deadLetterFile(FOLDER.resolve("dead.jsonl"))
                        .build());
        rules.put(
                "events",
                RuleConfig.builder(
                                "SELECT clientid, event FROM \"$events/client_connected\" WHERE clientid = 'newcomer'")
                        .actions(Map.of("out", action("republish", "topic", "events")))
                        .build());
        rules.put(
                "acked",
                RuleConfig.builder(
                                "SELECT clientid, from_clientid, qos FROM \"$events/message_acked\" WHERE topic = 'to-ack'")
                        .actions(Map.of("out", action("republish", "topic", "acks")))
                        .build());
        rules.put(
                "decided",
                RuleConfig.builder(
                                "SELECT clientid, action, topic, result FROM \"$events/client_check_authz_complete\" WHERE clientid = 'decided'")
                        .actions(Map.of("out", action("republish", "topic", "decisions")))
                        .build());
        return rules;
    }

    private RuleCounts counts(String rule, String action) {
        return module.all().stream()
                .filter(each -> each.name().equals(rule))
                .flatMap(each -> each.actions().stream())
                .filter(each -> each.name().equals(action))
                .findFirst()
                .orElseThrow()
                .counts();
    }

    private static void assertAccountCloses(RuleCounts counts) {
        await().untilAsserted(() -> {
            RuleStatus.Counts now = counts.snapshot(0, 0);
            assertThat(now.queued() + now.pending()).isZero();
        });
        RuleStatus.Counts all = counts.snapshot(0, 0);
        assertThat(all.matched()).isEqualTo(all.success() + all.dead() + all.dropped());
        assertThat(all.received()).isEqualTo(all.matched() + all.noResult() + all.loops());
    }

    @Test
    void messagesThatMatchReachAllActionsOnceAndInOrder() throws IOException {
        try (RawClient subscriber = broker.client(V5, "subscriber");
                RawClient publisher = broker.client(V5, "device")) {
            subscriber.subscribe("alarms/#", 1);
            for (int i = 0; i < 60; i++) {
                publisher.publish("sensors/a", "{\"t\": " + i + "}", i % 2);
            }
            for (int i = 21; i < 60; i++) {
                subscriber.expectPublish("alarms/device", i + " C");
            }
            subscriber.expectNothing();
        }
        RuleCounts alarm = counts("hot", "alarm");
        await().untilAsserted(() -> assertThat(alarm.success.sum()).isEqualTo(39));
        assertAccountCloses(alarm);
        assertThat(alarm.noResult.sum()).isEqualTo(21);
        await().untilAsserted(
                        () -> assertThat(counts("hot", "log").success.sum()).isEqualTo(39));
        List<String> lines = Files.readAllLines(FOLDER.resolve("hot.jsonl"));
        assertThat(lines.subList(lines.size() - 39, lines.size()))
                .containsExactlyElementsOf(IntStream.range(21, 60)
                        .mapToObj(i -> "{\"t\":" + i + ",\"clientid\":\"device\",\"qos\":" + i % 2 + "}")
                        .toList());
    }

    @Test
    void messageThatGoesInCirclesIsLeftOut() {
        try (RawClient subscriber = broker.client(V5, "subscriber");
                RawClient publisher = broker.client(V5, "device")) {
            subscriber.subscribe("circle/#", 0);
            publisher.publish("circle/first", "x", 1);
            subscriber.expectPublish("circle/first", "x");
            ReceivedPacket second = subscriber.receive();
            assertThat(second.topic()).isEqualTo("circle/next");
            subscriber.expectNothing();
        }
        RuleCounts counts = counts("circle", "again");
        await().untilAsserted(() -> assertThat(counts.loops.sum()).isEqualTo(1));
        assertThat(counts.success.sum()).isEqualTo(1);
        assertAccountCloses(counts);
    }

    @Test
    void messageThatTheSinkRefusesIsADeadLetterAndTheRestFlows() throws IOException {
        try (RawClient subscriber = broker.client(V5, "subscriber");
                RawClient publisher = broker.client(V5, "device")) {
            subscriber.subscribe("right/#", 0);
            subscriber.subscribe("$rule/dead/wrong", 0);
            publisher.publish("wrong", "{\"topic\": \"right/1\"}", 1);
            publisher.publish("wrong", "{\"topic\": \"right/+\"}", 1);
            publisher.publish("wrong", "{\"topic\": \"right/2\"}", 1);
            List<String> topics = List.of(
                    subscriber.receive().topic(),
                    subscriber.receive().topic(),
                    subscriber.receive().topic());
            assertThat(topics).containsExactlyInAnyOrder("right/1", "right/2", "$rule/dead/wrong");
        }
        RuleCounts counts = counts("wrong", "out");
        await().untilAsserted(() -> assertThat(counts.success.sum()).isEqualTo(2));
        await().untilAsserted(() -> assertThat(counts.dead.sum()).isEqualTo(1));
        assertAccountCloses(counts);
        assertThat(Files.readAllLines(FOLDER.resolve("dead.jsonl")))
                .hasSize(1)
                .first()
                .asString()
                .contains("\"reason\":\"the topic is not valid\"", "\"topic\":\"wrong\"", "\"clientid\":\"device\"");
    }

    @Test
    void operatorsSeeTheRulesAndProbeTheirSinks() {
        assertThat(module.status())
                .extracting(RuleStatus::name, rule -> rule.actions().size())
                .containsExactly(
                        tuple("hot", 2),
                        tuple("circle", 1),
                        tuple("wrong", 1),
                        tuple("events", 1),
                        tuple("acked", 1),
                        tuple("decided", 1));
        assertThat(module.probe("hot", "log").block()).isEmpty();
        assertThat(module.probe("hot", "none").block()).isNull();
    }

    @Test
    void operatorsSeeTheTypesOfActionsWithTheirKeys() {
        assertThat(module.types()).extracting(ActionType::name).contains("console", "file", "http", "republish");
        ActionType file = module.types().stream()
                .filter(type -> type.name().equals("file"))
                .findFirst()
                .orElseThrow();
        assertThat(file.keys())
                .contains(new ActionType.Key(
                        "max-files",
                        ActionType.Form.NUMBER,
                        "10",
                        "0",
                        "1000",
                        "former files that are kept; the oldest is removed",
                        false,
                        false,
                        false,
                        List.of()));
        Map<String, ActionType.Form> common = new LinkedHashMap<>();
        file.commonKeys().forEach(key -> common.put(key.name(), key.form()));
        assertThat(common)
                .containsEntry("batch-size", ActionType.Form.NUMBER)
                .containsEntry("batch-time", ActionType.Form.DURATION)
                .containsEntry("max-queued-bytes", ActionType.Form.SIZE)
                .containsEntry("full", ActionType.Form.CHOICE)
                .doesNotContainKeys("type", "enabled");
    }

    @Test
    void actionIsProbedBeforeThereIsARule() {
        assertThat(module.probe(Map.of("type", "republish", "topic", "x")).block())
                .isEmpty();
        assertThat(module.probe(Map.of("type", "http", "url", "http://127.0.0.1:10/", "timeout", "5s"))
                        .block())
                .contains("Connection refused");
        assertThatThrownBy(() ->
                        module.probe(Map.of("type", "file", "max-files", "-1")).block())
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        error -> assertThat(error.problems()).hasSize(2));
    }

    @Test
    void typesOfAnApplicationComeFirst() {
        SinkFactory own = new RepublishSinkFactory();

        assertThat(SinkTypes.find(List.of(own))).containsEntry("republish", own).containsKey("file");
        assertThatThrownBy(() -> SinkTypes.find(List.of(own, own)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("two sinks of the application have the type republish");
    }

    @Test
    void operatorsAddReplaceAndEndRules() {
        Map<String, String> keys = new LinkedHashMap<>(Map.of(
                "sql",
                "SELECT topic FROM \"live/#\"",
                "actions.out.type",
                "republish",
                "actions.out.topic",
                "first",
                "actions.out.payload",
                "${topic}"));
        assertThat(module.check("live", keys).block()).isEmpty();
        module.put("live", keys).block();
        try (RawClient client = broker.client(V5, "subscriber")) {
            client.subscribe("first", 0);
            client.subscribe("second", 0);
            client.publish("live/1", "", 1);
            client.expectPublish("first", "live/1");
            keys.put("actions.out.topic", "second");
            module.put("live", keys).block();
            client.publish("live/2", "", 1);
            client.expectPublish("second", "live/2");
            module.remove("live").block();
            client.publish("live/3", "", 1);
            client.expectNothing();
        }
        assertThat(module.status()).noneMatch(rule -> rule.name().equals("live"));
    }

    @Test
    void ruleOfAnOperatorIsCheckedAndHidesNoneOfTheConfiguration() {
        assertThat(module.check("live", Map.of("sql", "SELECT")).block())
                .singleElement()
                .asString()
                .contains("rules.live.sql has a mistake: line 1, column ");
        assertThat(module.check("live", Map.of("sql", "SELECT * FROM \"a\"", "colour", "red"))
                        .block())
                .hasSize(1);
        assertThat(module.check("hot", Map.of("sql", "SELECT * FROM \"a\"")).block())
                .containsExactly("rules.hot is in the configuration, and cannot be changed");
        assertThat(module.check("off", Map.of("sql", "SELECT * FROM \"a\"", "enabled", "false"))
                        .block())
                .isEmpty();
    }

    @Test
    void statementsAreTriedOut() {
        Rules.Trial selected = module.test(
                        "SELECT payload.t AS t FROM \"a\" WHERE payload.t > 1", Map.of("payload", "{\"t\": 2}"))
                .block();
        assertThat(selected.rows()).isEqualTo(List.of(Map.of("t", 2L)));
        assertThat(selected.clauses())
                .extracting(clause -> clause.get("clause"))
                .containsExactly("FROM", "WHERE", "SELECT");
        Rules.Trial not =
                module.test("SELECT * FROM \"a\" WHERE false", Map.of()).block();
        assertThat(not.problem()).isEqualTo("SQL Not Match");
        assertThat(not.isMistake()).isFalse();
        assertThat(module.test("SELECT", Map.of()).block().isMistake()).isTrue();
    }

    @Test
    void sampleThatTheRuleWouldNotGetIsNotSelected() {
        Rules.Trial other = module.test("SELECT * FROM \"a/+\", \"$events/client_connected\"", Map.of("topic", "b/1"))
                .block();
        assertThat(other.problem()).isEqualTo("SQL Not Match: FROM does not have the topic b/1");
        assertThat(other.rows()).isEmpty();
        assertThat(other.clauses().get(0))
                .isEqualTo(Map.of("clause", "FROM", "text", "\"a/+\", \"$events/client_connected\"", "value", false));
        assertThat(module.test("SELECT topic FROM \"a/+\"", Map.of("topic", "a/+"))
                        .block()
                        .problem())
                .isEqualTo("SQL Not Match: FROM does not have the topic a/+");
        Rules.Trial mistake =
                module.test("SELECT *\nFROM \"$events/nothing\"", Map.of()).block();
        assertThat(mistake.isMistake()).isTrue();
        assertThat(mistake.problem()).startsWith("line 2, column 6: this broker does not publish the event");
    }

    @Test
    void sampleIsFilledInByWhatTheStatementReads() {
        assertThat(module.test("SELECT topic, event FROM \"$events/client_connected\", \"a/+/#\"", Map.of())
                        .block()
                        .rows())
                .isEqualTo(List.of(Map.of("topic", "a/1/1", "event", "message.publish")));
        for (String event :
                List.of("client_connected", "client_check_authz_complete", "delivery_dropped", "message_acked")) {
            String sql = "SELECT event FROM \"$events/" + event + '"';
            Map<String, Object> row = Map.of("event", event.replaceFirst("_", "."));
            assertThat(module.test(sql, Map.of("topic", "t")).block().rows())
                    .as("without an event")
                    .isEqualTo(List.of(row));
            assertThat(module.test(sql, Map.of("event_type", event)).block().rows())
                    .as("with the event as EMQX has it")
                    .isEqualTo(List.of(row));
            assertThat(module.test(sql, Map.of("event", "client.connack"))
                            .block()
                            .problem())
                    .isEqualTo("SQL Not Match: FROM does not have the event client.connack");
        }
    }

    @Test
    void eventsAreSources() {
        try (RawClient subscriber = broker.client(V5, "subscriber")) {
            subscriber.subscribe("events", 0);
            try (RawClient newcomer = broker.client(V5, "newcomer")) {
                subscriber.expectPublish("events", "{\"clientid\":\"newcomer\",\"event\":\"client.connected\"}");
                assertThat(newcomer.version()).isEqualTo(V5);
            }
        }
    }

    @Test
    void acknowledgementsAreSources() {
        try (RawClient watcher = broker.client(V5, "watcher");
                RawClient publisher = broker.client(V5, "publisher");
                RawClient subscriber = broker.client(V5, "subscriber")) {
            watcher.subscribe("acks", 0);
            subscriber.subscribe("to-ack", 1);
            await().until(
                            () -> { // the first ones may come before the broker knows of the subscription
                                publisher.publish("to-ack", "x", 1);
                                subscriber.pubAck(subscriber.expectPublish("to-ack", "x"));
                                subscriber.ping();
                                return counts("acked", "out").matched.sum() > 0;
                            });
            watcher.expectPublish("acks", "{\"clientid\":\"subscriber\",\"from_clientid\":\"publisher\",\"qos\":1}");
        }
    }

    @Test
    void decisionsOnClientsAreSources() {
        try (RawClient watcher = broker.client(V5, "watcher");
                RawClient client = broker.client(V5, "decided")) {
            watcher.subscribe("decisions", 0);
            await().until(
                            () -> { // the first ones may come before the broker knows of the subscription
                                client.publish("to-decide", "x", 1);
                                return counts("decided", "out").matched.sum() > 0;
                            });
            watcher.expectPublish(
                    "decisions",
                    "{\"clientid\":\"decided\",\"action\":\"publish\",\"topic\":\"to-decide\",\"result\":\"allow\"}");
        }
    }

    @Test
    void problemsAreReportedTogetherBeforeTheStart() {
        Map<String, RuleConfig> rules = Map.of(
                "one",
                RuleConfig.builder("SELECT FROM \"a\"")
                        .actions(Map.of("x", action("nothing")))
                        .build(),
                "two",
                RuleConfig.builder("SELECT * FROM \"$events/message_lost\"")
                        .actions(Map.of("y", action("file")))
                        .build());

        assertThatThrownBy(
                        () -> RulesModule.of(BrokerConfig.builder().rules(rules).build()))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        error -> assertThat(error.problems())
                                .hasSize(4)
                                .anyMatch(problem -> problem.startsWith("rules.one.sql has a mistake: line 1, column "))
                                .anyMatch(problem -> problem.startsWith("rules.one.actions.x.type is nothing"))
                                .anyMatch(problem -> problem.startsWith(
                                        "rules.two.sql has a mistake: line 1, column 15: this broker does not publish the event"
                                                + " $events/message_lost; it has $events/client/connected, "))
                                .anyMatch(problem -> problem.equals("rules.two.actions.y.path must be set")));
    }

    @Test
    void sourceOfAnotherBrokerIsNoTopic() {
        Map<String, String> keys = live("type", "console");
        keys.put("sql", "SELECT * FROM \"$bridges/mqtt:up\"");

        assertThat(module.check("live", keys).block())
                .singleElement()
                .asString()
                .isEqualTo(
                        "rules.live.sql has a mistake: line 1, column 15: $bridges/mqtt:up is no topic: what bridges and"
                                + " sources bring is published to topics of this broker; name these topics\n"
                                + "SELECT * FROM \"$bridges/mqtt:up\"\n"
                                + " ".repeat(14) + "^");
    }

    @Test
    void fileOfTwoActionsIsRefused() {
        RuleActionConfig action = action("file", "path", "twice.jsonl");
        Map<String, RuleConfig> rules = new LinkedHashMap<>();
        rules.put(
                "one",
                RuleConfig.builder("SELECT * FROM \"a\"")
                        .actions(Map.of("x", action))
                        .build());
        rules.put(
                "two",
                RuleConfig.builder("SELECT * FROM \"a\"")
                        .actions(Map.of("y", action("file", "path", "below/../twice.jsonl")))
                        .build());
        rules.put(
                "three",
                RuleConfig.builder("SELECT * FROM \"a\"")
                        .actions(Map.of("z", action("file", "path", "dead.jsonl")))
                        .deadLetterFile(FOLDER.resolve("dead.jsonl"))
                        .build());

        assertThatThrownBy(
                        () -> RulesModule.of(BrokerConfig.builder().rules(rules).build()))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        error -> assertThat(error.problems())
                                .hasSize(2)
                                .anyMatch(problem -> problem.contains("rules.two.actions.y.path is a file that is also"
                                        + " written by rules.one.actions.x.path; "))
                                .anyMatch(
                                        problem -> problem.contains(
                                                "rules.three.actions.z.path is a file that is also written for dead letters of rules.three; ")));
    }

    private static Map<String, String> live(String... pairs) {
        Map<String, String> keys = new LinkedHashMap<>(Map.of("sql", "SELECT topic FROM \"live/#\""));
        for (int i = 0; i < pairs.length; i += 2) {
            keys.put("actions.out." + pairs[i], pairs[i + 1]);
        }
        return keys;
    }

    @Test
    void fileOfAnotherActionIsRefusedForOperatorsToo() {
        String path = FOLDER.resolve("hot.jsonl").toString();
        assertThat(module.check("live", live("type", "file", "path", path)).block())
                .singleElement()
                .asString()
                .contains("rules.live.actions.out.path is a file that is also written by rules.hot.actions.log.path");

        Map<String, String> own =
                live("type", "file", "path", FOLDER.resolve("live.jsonl").toString());
        module.put("live", own).block();
        assertThat(module.check("live", own).block()).isEmpty(); // its own file
        assertThat(module.check("other", own).block()).hasSize(1);
        module.remove("live").block();
        assertThat(module.check("other", own).block()).isEmpty();
    }

    /** Without a store, with a sink that is away. */
    @Test
    void accountClosesWhileMessagesWaitAndAreDropped() {
        Map<String, String> keys = live("type", "http", "url", "http://127.0.0.1:10/", "full", "drop");
        keys.putAll(
                Map.of("actions.out.inflight", "2", "actions.out.buffer", "1", "actions.out.max-queued-messages", "5"));
        module.put("live", keys).block();
        try (RawClient client = broker.client(V5, "publisher")) {
            for (int i = 0; i < 12; i++) {
                client.publish("live/1", "", 1);
            }
        }

        await().untilAsserted(() -> {
            RuleStatus.Counts counts = module.status().stream()
                    .filter(rule -> rule.name().equals("live"))
                    .findFirst()
                    .orElseThrow()
                    .actions()
                    .get(0)
                    .counts();
            assertThat(counts.matched()).isEqualTo(2);
            assertThat(counts.matched())
                    .isEqualTo(counts.success() + counts.dead() + counts.queued() + counts.dropped());
            assertThat(counts.waiting()).isEqualTo(5);
            assertThat(counts.queueDropped()).isEqualTo(12 - 5 - 3); // the window has three
        });
        module.remove("live").block();
    }
}
