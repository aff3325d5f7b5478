// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.BrokerModule;
import io.smqtt.ConsumerOptions;
import io.smqtt.MessageFlux;
import io.smqtt.ReceivedMessage;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.spi.RuleStatus;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.store.ManualStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Rules of operators, with a store. */
class LiveRulesTest {

    private static final Map<String, String> BROKEN =
            live("type", "http", "url", "http://127.0.0.1:1/", "ca", "missing.pem");

    private final ManualStore store = new ManualStore();
    private RulesModule module;
    private LiveRules rules;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config, parts -> {
        module = RulesModule.of(BrokerConfig.defaults());
        return parts.module(module).store(store);
    });

    @BeforeEach
    void make() {
        rules = patientFor(Duration.ofMinutes(1)); // an answer within the time of a slow machine, too
    }

    private LiveRules patientFor(Duration patience) {
        return new LiveRules(
                Map.of(),
                SinkTypes.find(List.of(held)),
                message -> broker.broker().publish(message).then(),
                null,
                patience);
    }

    @AfterEach
    void close() {
        rules.close();
    }

    private static Map<String, String> live(String... pairs) {
        Map<String, String> keys = new LinkedHashMap<>(Map.of("sql", "SELECT topic FROM \"live/#\""));
        for (int i = 0; i < pairs.length; i += 2) {
            keys.put("actions.out." + pairs[i], pairs[i + 1]);
        }
        return keys;
    }

    private static Map<String, String> republish(String topic) {
        return live("type", "republish", "topic", topic, "payload", "${topic}");
    }

    private Rule.Surroundings stored() {
        Rule.Surroundings of = module.surroundings();
        return new Rule.Surroundings(
                of.core(), of.threads(), of.budget(), of.publisher(), of.node(), true, null, of.letterFiles(), true);
    }

    /** A queue of a rule that a former process has had. */
    private void queue(String rule) {
        MessageFlux<ReceivedMessage> queue = broker.broker()
                .receive(
                        "live/#", ConsumerOptions.DEFAULTS.localOnly().durable(RuleAction.consumer(true, rule, "out")));
        Disposable consumer = queue.subscribe();
        queue.ready().block();
        consumer.dispose();
    }

    private @Nullable Session session(String rule) {
        return stored().core()
                .sessions()
                .find(InProcess.PREFIX + InProcess.LOCAL + RuleAction.consumer(true, rule, "out"));
    }

    @Test
    void queueOfARuleThatCannotBeMadeStays() {
        queue("broken");
        queue("deleted");
        queue("sound");
        rules.put("broken", BROKEN).block();
        rules.put("sound", republish("sound")).block();
        rules.begin(stored());

        rules.endFormer(stored()).block();

        await().until(() -> session("deleted") == null);
        assertThat(session("broken")).isNotNull();
        assertThat(session("sound")).isNotNull();
        assertThatThrownBy(() -> rules.put("broken", BROKEN).block()).isInstanceOf(ConfigurationException.class);
        assertThat(rules.status())
                .filteredOn(rule -> rule.name().equals("broken"))
                .flatExtracting(RuleStatus::actions)
                .singleElement()
                .satisfies(action -> assertThat(action.lastError()).contains("rules.broken.actions.out.ca"));
        rules.remove("broken").block();
        assertThat(rules.status()).extracting(RuleStatus::name).containsExactly("sound");
        await().until(() -> session("broken") == null);
        rules.remove("sound").block();
        await().until(() -> session("sound") == null);
    }

    @Test
    void ruleWhoseChangeCannotBeUsedRunsAsBeforeAndSaysSo() {
        rules.begin(stored());
        rules.put("rule", republish("copy")).block();
        assertThat(rules.status())
                .flatExtracting(RuleStatus::actions)
                .singleElement()
                .satisfies(action -> assertThat(action.lastError()).isNull());

        assertThatThrownBy(() -> rules.put("rule", BROKEN).block()).isInstanceOf(ConfigurationException.class);

        assertThat(rules.status())
                .flatExtracting(RuleStatus::actions)
                .singleElement()
                .satisfies(action -> {
                    assertThat(action.type()).isEqualTo("republish");
                    assertThat(action.lastError())
                            .startsWith("the former rule runs")
                            .contains("actions.out.ca");
                });
        assertThat(session("rule")).isNotNull();

        rules.put("rule", republish("other")).block();
        assertThat(rules.status())
                .flatExtracting(RuleStatus::actions)
                .singleElement()
                .satisfies(action -> assertThat(action.lastError()).isNull());
    }

    /** A sink that answers when a test says so. */
    private final class Held implements SinkFactory {

        volatile boolean held = true;
        volatile Runnable opening = () -> {};
        volatile @Nullable LinkageError misfit;

        @Override
        public String type() {
            return "held";
        }

        @Override
        public List<SinkSetting> settings() {
            LinkageError error = misfit;
            if (error != null) {
                throw error;
            }
            return List.of();
        }

        @Override
        public Sink open(SinkContext context) {
            return new Sink() {
                @Override
                public Mono<BatchResult> send(List<SinkRecord> batch) {
                    return held ? Mono.never() : Mono.just(BatchResult.DONE);
                }

                @Override
                public Mono<Void> check() {
                    return Mono.empty();
                }

                @Override
                public int
                        maxBatch() { // called when the action is made, so between the decision to begin a rule and its
                    // subscription
                    opening.run();
                    return 100;
                }

                @Override
                public void close() {}
            };
        }
    }

    private final Held held = new Held();

    private RuleStatus.Counts counts() {
        return rules.status().get(0).actions().get(0).counts();
    }

    @Test
    void changeContinuesTheAccountAndShowsWhatItHasLost() {
        rules.begin(stored());
        rules.put("rule", live("type", "held")).block();
        try (RawClient publisher = broker.client(ProtocolVersion.MQTT_5, "publisher")) {
            for (int i = 0; i < 5; i++) {
                publisher.publish("live/" + i, "", i % 2);
            }
            await().until(() -> counts().queued() == 5);

            Map<String, String> changed = live("type", "held");
            changed.put("sql", "SELECT topic, qos FROM \"live/#\"");
            rules.put("rule", changed).block();

            await().untilAsserted(() -> assertThat(counts().queued()).isEqualTo(2)); // those of QoS 1, from the queue
            assertThat(counts().received()).isEqualTo(5);
            assertThat(counts().matched()).isEqualTo(5);
            assertThat(counts().dropped()).isEqualTo(3);
            held.held = false;
            rules.put("rule", live("type", "held")).block();
            await().untilAsserted(() -> assertThat(counts().success()).isEqualTo(2));
            assertThat(counts().received()).isEqualTo(5);
            assertThat(counts().dropped()).isEqualTo(3);
            assertThat(counts().queued() + counts().pending()).isZero();
        }
    }

    /** The broker begins to stop while a rule is being made: no consumer stays open. */
    @Test
    void ruleThatBeginsWhileTheBrokerStopsIsClosed() throws InterruptedException {
        rules.begin(stored());
        Thread stop = new Thread(rules::close);
        held.opening = () -> {
            if (stop.getState() == Thread.State.NEW) {
                stop.start();
                await().until(() ->
                        stop.getState() == Thread.State.BLOCKED || stop.getState() == Thread.State.TERMINATED);
            }
        };

        rules.put("rule", live("type", "held")).subscribe(done -> {}, error -> {});

        await().until(() -> stop.getState() == Thread.State.TERMINATED);
        assertThat(rules.all().get(0).actions()).singleElement().matches(RuleAction::isStopped);
    }

    @Test
    void ruleWhoseExtensionDoesNotFitIsShownWithTheReason() {
        rules.begin(stored());
        held.misfit = new NoClassDefFoundError("a/b/C");

        assertThatThrownBy(() -> rules.put("rule", live("type", "held")).block())
                .isInstanceOf(ConfigurationException.class);

        assertThat(rules.status())
                .flatExtracting(RuleStatus::actions)
                .singleElement()
                .satisfies(action -> assertThat(action.lastError()).contains("does not fit", "a/b/C"));
        held.misfit = null;
        rules.put("other", republish("other")).block(); // and is tried again after it
        await().until(() -> rules.all().size() == 2);
    }

    /** An error that is no exception, in the midst of a statement. */
    @Test
    void messageWhoseEvaluationEndsWithAnErrorIsADeadLetter() {
        Rule.Surroundings of = stored();
        BrokerModule.Core core = of.core();
        BrokerModule.Core failing = new BrokerModule.Core(
                core.broker(),
                core.config(),
                core.router(),
                core.sessions(),
                () -> {
                    throw new AssertionError("as the test wants it");
                },
                core.observer(),
                core.budget(),
                core.payloads(),
                core.traffic(),
                core.topicRules(),
                core.listeners(),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
        rules.begin(new Rule.Surroundings(
                failing, of.threads(), of.budget(), of.publisher(), of.node(), true, null, of.letterFiles(), true));
        Map<String, String> timed = republish("copy");
        timed.put("sql", "SELECT publish_received_at AS at FROM \"live/#\"");
        rules.put("rule", timed).block();
        try (RawClient publisher = broker.client(ProtocolVersion.MQTT_5, "publisher")) {
            publisher.publish("live/1", "", 1);

            await().until(() -> counts().dead() == 1);
        }
        assertThat(counts().pending()).isZero();
    }

    /** A change is asked for without waiting for it, as the live objects do. */
    @Test
    void settledCompletesWhenTheRulesTakeMessages() {
        rules.begin(stored());
        rules.put("rule", republish("copy")).subscribe();

        rules.settled().block();

        assertThat(session("rule")).isNotNull();
        assertThat(rules.status())
                .flatExtracting(RuleStatus::actions)
                .singleElement()
                .satisfies(action -> assertThat(action.lastError()).isNull());
        rules.put("broken", BROKEN).subscribe(done -> {}, error -> {});
        rules.settled().block(); // a change that fails ends, too
    }

    @Test
    void queueOfARuleThatCouldNotBeMadeEndsWhenTheRuleHasOtherActions() {
        queue("changed");
        queue("disabled");
        rules.put("changed", BROKEN).block();
        rules.put("disabled", BROKEN).block();
        rules.begin(stored());
        Map<String, String> other = new LinkedHashMap<>();
        republish("to").forEach((key, value) -> other.put(key.replace(".out.", ".other."), value));
        Map<String, String> disabled = republish("to");
        disabled.put("enabled", "false");

        rules.put("changed", other).block();
        rules.put("disabled", disabled).block();

        await().until(() -> session("changed") == null && session("disabled") == null);
        assertThat(rules.all()).extracting(Rule::name).containsExactly("changed");
    }

    @Test
    void ruleWhoseFileIsTakenIsMadeWhenItIsFree(@TempDir Path directory) {
        rules.begin(stored());
        Map<String, String> first =
                live("type", "file", "path", directory.resolve("1").toString());
        rules.put("former", first).block();
        assertThatThrownBy(() -> rules.put("next", first).block())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("path");
        assertThat(rules.all()).extracting(Rule::name).containsExactly("former");

        rules.put("former", live("type", "file", "path", directory.resolve("2").toString()))
                .block();

        await().until(() -> rules.all().size() == 2);
        assertThat(rules.all()).extracting(Rule::name).containsExactly("former", "next");
    }

    @Test
    void changeThatCameBeforeTheBeginningIsBehindEarlierOnes() {
        rules.put("a", republish("a")).block();
        rules.begin(stored());
        rules.remove("a").block();

        assertThat(rules.all()).isEmpty();
    }

    @Test
    void ruleThatIsSubscribedLateBeginsThenAndHoldsUpNoOther() {
        rules.close();
        rules = patientFor(Duration.ofMillis(100));
        rules.begin(stored());
        store.hold();

        rules.put("late", republish("late")).block();
        rules.put("other", republish("other")).block();
        assertThat(rules.all()).extracting(Rule::name).containsExactly("late", "other");
        store.release();

        await().until(() -> session("late") != null && session("other") != null);
        try (RawClient client = broker.client(ProtocolVersion.MQTT_5, "subscriber");
                RawClient publisher = broker.client(ProtocolVersion.MQTT_5, "publisher")) {
            client.subscribe("late", 0);
            publisher.publish("live/1", "", 1);
            client.expectPublish("late", "live/1");
        }
    }
}
