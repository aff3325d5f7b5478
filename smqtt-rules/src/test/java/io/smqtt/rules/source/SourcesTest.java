// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SourceConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkPage;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.session.QueueBudget;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.Election;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** Sources of a broker in memory. */
class SourcesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final int MOST = 1_024;

    private final Inlet inlet = new Inlet();
    private volatile boolean otherIsThere = true;
    private volatile QueueBudget budget;
    private SourcesModule module;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config.sources(sources())
                    .limits(LimitsConfig.builder().maxPacketBytes(MOST).build()),
            parts -> {
                module = SourcesModule.of(
                        BrokerConfig.builder().sources(sources()).build(), Map.of(inlet.type(), inlet));
                return parts.module(module).module(cluster());
            });

    private static Map<String, SourceConfig> sources() {
        Map<String, SourceConfig> sources = new LinkedHashMap<>();
        sources.put(
                "each",
                SourceConfig.builder("inlet", "in/${key}")
                        .nodes(SourceConfig.Nodes.EACH)
                        .inflight(2)
                        .minDelay(Duration.ofMillis(1))
                        .maxDelay(Duration.ofMillis(5))
                        .settings(Map.of("name", new ConfigValue("each", "test", Path.of(""))))
                        .build());
        sources.put(
                "one",
                SourceConfig.builder("inlet", "one")
                        .payload("{\"of\": \"${payload}\"}")
                        .qos(2)
                        .settings(Map.of("name", new ConfigValue("one", "test", Path.of(""))))
                        .build());
        return sources;
    }

    private static ClusterStatus.Node node(String name) {
        return new ClusterStatus.Node(name, 1, "127.0.0.1:7946", "", 1, 0);
    }

    /** A view of two nodes; this one does not have the source as long as the other one is there. */
    private ClusterStatus view(boolean reachable) {
        String self = "n1";
        for (int i = 2; ; i++) {
            ClusterStatus view = view(self, "n" + i, true);
            if (!Election.isChosen("source:one", view)) {
                return view(self, "n" + i, reachable);
            }
        }
    }

    private static ClusterStatus view(String self, String other, boolean reachable) {
        Map<ClusterTransport.Refusal, Long> refused = new EnumMap<>(ClusterTransport.Refusal.class);
        for (ClusterTransport.Refusal reason : ClusterTransport.Refusal.values()) {
            refused.put(reason, 0L);
        }
        return new ClusterStatus(
                ClusterStatus.State.JOINED,
                node(self),
                0,
                List.of(new ClusterStatus.PeerStatus(node(other), reachable, 0, 0, 0, 0, 0, Map.of())),
                new ClusterStatus.Traffic(0, 0, 0, 0, 0, 0, 0, 0, 0, refused),
                ClusterStatus.Wills.NONE,
                ClusterStatus.Retained.NONE,
                Map.of());
    }

    private BrokerModule cluster() {
        return new BrokerModule() {
            @Override
            public Supplier<ClusterStatus> cluster() {
                return () -> view(otherIsThere);
            }

            @Override
            public Mono<Void> start(Core core) {
                budget = core.budget();
                return Mono.empty();
            }

            @Override
            public Mono<Void> stop() {
                return Mono.empty();
            }
        };
    }

    private SourceStatus status(String name) {
        return module.status().stream()
                .filter(status -> status.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, Object> columns(Object key, Object payload) {
        Map<String, Object> columns = new HashMap<>();
        columns.put("key", key);
        columns.put("payload", payload);
        return columns;
    }

    @Test
    void whatArrivesIsPublishedAndThenAcknowledged() {
        try (RawClient subscriber = broker.client(ProtocolVersion.MQTT_5, "subscriber")) {
            subscriber.subscribe("in/#", 1);
            SourceOutput out = inlet.await("each").out();

            assertThat(out.publish(columns("a", "text")).block(PATIENCE)).isTrue();
            assertThat(out.publish(columns("a/b", new byte[] {'o', 'k'})).block(PATIENCE))
                    .isTrue();
            assertThat(out.publish(columns("a/#", "x")).block(PATIENCE)).isFalse();
            assertThat(out.publish(columns("c", null)).block(PATIENCE)).isTrue();

            subscriber.expectPublish("in/a", "text");
            subscriber.expectPublish("in/a/b", "ok");
            subscriber.expectPublish("in/c", "");
            SourceStatus status = status("each");
            assertThat(status.received()).isEqualTo(4);
            assertThat(status.published()).isEqualTo(3);
            assertThat(status.refused()).isOne();
            assertThat(status.failed() + status.inflight()).isZero();
            assertThat(status.state()).isEqualTo(SourceStatus.State.RUNNING);
        }
    }

    @Test
    void messagesAreNoLargerThanThoseOfClients() {
        try (RawClient subscriber = broker.client(ProtocolVersion.MQTT_5, "subscriber")) {
            subscriber.subscribe("in/#", 1);
            SourceOutput out = inlet.await("each").out();

            assertThat(out.publish(columns("a", "x".repeat(MOST - 13))).block(PATIENCE))
                    .isFalse();
            String largest = "x".repeat(MOST - 14);
            assertThat(out.publish(columns("a", largest)).block(PATIENCE)).isTrue();
            subscriber.expectPublish("in/a", largest);
            assertThat(status("each").refused()).isOne();
        }
    }

    @Test
    void whatNobodyWaitsForAnyMoreIsPublishedAndCounted() {
        try (RawClient subscriber = broker.client(ProtocolVersion.MQTT_5, "subscriber")) {
            subscriber.subscribe("in/#", 1);
            SourceOutput out = inlet.await("each").out();
            out.publish(columns("a", "text")).subscribe().dispose();

            subscriber.expectPublish("in/a", "text");
            await().atMost(PATIENCE).until(() -> status("each").published() == 1);
            assertThat(status("each").failed() + status("each").inflight()).isZero();
        }
    }

    @Test
    void whatIsTurnedAwayIsCounted() {
        SourceOutput out = inlet.await("each").out();
        out.rejected("too many");
        out.rejected("too many");

        assertThat(status("each").rejected()).isEqualTo(2);
        assertThat(status("each").received()).isZero();
    }

    @Test
    void anOperatorStopsAndStartsASource() {
        Inlet.Run first = inlet.await("each");
        assertThat(module.operate("none", Sources.Operation.STOP)).isFalse();
        assertThat(module.operate("each", Sources.Operation.STOP)).isTrue();
        assertThat(inlet.runs).doesNotContain(first);
        assertThat(status("each").state()).isEqualTo(SourceStatus.State.STOPPED);
        module.operate("each", Sources.Operation.STOP);

        module.operate("each", Sources.Operation.START);
        Inlet.Run second = inlet.await("each");
        module.operate("each", Sources.Operation.START);
        assertThat(inlet.await("each")).isSameAs(second);
        module.operate("each", Sources.Operation.RESTART);
        assertThat(inlet.await("each")).isNotSameAs(second);
        assertThat(status("each").state()).isEqualTo(SourceStatus.State.RUNNING);

        await().atMost(PATIENCE).until(() -> status("one").state() == SourceStatus.State.STANDBY);
        module.operate("one", Sources.Operation.STOP);
        assertThat(status("one").state()).isEqualTo(SourceStatus.State.STOPPED);
        otherIsThere = false;
        module.operate("one", Sources.Operation.START);
        inlet.await("one");
    }

    @Test
    void aProbeSaysWhyASourceIsNotReached() {
        assertThat(module.probe("each").block(PATIENCE)).isEmpty();
        assertThat(module.probe("one").block(PATIENCE)).isEqualTo("no such server");
        assertThat(module.probe("none").blockOptional(PATIENCE)).isEmpty();
    }

    @Test
    void aSourceIsPausedWhileTheQueuesOfTheBrokerAreFull() {
        Inlet.Run run = inlet.await("each");
        assertThat(run.out().isPaused()).isFalse();
        QueueBudget queues = budget;
        queues.press();
        assertThat(run.out().isPaused()).isTrue();
        assertThat(status("each").state()).isEqualTo(SourceStatus.State.PAUSED);
        queues.ease();
        assertThat(run.out().isPaused()).isFalse();
    }

    @Test
    void aSourceThatEndsBeginsAgain() {
        Inlet.Run first = inlet.await("each");
        first.end().tryEmitError(new SinkException("no such server", true));

        Inlet.Run second = await().atMost(PATIENCE).until(() -> inlet.await("each"), run -> run != first);
        assertThat(status("each").state()).isEqualTo(SourceStatus.State.FAILING);
        assertThat(status("each").lastError()).isEqualTo("no such server");
        second.out().working();
        assertThat(status("each").state()).isEqualTo(SourceStatus.State.RUNNING);
        assertThat(status("each").lastError()).isNull();
    }

    @Test
    void oneNodeHasASourceAndAnotherOneWhenItFails() {
        inlet.await("each");
        await().atMost(PATIENCE).until(() -> status("one").state() == SourceStatus.State.STANDBY);
        otherIsThere = false;

        SourceOutput out = inlet.await("one").out();
        assertThat(status("one").state()).isEqualTo(SourceStatus.State.RUNNING);
        try (RawClient subscriber = broker.client(ProtocolVersion.MQTT_5, "subscriber")) {
            subscriber.subscribe("one", 1);
            out.publish(columns("a", "a \"b\"")).block(PATIENCE);
            subscriber.expectPublish("one", "{\"of\": \"a \\\"b\\\"\"}");
        }
        otherIsThere = true;
        await().atMost(PATIENCE)
                .until(() -> inlet.runs.stream().noneMatch(run -> run.name().equals("one")));
        assertThat(status("one").state()).isEqualTo(SourceStatus.State.STANDBY);
    }

    @Test
    void nothingThatArrivesChoosesATopicOfTheBroker() {
        MessageTemplate any =
                new MessageTemplate("s", SourceConfig.builder("inlet", "${key}").build());
        assertThatThrownBy(() -> any.message(columns("$SYS/broker", "x"))).hasMessage("the topic is one of the broker");
        MessageTemplate own = new MessageTemplate(
                "s", SourceConfig.builder("inlet", "$app/${key}").build());
        assertThat(own.message(columns("a", "x")).topic().value()).isEqualTo("$app/a");
        assertThatThrownBy(() -> new MessageTemplate(
                        "s", SourceConfig.builder("inlet", "a/#").build()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("sources.s.topic is not valid");
    }

    @Test
    void aTopicNeedsAllItsValues() {
        MessageTemplate template = new MessageTemplate(
                "s", SourceConfig.builder("inlet", "t/${key.id}").build());
        assertThat(template.message(columns(Map.of("id", 7), null)).topic().value())
                .isEqualTo("t/7");
        assertThatThrownBy(() -> template.message(columns(Map.of(), "x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a placeholder of the topic has no value");
        assertThatThrownBy(() -> template.message(columns(null, "x"))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void mistakesAreFoundBeforeTheStart() {
        Map<String, SourceConfig> wrong = new LinkedHashMap<>();
        wrong.put("a", SourceConfig.builder("kafk", "t").build());
        wrong.put("b", SourceConfig.builder("inlet", "t").build());
        wrong.put(
                "c",
                SourceConfig.builder("http", "${t")
                        .settings(Map.of("portt", new ConfigValue("1", "", Path.of(""))))
                        .build());
        BrokerConfig config = BrokerConfig.builder().sources(wrong).build();

        assertThatThrownBy(() -> SourcesModule.of(config, Map.of("inlet", inlet)))
                .hasMessageContaining("sources.a.type is kafk, but the types that are present are inlet")
                .hasMessageContaining("sources.b.name must be set");
        assertThatThrownBy(() -> SourcesModule.of(config, List.of()))
                .hasMessageContaining("sources.c.portt is no key of this type");
        assertThat(config.requiredModules()).containsEntry("sources", "smqtt-rules");
    }

    @Test
    void pageHasTheKeysOfEachType() throws IOException {
        for (SourceFactory factory : SourceTypes.find(List.of()).values()) {
            SinkPage.assertHasKeys("source " + factory.type(), factory.settings());
        }
    }
}
