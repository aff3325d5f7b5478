// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.awaitility.Awaitility.await;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeConfigBuilder;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** A broker in the JVM of the test, with bridges. */
final class BridgedBroker implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration CLOSE = Duration.ofMillis(200);

    private final Broker broker;

    private BridgedBroker(Broker broker) {
        this.broker = broker;
    }

    static Starter with(String name, BridgeConfigBuilder bridge) {
        return new Starter().bridge(name, bridge);
    }

    static Starter plain() {
        return new Starter();
    }

    /** A bridge with short delays. */
    static BridgeConfigBuilder bridge(String address, String... topics) {
        return BridgeConfig.builder(address, topics)
                .clientId("plant")
                .minDelay(Duration.ofMillis(20))
                .maxDelay(Duration.ofMillis(200))
                .connectTimeout(Duration.ofSeconds(5));
    }

    /** What a broker is started with. */
    static final class Starter {

        private final Map<String, BridgeConfig> bridges = new LinkedHashMap<>();
        private ListenerConfig listener =
                ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();

        private AccessConfig access = AccessConfig.defaults();

        Starter bridge(String name, BridgeConfigBuilder bridge) {
            bridges.put(name, bridge.build());
            return this;
        }

        Starter listener(ListenerConfig config) {
            listener = config;
            return this;
        }

        Starter access(AccessConfig config) {
            access = config;
            return this;
        }

        Starter port(int port) {
            listener = listener.toBuilder().port(port).build();
            return this;
        }

        BridgedBroker start() {
            BrokerConfig config = BrokerConfig.builder()
                    .listeners(Map.of(
                            "mqtt",
                            listener,
                            "plain",
                            ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                    .access(access)
                    .bridges(bridges)
                    .build();
            BrokerBuilder builder = Broker.builder().config(config);
            if (!bridges.isEmpty()) {
                new BridgeProvider().create(config).accept(builder);
            }
            return new BridgedBroker(Objects.requireNonNull(builder.start().block(PATIENCE)));
        }
    }

    Broker broker() {
        return broker;
    }

    int port() {
        return Objects.requireNonNull(broker.listeners().get("mqtt")).getPort();
    }

    String address() {
        return "127.0.0.1:" + port();
    }

    RawClient client(String id) {
        RawClient client =
                RawClient.to(Objects.requireNonNull(broker.listeners().get("plain")), ProtocolVersion.MQTT_5);
        client.connect(id);
        return client;
    }

    /** The messages that wait for the other broker. */
    int waiting(String bridge) {
        return Objects.requireNonNull(broker.client("$bridge/" + bridge).block(PATIENCE))
                .info()
                .queued();
    }

    void awaitConnected(String bridge) {
        await().atMost(PATIENCE).until(() -> isConnected(bridge));
    }

    /** Whether the other broker is connected. */
    boolean isConnected(String bridge) {
        return Objects.requireNonNull(broker.client("$bridge/" + bridge).block(PATIENCE))
                .info()
                .connected();
    }

    @Override
    public void close() {
        broker.close(CLOSE).block(PATIENCE);
    }
}
