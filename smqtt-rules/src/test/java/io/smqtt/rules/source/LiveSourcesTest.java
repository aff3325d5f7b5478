// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SourceConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.source.http.HttpSourceFactory;
import io.smqtt.spi.ActionType;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Sources that operators make, change and delete while the broker runs. */
class LiveSourcesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Inlet inlet = new Inlet();
    private SourcesModule module;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config.sources(configured()), parts -> {
        module = SourcesModule.of(
                BrokerConfig.builder().sources(configured()).build(),
                Map.of(inlet.type(), inlet, "http", new HttpSourceFactory()));
        module.put("early", keys("early", "early")).block(PATIENCE);
        module.put("gone", keys("gone", "gone")).block(PATIENCE);
        module.remove("gone").block(PATIENCE);
        return parts.module(module);
    });

    private static Map<String, SourceConfig> configured() {
        return Map.of(
                "fixed",
                SourceConfig.builder("inlet", "fixed")
                        .settings(Map.of("name", new ConfigValue("fixed", "test", Path.of(""))))
                        .build());
    }

    private static Map<String, String> keys(String name, String topic) {
        return Map.of("type", "inlet", "name", name, "topic", topic);
    }

    private SourceStatus.State state(String name) {
        return module.status().stream()
                .filter(status -> status.name().equals(name))
                .findFirst()
                .orElseThrow()
                .state();
    }

    private List<String> names() {
        return module.status().stream().map(SourceStatus::name).toList();
    }

    private static void publish(Inlet.Run run, String payload) {
        assertThat(run.out().publish(Map.of("payload", payload)).block(PATIENCE))
                .isTrue();
    }

    @Test
    void aSourceBeginsWithTheBrokerIfItIsKnownBefore() {
        inlet.await("early");
        assertThat(names()).containsExactly("fixed", "early");
        assertThat(inlet.events).doesNotContain("begin gone");
    }

    @Test
    void aSourceComesChangesAndGoes() {
        try (RawClient subscriber = broker.client(ProtocolVersion.MQTT_5, "subscriber")) {
            subscriber.subscribe("t/#", 1);
            module.put("live", keys("a", "t/1")).block(PATIENCE);
            publish(inlet.await("a"), "x");
            subscriber.expectPublish("t/1", "x");

            module.put("live", keys("b", "t/2")).block(PATIENCE);
            publish(inlet.await("b"), "y");
            subscriber.expectPublish("t/2", "y");

            module.remove("live").block(PATIENCE);
            assertThat(names()).doesNotContain("live");
            assertThat(inlet.events)
                    .filteredOn(event -> event.endsWith(" a") || event.endsWith(" b"))
                    .containsExactly("begin a", "end a", "close a", "begin b", "end b", "close b");
            module.remove("live").block(PATIENCE);
        }
    }

    @Test
    void theNextRunBeginsWhenTheFormerOneIsOver() {
        module.put("live", keys("a", "t")).block(PATIENCE);
        inlet.await("a");
        Sinks.Empty<Void> over = Sinks.empty();
        inlet.over = over.asMono();
        Mono<Void> change = Mono.fromFuture(module.put("live", keys("b", "t")).toFuture());
        await().atMost(PATIENCE).until(() -> inlet.events.contains("end a"));
        assertThat(inlet.events).doesNotContain("close a", "begin b");

        inlet.over = Mono.empty();
        over.tryEmitEmpty();
        change.block(PATIENCE);
        assertThat(inlet.events.indexOf("close a")).isBetween(0, inlet.events.indexOf("begin b"));
    }

    @Test
    void whatTheFormerRunHasPublishedIsAnsweredAlsoAfterItsEnd() {
        module.put("live", keys("a", "t")).block(PATIENCE);
        Inlet.Run former = inlet.await("a");
        module.remove("live").block(PATIENCE);

        publish(former, "late");
    }

    @Test
    void aSourceIsSwitchedOffAndOn() {
        Map<String, String> off =
                Map.of("type", "inlet", "name", "a", "topic", "t", "enabled", "false", "nodes", "each");
        module.put("live", keys("a", "t")).block(PATIENCE);
        inlet.await("a");

        module.put("live", off).block(PATIENCE);
        assertThat(inlet.events).contains("end a", "close a");
        assertThat(names()).doesNotContain("live");
        assertThat(module.operate("live", Sources.Operation.START)).isFalse();

        module.put("live", keys("a", "t")).block(PATIENCE);
        inlet.await("a");
        module.operate("live", Sources.Operation.STOP);
        assertThat(state("live")).isEqualTo(SourceStatus.State.STOPPED);
        module.operate("live", Sources.Operation.START);
        inlet.await("a");
    }

    @Test
    void aSourceThatCannotBeUsedHereEndsTheFormerOneAndSaysWhy() {
        module.put("live", keys("a", "t")).block(PATIENCE);
        inlet.await("a");
        Map<String, String> wrong = Map.of("type", "inlet", "name", "b", "topic", "t/${x", "qos", "1");

        assertThatThrownBy(() -> module.put("live", wrong).block(PATIENCE)).isInstanceOf(ConfigurationException.class);
        assertThat(inlet.runs).noneMatch(run -> run.name().equals("a"));
        SourceStatus status = module.status().get(module.status().size() - 1);
        assertThat(status.name()).isEqualTo("live");
        assertThat(status.state()).isEqualTo(SourceStatus.State.FAILING);
        assertThat(status.lastError()).contains("sources.live.topic");
        assertThat(module.operate("live", Sources.Operation.START)).isFalse();

        module.put("live", keys("a", "t")).block(PATIENCE);
        inlet.await("a");
        assertThat(names()).containsOnlyOnce("live");
    }

    @Test
    void mistakesHaveTheirKeyAndReason() {
        assertThat(problems("x", Map.of("type", "inlet", "topic", "t", "naem", "a", "qos", "3")))
                .contains("sources.x.qos must be 0 to 2, but is 3");
        assertThat(problems("x", Map.of("type", "inlet", "topic", "t", "naem", "a")))
                .contains("sources.x.naem is no key of this type, which has name, code", "sources.x.name must be set");
        assertThat(problems("x", Map.of("type", "inlet", "name", "a"))).contains("sources.x.topic must be set");
        assertThat(problems("x", Map.of("type", "kafk", "topic", "t")))
                .contains("sources.x.type is kafk, but the types that are present are");
        assertThat(problems("x", Map.of("type", "http", "topic", "t", "host", "0.0.0.0")))
                .contains("sources.x.host needs token-file or signature-secret-file");
        assertThat(problems("x", Map.of("type", "http", "topic", "t", "token-file", "none/of/these")))
                .contains("sources.x.token-file is a file that cannot be read");
        assertThat(problems("fixed", keys("a", "t"))).contains("sources.fixed is in the configuration");
        assertThat(problems("X", keys("a", "t"))).contains("sources.X must have 1 to 64 characters");
        assertThat(problems("x.y", keys("a", "t"))).contains("has a name with a dot");
        assertThat(problems("x", keys("a", "t"))).isEmpty();
        assertThat(inlet.events).doesNotContain("begin a");
    }

    private String problems(String name, Map<String, String> keys) {
        return String.join(
                "\n", module.check(name, keys).blockOptional(PATIENCE).orElseThrow());
    }

    @Test
    void aSourceOfTheConfigurationStays() {
        inlet.await("fixed");
        assertThatThrownBy(() -> module.put("fixed", keys("a", "t")).block(PATIENCE))
                .hasMessageContaining("is in the configuration, and cannot be changed");
        module.remove("fixed").block(PATIENCE);
        assertThat(names()).contains("fixed");
        assertThat(state("fixed")).isEqualTo(SourceStatus.State.RUNNING);
    }

    @Test
    void aSourceThatDoesNotExistYetIsTriedOut() {
        assertThat(module.probe(keys("each", "t")).block(PATIENCE)).isEmpty();
        assertThat(module.probe(keys("other", "t")).block(PATIENCE)).isEqualTo("no such server");
        assertThat(inlet.events).contains("close each").doesNotContain("begin each");
        assertThatThrownBy(() ->
                        module.probe(Map.of("type", "inlet", "topic", "t")).block(PATIENCE))
                .isInstanceOf(ConfigurationException.class);
    }

    @Test
    void aPortIsFreeAgainWhenItsSourceWasDeleted() {
        String port = String.valueOf(LoopbackPorts.one());
        Map<String, String> hook = Map.of("type", "http", "topic", "t", "port", port);
        assertThat(module.probe(hook).block(PATIENCE)).isEmpty();
        module.put("hook", hook).block(PATIENCE);
        await().atMost(PATIENCE).until(() -> module.probe("hook").block(PATIENCE), String::isEmpty);
        assertThat(module.probe(hook).block(PATIENCE)).isNotEmpty();

        module.put("hook", Map.of("type", "http", "topic", "u", "port", port)).block(PATIENCE);
        await().atMost(PATIENCE).until(() -> module.probe("hook").block(PATIENCE), String::isEmpty);
        assertThat(state("hook")).isEqualTo(SourceStatus.State.RUNNING);
        module.remove("hook").block(PATIENCE);
        assertThat(module.probe(hook).block(PATIENCE)).isEmpty();
    }

    @Test
    void typesHaveTheirKeysAndThoseOfAll() {
        List<ActionType> types = module.types();
        assertThat(types.stream().map(ActionType::name)).contains("http", "inlet");
        ActionType type = types.stream()
                .filter(one -> one.name().equals("inlet"))
                .findFirst()
                .orElseThrow();
        assertThat(type.keys().stream().map(ActionType.Key::name)).containsExactly("name", "code");
        assertThat(type.keys().get(0).isRequired()).isTrue();
        assertThat(type.keys().get(1).isSecret()).isTrue();
        assertThat(type.commonKeys().stream().map(ActionType.Key::name))
                .containsExactly("topic", "payload", "qos", "retain", "nodes", "inflight", "min-delay", "max-delay");
        assertThat(type.commonKeys().get(0).isRequired()).isTrue();
        assertThat(type.commonKeys().get(4).choices()).containsExactly("one", "each");
    }
}
