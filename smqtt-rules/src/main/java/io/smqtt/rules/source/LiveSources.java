// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SourceConfig;
import io.smqtt.rules.Changes;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.spi.SourceStatus;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The sources that operators have made. */
@AnyThread
final class LiveSources {

    private static final Logger LOG = LoggerFactory.getLogger(LiveSources.class);
    private static final String PROBE = "probe";
    private static final String ENABLED = "enabled";

    private final Set<String> configured;
    private final Map<String, SourceFactory> types;
    private final Map<String, RunningSource> sources = new ConcurrentSkipListMap<>();
    private final Map<String, SourceStatus> unusable = new ConcurrentSkipListMap<>();
    private final Map<String, Map<String, String>> early = new LinkedHashMap<>(); // on the thread of changes
    private final Changes changes = new Changes("smqtt-source-changes", () -> {});
    private @Nullable Consumer<RunningSource> begins; // on the thread of changes
    private volatile boolean ended;

    /**
     * Creates it without sources.
     *
     * @param configured the names of the sources of the configuration
     */
    LiveSources(Set<String> configured, Map<String, SourceFactory> types) {
        this.configured = Set.copyOf(configured);
        this.types = types;
    }

    List<RunningSource> all() {
        return List.copyOf(sources.values());
    }

    /** The states, also of those that this node cannot use. */
    Stream<SourceStatus> status() {
        return Stream.concat(sources.values().stream().map(RunningSource::status), unusable.values().stream());
    }

    /** Reads a source; null if it is switched off. */
    private static @Nullable SourceConfig read(String name, Map<String, String> keys) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        String prefix = "sources." + name + ".";
        keys.forEach((key, text) -> values.put(prefix + key, new ConfigValue(text, "source " + name, Path.of(""))));
        return ConfigBinder.bind(BrokerConfig.defaults(), values).sources().get(name);
    }

    private @Nullable RunningSource made(String name, Map<String, String> keys) {
        if (configured.contains(name)) {
            throw new ConfigurationException("sources." + name, "is in the configuration, and cannot be changed");
        }
        if (name.indexOf('.') >= 0) {
            throw new ConfigurationException("sources", "has a name with a dot");
        }
        SourceConfig config = read(name, keys);
        return config == null ? null : RunningSource.of(name, config, types);
    }

    Mono<List<String>> check(String name, Map<String, String> keys) {
        return Mono.fromCallable(() -> {
                    try {
                        RunningSource source = made(name, keys);
                        if (source != null) {
                            source.close();
                        }
                        return List.<String>of();
                    } catch (ConfigurationException e) {
                        return e.problems();
                    }
                })
                .subscribeOn(changes.thread());
    }

    /** Makes a source, and closes it after its check. */
    Mono<String> probe(Map<String, String> keys) {
        Map<String, String> all = new LinkedHashMap<>(keys);
        all.put(ENABLED, "true");
        return Mono.usingWhen(
                Mono.fromCallable(() -> RunningSource.of(PROBE, Objects.requireNonNull(read(PROBE, all)), types))
                        .subscribeOn(changes.thread()),
                RunningSource::tryOut,
                source -> Mono.<Void>fromRunnable(source::close).subscribeOn(Schedulers.boundedElastic()));
    }

    Mono<Void> put(String name, Map<String, String> keys) {
        return changes.change(() -> {
            if (begins == null) {
                early.put(name, keys);
                return Mono.empty();
            }
            return replace(name, keys);
        });
    }

    /** Ends the former source before the next one begins; nothing of the next one is open until then. */
    private Mono<Void> replace(String name, Map<String, String> keys) {
        RunningSource next;
        try {
            next = made(name, keys);
        } catch (ConfigurationException e) {
            return endFormer(name).then(Mono.error(() -> {
                if (!configured.contains(name)) {
                    unusable.put(name, unusable(name, keys, e));
                }
                return e;
            }));
        }
        return endFormer(name).then(Mono.fromRunnable(() -> begin(name, next)));
    }

    private void begin(String name, @Nullable RunningSource next) {
        Consumer<RunningSource> begin = begins;
        if (next != null && begin != null) {
            sources.put(name, next);
            begin.accept(next);
            if (ended) {
                next.close(); // the broker has begun to stop meanwhile
            }
        }
    }

    private static SourceStatus unusable(String name, Map<String, String> keys, ConfigurationException problem) {
        return new SourceStatus(
                name,
                keys.getOrDefault("type", ""),
                SourceStatus.State.FAILING,
                String.join("; ", problem.problems()),
                0,
                0,
                0,
                0,
                0,
                0,
                null);
    }

    private Mono<Void> endFormer(String name) {
        unusable.remove(name);
        RunningSource former = sources.remove(name);
        return former == null ? Mono.empty() : former.finish().publishOn(changes.thread());
    }

    Mono<Void> remove(String name) {
        return changes.change(() -> {
            early.remove(name);
            return endFormer(name);
        });
    }

    /**
     * Begins with the sources that are known, when the broker runs.
     *
     * @param begin begins with one of them
     */
    void begin(Consumer<RunningSource> begin) {
        changes.thread().schedule(() -> {
            begins = begin;
            Map<String, Map<String, String>> known = new LinkedHashMap<>(early);
            early.clear();
            changes.first(() -> known.forEach((name, keys) -> changes.add(
                    () -> replace(name, keys),
                    error -> LOG.warn("source {} cannot be used: {}", name, error.getMessage()))));
        });
    }

    /** Ends reading for good, because the broker stops. */
    void stop() {
        ended = true;
        sources.values().forEach(RunningSource::stop);
    }

    /** Ends changes. The sources are closed by the caller. */
    void close() {
        ended = true;
        changes.close();
    }
}
