// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.ClientLink;
import io.smqtt.connection.ClientLog;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.BrokerObserver;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/** Listeners on loopback with an {@link Echo} in place of MQTT, and what was seen of their connections. */
final class TestListeners implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(20);

    final EventLoops eventLoops;
    volatile int overloadLevel;
    final Listeners listeners;
    final List<AcceptedConnection> accepted = new CopyOnWriteArrayList<>();
    final List<Channel> channels = new CopyOnWriteArrayList<>();
    final List<String> refused = new CopyOnWriteArrayList<>();
    final List<String> opened = new CopyOnWriteArrayList<>();
    final List<String> closedEarly = new CopyOnWriteArrayList<>();
    volatile boolean connectAtOnce = true;

    TestListeners(Map<String, ListenerConfig> configs, LimitsConfig limits, boolean nativeTransport) {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(configs)
                .limits(limits)
                .eventLoops(2)
                .nativeTransport(nativeTransport)
                .build();
        eventLoops = EventLoops.start(2, nativeTransport);
        try {
            listeners = new Listeners(
                    config, eventLoops, () -> overloadLevel, new Seen(), new ClientLog(true), this::initialize);
        } catch (RuntimeException e) {
            eventLoops.dispose().block(PATIENCE);
            throw e;
        }
    }

    static TestListeners bound(ListenerConfig config) {
        return bound(config, LimitsConfig.defaults());
    }

    static TestListeners bound(ListenerConfig config, LimitsConfig limits) {
        TestListeners made = new TestListeners(Map.of("one", config), limits, true);
        made.listeners.bind().block(PATIENCE);
        return made;
    }

    InetSocketAddress address() {
        return address("one");
    }

    InetSocketAddress address(String listener) {
        return Objects.requireNonNull(listeners.addresses().get(listener));
    }

    @Override
    public void close() {
        listeners.close().block(PATIENCE);
        eventLoops.dispose().block(PATIENCE);
    }

    private void initialize(Channel channel, ClientLink connection) {
        accepted.add((AcceptedConnection) connection);
        channels.add(channel);
        if (connectAtOnce) {
            connection.connected();
        }
        channel.pipeline().addLast(MqttPipeline.MQTT, new Echo());
    }

    static Map<String, ListenerConfig> named(String first, ListenerConfig one, String second, ListenerConfig two) {
        Map<String, ListenerConfig> both = new LinkedHashMap<>();
        both.put(first, one);
        both.put(second, two);
        return both;
    }

    private final class Seen implements BrokerObserver {
        @Override
        public void connectionOpened(String listener) {
            opened.add(listener);
        }

        @Override
        public void connectionClosed(String listener, ReasonCode reason) {
            closedEarly.add(listener);
        }

        @Override
        public void connectionRefused(String listener, String limit) {
            refused.add(limit);
        }
    }
}
