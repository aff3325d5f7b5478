// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SourceConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.Election;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The sources of one broker. */
@AnyThread
final class SourcesModule implements BrokerModule, Sources {

    private static final Logger LOG = LoggerFactory.getLogger(SourcesModule.class);
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.WARN, 1);
    private static final int ELECTION_MILLIS = 1_000;
    private static final int AT_ONCE = 64;

    private final List<RunningSource> sources;
    private volatile @Nullable Supplier<ClusterStatus> cluster;
    private volatile @Nullable Disposable elections;

    private SourcesModule(List<RunningSource> sources) {
        this.sources = List.copyOf(sources);
    }

    /**
     * Checks all sources, and reads their files. Blocks; reports all problems at once.
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
                made.add(new RunningSource(name, source, source(name, source, types)));
            } catch (ConfigurationException e) {
                problems.addAll(e.problems());
            }
        });
        if (!problems.isEmpty()) {
            made.forEach(RunningSource::close);
            throw new ConfigurationException(problems);
        }
        return new SourcesModule(made);
    }

    private static Source source(String name, SourceConfig config, Map<String, SourceFactory> types) {
        SourceFactory factory = types.get(config.type());
        if (factory == null) {
            throw new ConfigurationException(
                    "sources." + name + ".type",
                    "is " + config.type() + ", but the types that are present are " + String.join(", ", types.keySet())
                            + "; others need their jar");
        }
        SinkSettings settings = SinkSettings.of("sources." + name + '.', factory.settings(), config.settings());
        return factory.open(new SourceContext(name, config, settings));
    }

    @Override
    public String configurationKey() {
        return "sources";
    }

    @Override
    public Mono<Void> start(Core core) {
        cluster = core.cluster();
        sources.forEach(source -> source.start(core));
        return Mono.empty();
    }

    @Override
    public void listening() {
        Supplier<ClusterStatus> view = cluster;
        List<RunningSource> elected = new ArrayList<>();
        for (RunningSource source : sources) {
            if (view == null || source.config().nodes() == SourceConfig.Nodes.EACH) {
                source.choose(true);
            } else {
                elected.add(source);
            }
        }
        if (view != null && !elected.isEmpty()) {
            Set<RunningSource> before = ConcurrentHashMap.newKeySet();
            elections = Schedulers.parallel()
                    .schedulePeriodically(
                            () -> elected.forEach(source -> tryToElect(source, view, before)),
                            0,
                            ELECTION_MILLIS,
                            TimeUnit.MILLISECONDS);
        }
    }

    /** Chooses, or leaves the source where it is if that fails. */
    private static void tryToElect(RunningSource source, Supplier<ClusterStatus> view, Set<RunningSource> before) {
        try {
            elect(source, view.get(), before);
        } catch (RuntimeException e) {
            if (LINES.allows(source.name())) {
                LOG.warn("source {}: its node cannot be chosen", source.name(), e);
            }
        }
    }

    /** Chooses a source that was chosen the last time, too, so that the former node has ended its reading. */
    private static void elect(RunningSource source, ClusterStatus view, Set<RunningSource> before) {
        boolean chosen = Election.isChosen("source:" + source.name(), view);
        source.choose(chosen && !before.add(source));
        if (!chosen) {
            before.remove(source);
        }
    }

    @Override
    public Sources sources() {
        return this;
    }

    @Override
    public List<SourceStatus> status() {
        return sources.stream().map(RunningSource::status).toList();
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
        return sources.stream()
                .filter(source -> source.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    @Override
    public void draining() {
        endElections();
        sources.forEach(RunningSource::stop);
    }

    private void endElections() {
        Disposable running = elections;
        if (running != null) {
            running.dispose();
        }
    }

    @Override
    public Mono<Void> stop() {
        return Mono.defer(() -> {
            endElections();
            return Flux.fromIterable(sources)
                    .flatMap(
                            source -> Mono.<Void>fromRunnable(source::close).subscribeOn(Schedulers.boundedElastic()),
                            AT_ONCE)
                    .then();
        });
    }

    /** Ends all sources. Blocks. */
    void close() {
        endElections();
        sources.forEach(RunningSource::close);
    }
}
