// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.smqtt.spi.BackendOutcome;
import io.smqtt.thread.AnyThread;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;

/** Meters of the backends of authentication and authorization. The tags are names of the configuration. */
@AnyThread
final class BackendCounts {

    private final MeterRegistry registry;
    private final Map<String, OfBackend> backends = new ConcurrentSkipListMap<>();

    BackendCounts(MeterRegistry registry) {
        this.registry = registry;
    }

    void answered(String backend, BackendOutcome outcome, long nanos) {
        of(backend).answered(outcome, nanos);
    }

    void working(String backend, boolean working) {
        of(backend).working = working;
    }

    /** The names of all backends with whether they work. */
    Map<String, Boolean> states() {
        Map<String, Boolean> states = new ConcurrentSkipListMap<>();
        backends.forEach((name, backend) -> states.put(name, backend.working));
        return states;
    }

    /** The names of the backends that fail. */
    List<String> failing() {
        return backends.entrySet().stream()
                .filter(backend -> !backend.getValue().working)
                .map(Map.Entry::getKey)
                .toList();
    }

    private OfBackend of(String name) {
        OfBackend known = backends.get(name);
        return known == null ? backends.computeIfAbsent(name, key -> new OfBackend(key, registry)) : known;
    }

    /** The meters of one backend. */
    private static final class OfBackend {

        private final Map<BackendOutcome, Counter> outcomes = new EnumMap<>(BackendOutcome.class);
        private final Timer duration;
        private volatile boolean working = true;

        OfBackend(String name, MeterRegistry registry) {
            for (BackendOutcome outcome : BackendOutcome.values()) {
                outcomes.put(
                        outcome,
                        Counter.builder("smqtt.access.backend.requests")
                                .description("questions to a backend of authentication or authorization, by outcome")
                                .tags("backend", name, "outcome", Tagged.of(outcome))
                                .register(registry));
            }
            duration = Timer.builder("smqtt.access.backend.duration")
                    .description("duration of requests to a backend of authentication or authorization")
                    .tag("backend", name)
                    .register(registry);
            Gauge.builder("smqtt.access.backend.up", this, backend -> backend.working ? 1 : 0)
                    .description("1 if requests are made to the backend, 0 while it fails")
                    .tag("backend", name)
                    .register(registry);
        }

        void answered(BackendOutcome outcome, long nanos) {
            Counter counter = outcomes.get(outcome);
            if (counter != null) {
                counter.increment();
            }
            if (nanos > 0) {
                duration.record(nanos, TimeUnit.NANOSECONDS);
            }
        }
    }
}
