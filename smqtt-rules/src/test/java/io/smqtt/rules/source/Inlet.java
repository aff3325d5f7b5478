// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.rules.sink.SourceOutput;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A type of sources that a test fills and ends. */
final class Inlet implements SourceFactory {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** A run that goes on. */
    record Run(String name, SourceOutput out, Sinks.Empty<Void> end) {}

    /** The runs that go on. */
    final List<Run> runs = new CopyOnWriteArrayList<>();

    /** What has happened, such as {@code begin a}. */
    final List<String> events = new CopyOnWriteArrayList<>();

    /** Completes when the ends of runs may be over. */
    volatile Mono<Void> over = Mono.empty();

    @Override
    public String type() {
        return "inlet";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.text("name", null, "which one").required(),
                SinkSetting.text("code", null, "a secret").secret());
    }

    @Override
    public Source open(SourceContext context) {
        String name = context.settings().text("name");
        return new Source() {
            @Override
            public Mono<Void> run(SourceOutput out) {
                Run run = new Run(name, out, Sinks.empty());
                return run.end()
                        .asMono()
                        .doOnSubscribe(begins -> {
                            events.add("begin " + name);
                            runs.add(run);
                        })
                        .doFinally(signal -> {
                            runs.remove(run);
                            events.add("end " + name);
                        });
            }

            @Override
            public Mono<Void> ended() {
                return Mono.defer(() -> over);
            }

            @Override
            public Mono<Void> check() {
                return name.equals("each") ? Mono.empty() : Mono.error(new SinkException("no such server", true));
            }

            @Override
            public void close() {
                events.add("close " + name);
            }
        };
    }

    Run await(String name) {
        return org.awaitility.Awaitility.await()
                .atMost(PATIENCE)
                .until(
                        () -> runs.stream()
                                .filter(run -> run.name().equals(name))
                                .findFirst()
                                .orElse(null),
                        run -> run != null);
    }
}
