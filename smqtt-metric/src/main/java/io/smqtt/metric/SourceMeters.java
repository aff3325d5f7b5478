// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import io.smqtt.thread.AnyThread;
import java.util.Objects;
import java.util.function.ToLongFunction;

/** Meters of a source of this node. The tag is its name in the configuration. Read when the registry is read. */
@AnyThread
final class SourceMeters {

    private static final String TAG = "source";

    private final MeterRegistry registry;
    private final Sources sources;
    private final String name;

    private SourceMeters(MeterRegistry registry, Sources sources, String name) {
        this.registry = registry;
        this.sources = sources;
        this.name = name;
    }

    /** Registers the meters of a source. */
    static void bindTo(MeterRegistry registry, Sources sources, String name) {
        new SourceMeters(registry, sources, name).register();
    }

    private void register() {
        counter("received", "messages that have arrived from a source", SourceStatus::received);
        counter("published", "messages from a source that the broker has", SourceStatus::published);
        counter("refused", "messages from a source that have no valid topic, and are dropped", SourceStatus::refused);
        counter(
                "failed",
                "messages from a source that the broker could not keep, and that come again",
                SourceStatus::failed);
        counter(
                "rejected",
                "what a source has turned away before it became a message, such as requests beyond a limit",
                SourceStatus::rejected);
        Gauge.builder("smqtt.source.inflight", () -> value(SourceStatus::inflight))
                .description("messages from a source that are not yet stored")
                .tag(TAG, name)
                .register(registry);
        Gauge.builder("smqtt.source.lag", this::lag)
                .description(
                        "messages that wait in the external system of a source; without a value if that is not known")
                .tag(TAG, name)
                .register(registry);
        Gauge.builder("smqtt.source.up", () -> value(status -> status.state() == SourceStatus.State.FAILING ? 0 : 1))
                .description("0 while a source fails")
                .tag(TAG, name)
                .register(registry);
    }

    private double lag() {
        return sources.status().stream()
                .filter(status -> status.name().equals(name))
                .map(SourceStatus::lag)
                .filter(Objects::nonNull)
                .mapToDouble(Long::doubleValue)
                .findFirst()
                .orElse(Double.NaN);
    }

    private double value(ToLongFunction<SourceStatus> of) {
        return sources.status().stream()
                .filter(status -> status.name().equals(name))
                .mapToLong(of)
                .sum();
    }

    private void counter(String meter, String description, ToLongFunction<SourceStatus> of) {
        FunctionCounter.builder("smqtt.source." + meter, sources, all -> value(of)) // refers to its object weakly
                .description(description)
                .tag(TAG, name)
                .register(registry);
    }
}
