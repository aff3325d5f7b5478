// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.SourceConfig;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Runs of one source without a broker. */
class RunningSourceTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** A source whose runs go on until they are cancelled. */
    private static class Endless implements Source {

        final List<SourceOutput> runs = new CopyOnWriteArrayList<>();
        volatile Mono<Void> ended = Mono.empty();

        @Override
        public Mono<Void> run(SourceOutput out) {
            runs.add(out);
            return Mono.never();
        }

        @Override
        public Mono<Void> ended() {
            return Mono.defer(() -> ended);
        }

        @Override
        public Mono<Void> check() {
            return Mono.empty();
        }

        @Override
        public void close() {}
    }

    private static RunningSource of(Source source) {
        SourceConfig config = SourceConfig.builder("endless", "t")
                .minDelay(Duration.ofMillis(1))
                .maxDelay(Duration.ofMillis(5))
                .build();
        return new RunningSource("s", config, source);
    }

    @Test
    void aRunThatThrowsBeginsAgain() {
        AtomicInteger tried = new AtomicInteger();
        Endless source = new Endless() {
            @Override
            public Mono<Void> run(SourceOutput out) {
                switch (tried.incrementAndGet()) {
                    case 1 -> throw new IllegalStateException("not yet");
                    case 2 -> throw new NoClassDefFoundError("a/b/C");
                    case 3 -> {
                        return Mono.fromRunnable(() -> {
                            throw new NoClassDefFoundError("a/b/D");
                        });
                    }
                    default -> {
                        return super.run(out);
                    }
                }
            }
        };
        RunningSource running = of(source);
        running.choose(true);

        await().atMost(PATIENCE).until(() -> source.runs.size() == 1);
        assertThat(tried).hasValue(4);
        assertThat(running.status().lastError()).isEqualTo("java.lang.NoClassDefFoundError: a/b/D");
        assertThat(running.status().state()).isEqualTo(SourceStatus.State.FAILING);
        running.close();
    }

    @Test
    void aRunBeginsWhenTheOneBeforeHasEnded() {
        Endless source = new Endless();
        RunningSource running = of(source);
        running.choose(true);
        SourceOutput first = source.runs.get(0);
        Sinks.Empty<Void> ended = Sinks.empty();
        source.ended = ended.asMono();

        running.operate(Sources.Operation.RESTART);
        assertThat(source.runs).containsExactly(first);
        ended.tryEmitEmpty();
        assertThat(source.runs).hasSize(2);

        first.failing("an old run");
        assertThat(running.status().lastError()).isNull();
        source.runs.get(1).failing("the present run");
        first.working();
        assertThat(running.status().lastError()).isEqualTo("the present run");
        running.close();
    }

    @Test
    void lagIsThatOfThePresentRunAsLongAsItIsKnown() {
        Endless source = new Endless();
        RunningSource running = of(source);
        running.choose(true);
        SourceOutput first = source.runs.get(0);

        assertThat(running.status().lag()).isNull();
        first.lag(3);
        assertThat(running.status().lag()).isEqualTo(3);
        first.lagUnknown();
        assertThat(running.status().lag()).isNull();
        first.lag(4);
        running.operate(Sources.Operation.RESTART);
        assertThat(running.status().lag()).isNull();
        first.lag(5);
        assertThat(running.status().lag()).isNull();
        source.runs.get(1).lag(6);
        first.lagUnknown();
        assertThat(running.status().lag()).isEqualTo(6);
        running.close();
    }

    @Test
    void aStopWhileTheOneBeforeEndsIsFollowed() {
        Endless source = new Endless();
        Sinks.Empty<Void> ended = Sinks.empty();
        source.ended = ended.asMono();
        RunningSource running = of(source);
        running.choose(true);
        running.operate(Sources.Operation.STOP);
        ended.tryEmitEmpty();
        assertThat(source.runs).isEmpty();
        running.close();
    }

    @Test
    void aClosedSourceBeginsNoMore() {
        Endless source = new Endless();
        RunningSource running = of(source);
        running.stop();
        running.choose(true);
        running.operate(Sources.Operation.START);
        assertThat(source.runs).isEmpty();
        assertThat(running.status().state()).isEqualTo(SourceStatus.State.STOPPED);
    }

    @Test
    void aSourceThatCannotBeClosedLeavesNoOtherOneOpen() {
        List<String> closed = new CopyOnWriteArrayList<>();
        SourceFactory factory = new SourceFactory() {
            @Override
            public String type() {
                return "endless";
            }

            @Override
            public List<SinkSetting> settings() {
                return List.of();
            }

            @Override
            public Source open(SourceContext context) {
                return new Endless() {
                    @Override
                    public void close() {
                        closed.add(context.name());
                        throw new IllegalStateException("it does not close");
                    }
                };
            }
        };
        Map<String, SourceConfig> sources = new LinkedHashMap<>();
        sources.put("a", SourceConfig.builder("endless", "t").build());
        sources.put("b", SourceConfig.builder("endless", "t").build());
        BrokerConfig config = BrokerConfig.builder().sources(sources).build();

        SourcesModule.of(config, Map.of("endless", factory)).stop().block(PATIENCE);
        assertThat(closed).containsExactlyInAnyOrder("a", "b");
        closed.clear();
        SourcesModule.of(config, Map.of("endless", factory)).close();
        assertThat(closed).containsExactly("a", "b");
    }

    @Test
    void aMessageThatIsNotStoredIsCountedOnce() {
        Endless source = new Endless();
        RunningSource running = of(source);
        running.choose(true);
        Mono<Boolean> published = source.runs.get(0).publish(Map.of("payload", "x"));
        assertThatThrownBy(() -> published.block(PATIENCE)).hasMessage("the broker does not run");
        SourceStatus status = running.status();
        assertThat(status.received()).isOne();
        assertThat(status.failed()).isOne();
        assertThat(status.inflight()).isZero();
        running.close();
    }
}
