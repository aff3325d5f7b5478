// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.config.BridgeConfig;
import io.smqtt.spi.BridgeDrop;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import io.smqtt.thread.AnyThread;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Meters of the connections of the bridges of this node. Read when the registry is read. */
@AnyThread
final class BridgeMeters {

    private final MeterRegistry registry;
    private final Bridges bridges;

    private BridgeMeters(MeterRegistry registry, Bridges bridges) {
        this.registry = registry;
        this.bridges = bridges;
    }

    /** Registers the meters of all connections of the bridges of a configuration. */
    static void bindTo(MeterRegistry registry, Bridges bridges, Map<String, BridgeConfig> configs) {
        BridgeMeters meters = new BridgeMeters(registry, bridges);
        configs.forEach((name, config) -> {
            for (int i = 0; i < config.connections(); i++) {
                meters.register(BridgeConfig.connectionName(name, i));
            }
        });
    }

    private void register(String name) {
        gauge(
                "smqtt.bridge.connected",
                "1 if the bridge is connected",
                name,
                status -> status.state() == BridgeStatus.State.CONNECTED ? 1 : 0);
        gauge("smqtt.bridge.queued", "messages that wait for the other broker", name, BridgeStatus::queued);
        Gauge.builder("smqtt.bridge.rtt", () -> value(name, status -> status.rttNanos() / 1e9))
                .description("time to the other broker and back, measured at CONNECT and at each PINGREQ")
                .baseUnit("seconds")
                .tag("bridge", name)
                .register(registry);
        counter("smqtt.bridge.sent", "messages sent to the other broker", name, BridgeStatus::sent);
        counter("smqtt.bridge.received", "messages received from the other broker", name, BridgeStatus::received);
        counter(
                "smqtt.bridge.resent",
                "messages sent again because the other broker had not acknowledged them",
                name,
                BridgeStatus::resent);
        for (BridgeDrop reason : BridgeDrop.values()) {
            drops(
                    "smqtt.bridge.dropped",
                    "messages for the other broker that were dropped; those of its queue also count in smqtt.messages.dropped",
                    name,
                    reason,
                    BridgeStatus::drops);
            if (reason.isOfBothDirections()) {
                drops(
                        "smqtt.bridge.received.dropped",
                        "messages of the other broker that were not published here but dropped; not part of smqtt.bridge.received",
                        name,
                        reason,
                        BridgeStatus::receivedDrops);
            }
        }
        counter(
                "smqtt.bridge.refused",
                "messages that were sent, and that the other broker has refused for good",
                name,
                BridgeStatus::refused);
    }

    private double value(String name, ToDoubleFunction<BridgeStatus> of) {
        BridgeStatus status = bridges.status(name);
        return status == null ? 0 : of.applyAsDouble(status);
    }

    private void gauge(String name, String description, String bridge, ToDoubleFunction<BridgeStatus> of) {
        Gauge.builder(name, () -> value(bridge, of))
                .description(description)
                .tag("bridge", bridge)
                .register(registry);
    }

    private void drops(
            String name,
            String description,
            String bridge,
            BridgeDrop reason,
            Function<BridgeStatus, Map<BridgeDrop, Long>> of) {
        FunctionCounter.builder(
                        name,
                        bridges,
                        all -> value(bridge, status -> of.apply(status).getOrDefault(reason, 0L)))
                .description(description)
                .tag("bridge", bridge)
                .tag("reason", Tagged.of(reason))
                .register(registry);
    }

    private void counter(String name, String description, String bridge, ToDoubleFunction<BridgeStatus> of) {
        FunctionCounter.builder(name, bridges, all -> value(bridge, of)) // refers to its object weakly
                .description(description)
                .tag("bridge", bridge)
                .register(registry);
    }
}
