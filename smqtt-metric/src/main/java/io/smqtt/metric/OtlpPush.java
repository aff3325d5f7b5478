// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.push.PushMeterRegistry;
import io.micrometer.core.ipc.http.HttpSender;
import io.micrometer.registry.otlp.OtlpHttpMetricsSender;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import io.smqtt.config.OtlpConfig;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Pushes by OTLP. Needs micrometer-registry-otlp; loaded only if it is configured. */
final class OtlpPush {

    private OtlpPush() {}

    static PushMeterRegistry create(OtlpConfig config, String instance, AtomicBoolean sending, HttpSender http) {
        return OtlpMeterRegistry.builder(new Otlp(config, instance, sending))
                .clock(Clock.SYSTEM)
                .metricsSender(new OtlpHttpMetricsSender(http))
                .build();
    }

    /** The configuration in Micrometer's form. */
    private record Otlp(OtlpConfig config, String instance, AtomicBoolean sending)
            implements io.micrometer.registry.otlp.OtlpConfig {

        @Override
        public @Nullable String get(String key) {
            return null;
        }

        @Override
        public String url() {
            return config.url();
        }

        /** Disabled, because it would send before the broker runs. */
        @Override
        public boolean enabled() {
            return sending.get();
        }

        @Override
        public Duration step() {
            return config.interval();
        }

        /** The values of OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME have priority. */
        @Override
        public Map<String, String> resourceAttributes() {
            Map<String, String> attributes =
                    new HashMap<>(Map.of("service.name", "smqtt", "service.instance.id", instance));
            attributes.putAll(io.micrometer.registry.otlp.OtlpConfig.super.resourceAttributes());
            return attributes;
        }

        @Override
        public Map<String, String> headers() {
            List<String> lines = config.headers();
            Map<String, String> headers = new HashMap<>();
            for (String line : lines == null ? List.<String>of() : lines) {
                int colon = line.indexOf(':');
                headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
            return headers;
        }
    }
}
