// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smqtt.Broker;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApplicationMetersTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    void nothingStaysOfABrokerThatCannotBeMade() {
        MeterRegistry registry = new SimpleMeterRegistry();
        registry.counter("smqtt.of.the.application");
        BrokerConfig config = BrokerConfig.builder()
                .access(AccessConfig.builder()
                        .passwordFile(directory.resolve("missing"))
                        .build())
                .build();
        ApplicationMeters meters = ApplicationMeters.of(config, registry);
        assertThat(registry.getMeters()).hasSizeGreaterThan(10);

        assertThatThrownBy(() -> Broker.builder()
                        .config(config)
                        .observer(meters.observer())
                        .module(meters)
                        .start()
                        .block(PATIENCE))
                .isInstanceOf(ConfigurationException.class);

        assertThat(registry.getMeters())
                .extracting(Meter::getId)
                .extracting(Meter.Id::getName)
                .containsExactly("smqtt.of.the.application");
    }
}
