// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.store.ManualStore;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** Brokers one after the other with the same store and the same clock, which stands still until a test moves it. */
final class DurableBroker implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    final AtomicLong nanos = new AtomicLong(1_000_000_000L);
    final ManualStore store = new ManualStore(nanos::get);
    private final UnaryOperator<BrokerConfigBuilder> config;
    private final UnaryOperator<BrokerBuilder> parts;
    private final List<RawClient> clients = new ArrayList<>();
    private @Nullable Broker broker;

    DurableBroker(UnaryOperator<BrokerConfigBuilder> config) {
        this(config, builder -> builder);
    }

    DurableBroker(UnaryOperator<BrokerConfigBuilder> config, UnaryOperator<BrokerBuilder> parts) {
        this.config = config;
        this.parts = parts;
        start();
    }

    DurableBroker() {
        this(builder -> builder);
    }

    void start() {
        ListenerConfig listener =
                ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        BrokerConfigBuilder builder = BrokerConfig.builder().listeners(Map.of("mqtt", listener));
        broker = parts.apply(Broker.builder())
                .config(config.apply(builder).build())
                .ticker(nanos::get)
                .store(store)
                .start()
                .block(PATIENCE);
    }

    Broker broker() {
        return Objects.requireNonNull(broker);
    }

    /** Ends as a process does that is killed, and starts again. */
    void kill() {
        store.kill();
        stop();
        store.heal();
        start();
    }

    /** Stops in peace, and starts again. */
    void restart() {
        stop();
        start();
    }

    private void stop() {
        clients.forEach(RawClient::close);
        clients.clear();
        broker().close(Duration.ZERO).block(PATIENCE);
    }

    void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    /** Deadlines are looked at when they are due by the clock, which sessions may reach before they have set them. */
    void letTimePassUntil(Callable<Boolean> condition) {
        Awaitility.await().atMost(PATIENCE).until(() -> {
            advance(Duration.ofMillis(200));
            return condition.call();
        });
    }

    RawClient open(ProtocolVersion version) {
        InetSocketAddress address = Objects.requireNonNull(broker().listeners().get("mqtt"));
        RawClient client = RawClient.to(address, version);
        clients.add(client);
        return client;
    }

    /** A client that was opened before, counted from 0. */
    RawClient client(int index) {
        return clients.get(index);
    }

    /** A client with a session that lives for 1,000 seconds. */
    RawClient persistent(String clientId) {
        return persistent(ProtocolVersion.MQTT_5, clientId);
    }

    RawClient persistent(ProtocolVersion version, String clientId) {
        RawClient client = open(version);
        client.connect(ConnectBytes.of(clientId).persistent(1_000));
        return client;
    }

    /** A client that resumes its session. */
    RawClient resumed(ProtocolVersion version, String clientId) {
        RawClient client = open(version);
        ReceivedPacket connAck = client.connect(ConnectBytes.of(clientId).persistent(1_000));
        if (version != ProtocolVersion.MQTT_3_1 && !connAck.sessionPresent()) {
            throw new AssertionError("there is no session");
        }
        return client;
    }

    RawClient resumed(String clientId) {
        return resumed(ProtocolVersion.MQTT_5, clientId);
    }

    /** A client whose session ends with its connection. */
    RawClient clean(String clientId) {
        return clean(ProtocolVersion.MQTT_5, clientId);
    }

    RawClient clean(ProtocolVersion version, String clientId) {
        RawClient client = open(version);
        client.connect(clientId);
        return client;
    }

    void awaitOffline(String clientId) {
        Awaitility.await()
                .until(() -> !Boolean.TRUE.equals(broker().clients()
                        .filter(info -> info.identity().clientId().equals(clientId))
                        .any(info -> info.connected())
                        .block()));
    }

    /** Waits until something that was flushed waits for its commit. */
    void awaitPending() {
        Awaitility.await().until(() -> store.pending() > 0);
    }

    @Override
    public void close() {
        store.release();
        store.heal();
        stop();
    }
}
