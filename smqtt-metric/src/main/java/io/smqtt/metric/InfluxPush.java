// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.push.PushMeterRegistry;
import io.micrometer.core.ipc.http.HttpSender;
import io.micrometer.influx.InfluxApiVersion;
import io.micrometer.influx.InfluxMeterRegistry;
import io.smqtt.config.InfluxConfig;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Pushes to InfluxDB. Needs micrometer-registry-influx; loaded only if it is configured. */
final class InfluxPush {

    private InfluxPush() {}

    static PushMeterRegistry create(InfluxConfig config, String instance, AtomicBoolean sending, HttpSender http) {
        PushMeterRegistry registry = InfluxMeterRegistry.builder(new Influx(config, sending))
                .clock(Clock.SYSTEM)
                .httpClient(http)
                .build();
        registry.config().commonTags("instance", instance);
        return registry;
    }

    /** The configuration in Micrometer's form. */
    private record Influx(InfluxConfig config, AtomicBoolean sending) implements io.micrometer.influx.InfluxConfig {

        @Override
        public @Nullable String get(String key) {
            return null;
        }

        @Override
        public String uri() {
            return config.url().replaceAll("/+$", ""); // paths are put behind it
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

        @Override
        public String db() {
            return config.database();
        }

        @Override
        public @Nullable String userName() {
            return config.user();
        }

        @Override
        public @Nullable String password() {
            return config.password();
        }

        @Override
        public InfluxApiVersion apiVersion() {
            return config.org() == null ? InfluxApiVersion.V1 : InfluxApiVersion.V2;
        }

        @Override
        public @Nullable String org() {
            return config.org();
        }

        @Override
        public String bucket() {
            String bucket = config.bucket();
            return bucket == null ? config.database() : bucket;
        }

        @Override
        public @Nullable String token() {
            return config.token();
        }
    }
}
