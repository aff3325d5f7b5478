// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.spi.SourceStatus;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Meters of the sources of this node, with their names as tags: those of the configuration, and those of operators as long as they exist. All have the
 * values of one moment, that of the last {@link #refresh}.
 */
@AnyThread
final class SourceMeters {

    private static final String TAG = "source";

    private final MeterRegistry registry;
    private final Supplier<List<SourceStatus>> sources;

    /** The meters of each source; guarded by this. */
    private final Map<String, List<Meter>> meters = new HashMap<>();

    private final Set<String> configured = new HashSet<>(); // guarded by this
    private volatile Map<String, SourceStatus> states = Map.of();

    SourceMeters(MeterRegistry registry, Supplier<List<SourceStatus>> sources) {
        this.registry = registry;
        this.sources = sources;
    }

    /** Adds the meters of a source of the configuration, which stay. */
    synchronized void add(String name) {
        configured.add(name);
        meters.computeIfAbsent(name, this::register);
    }

    /** Reads all values. Adds the meters of sources that have been made, and removes those of sources that have ended. */
    synchronized void refresh() {
        Map<String, SourceStatus> now = new HashMap<>();
        sources.get().forEach(source -> now.put(source.name(), source));
        states = now;
        now.keySet().forEach(name -> meters.computeIfAbsent(name, this::register));
        meters.entrySet().removeIf(entry -> {
            boolean hasEnded = !now.containsKey(entry.getKey()) && !configured.contains(entry.getKey());
            if (hasEnded) {
                entry.getValue().forEach(registry::remove);
            }
            return hasEnded;
        });
    }

    private List<Meter> register(String name) {
        List<Meter> all = new ArrayList<>();
        all.add(counter("received", "messages that have arrived from a source", name, SourceStatus::received));
        all.add(counter("published", "messages from a source that the broker has", name, SourceStatus::published));
        all.add(counter(
                "refused",
                "messages from a source that have no valid topic, and are dropped",
                name,
                SourceStatus::refused));
        all.add(counter(
                "failed",
                "messages from a source that the broker could not keep, and that come again",
                name,
                SourceStatus::failed));
        all.add(counter(
                "rejected",
                "what a source has turned away before it became a message, such as requests beyond a limit",
                name,
                SourceStatus::rejected));
        all.add(gauge("inflight", "messages from a source that are not yet stored", name, SourceStatus::inflight));
        all.add(gauge(
                "lag",
                "messages that wait in the external system of a source; without a value if that is not known",
                name,
                SourceMeters::lag));
        all.add(gauge("up", "0 while a source fails", name, status -> isFailing(status) ? 0 : 1));
        return all;
    }

    private static double lag(SourceStatus status) {
        Long lag = status.lag();
        return lag == null ? Double.NaN : lag;
    }

    private static boolean isFailing(SourceStatus status) {
        return status.state() == SourceStatus.State.FAILING;
    }

    private double value(String name, ToDoubleFunction<SourceStatus> of, double without) {
        SourceStatus status = states.get(name);
        return status == null ? without : of.applyAsDouble(status);
    }

    private Meter gauge(String meter, String description, String name, ToDoubleFunction<SourceStatus> of) {
        double without = meter.equals("lag") ? Double.NaN : 0;
        return Gauge.builder("smqtt.source." + meter, () -> value(name, of, without))
                .description(description)
                .tag(TAG, name)
                .register(registry);
    }

    private Meter counter(String meter, String description, String name, ToDoubleFunction<SourceStatus> of) {
        return FunctionCounter.builder(
                        "smqtt.source." + meter, this, all -> all.value(name, of, 0)) // refers to it weakly
                .description(description)
                .tag(TAG, name)
                .register(registry);
    }
}
