// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.spi.ActionType;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The sources of one broker: those of the configuration, and those that operators have made. */
@AnyThread
final class SourcesModule implements BrokerModule, Sources {

    private static final int AT_ONCE = 64;

    private final List<RunningSource> configured;
    private final LiveSources live;
    private final List<ActionType> types;
    private final SourceElections elections = new SourceElections(this::all);
    private volatile @Nullable Core core;

    private SourcesModule(List<RunningSource> configured, Map<String, SourceFactory> types) {
        this.configured = List.copyOf(configured);
        this.types = SourceTypes.described(types.values());
        live = new LiveSources(configured.stream().map(RunningSource::name).collect(Collectors.toSet()), types);
    }

    /**
     * Checks all sources of the configuration, and reads their files. Blocks; reports all problems at once.
     *
     * @param ofApplication types that the application has made, which come before those of the class path
     */
    static SourcesModule of(BrokerConfig config, List<SourceFactory> ofApplication) {
        return of(config, SourceTypes.find(ofApplication));
    }

    /** The same with some types. */
    static SourcesModule of(BrokerConfig config, Map<String, SourceFactory> types) {
        List<RunningSource> made = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        config.sources().forEach((name, source) -> {
            try {
                made.add(RunningSource.of(name, source, types));
            } catch (ConfigurationException e) {
                problems.addAll(e.problems());
            }
        });
        if (!problems.isEmpty()) {
            made.forEach(RunningSource::close);
            throw new ConfigurationException(problems);
        }
        return new SourcesModule(made, types);
    }

    private List<RunningSource> all() {
        return Stream.concat(configured.stream(), live.all().stream()).toList();
    }

    @Override
    public String configurationKey() {
        return "sources";
    }

    @Override
    public Mono<Void> start(Core started) {
        core = started;
        configured.forEach(source -> source.start(started));
        return Mono.empty();
    }

    @Override
    public void listening() {
        Core running = core;
        if (running != null) {
            elections.begin(running.cluster());
            live.begin(source -> {
                source.start(running);
                elections.add(source);
            });
        }
    }

    @Override
    public Sources sources() {
        return this;
    }

    @Override
    public List<SourceStatus> status() {
        return Stream.concat(configured.stream().map(RunningSource::status), live.status())
                .toList();
    }

    @Override
    public boolean operate(String name, Operation operation) {
        RunningSource source = find(name);
        if (source != null) {
            source.operate(operation);
        }
        return source != null;
    }

    @Override
    public Mono<String> probe(String name) {
        RunningSource source = find(name);
        return source == null ? Mono.empty() : source.probe();
    }

    private @Nullable RunningSource find(String name) {
        return all().stream()
                .filter(source -> source.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    @Override
    public List<ActionType> types() {
        return types;
    }

    @Override
    public Mono<String> probe(Map<String, String> keys) {
        return live.probe(keys);
    }

    @Override
    public Mono<List<String>> check(String name, Map<String, String> keys) {
        return live.check(name, keys);
    }

    @Override
    public Mono<Void> put(String name, Map<String, String> keys) {
        return live.put(name, keys);
    }

    @Override
    public Mono<Void> remove(String name) {
        return live.remove(name);
    }

    @Override
    public void draining() {
        elections.end();
        configured.forEach(RunningSource::stop);
        live.stop();
    }

    @Override
    public Mono<Void> stop() {
        return Mono.defer(() -> {
            elections.end();
            live.close();
            return Flux.fromIterable(all())
                    .flatMap(RunningSource::finish, AT_ONCE)
                    .then();
        });
    }

    /** Ends all sources. Blocks. */
    void close() {
        elections.end();
        live.close();
        all().forEach(RunningSource::close);
    }
}
