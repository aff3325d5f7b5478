// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Interception;
import io.smqtt.test.wire.MqttProxy;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A broker in the test's JVM, on a free port of the loopback address, with a clock that the test moves and a memory of what
 * clients published. Tests with JUnit get it by {@link MqttBroker}; this class needs no JUnit. Thread-safe.
 *
 * <pre>{@code
 * import static org.assertj.core.api.Assertions.assertThat;
 * import io.smqtt.test.TestBroker;
 *
 * try (TestBroker broker = TestBroker.start()) {
 *     application.connect(broker.host(), broker.port());
 *     assertThat(broker).received("devices/7/state").withQos(1).withPayload("on");
 * }
 * }</pre>
 */
public final class TestBroker implements AutoCloseable, AssertProvider<BrokerAssert> {

    private static final String LISTENER = "mqtt";
    private static final String LOOPBACK = "127.0.0.1";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration CLOSE = Duration.ofSeconds(1);

    private final String name;
    private final Broker broker;
    private final BrokerClock clock;
    private final ReceivedMessages received;
    private final List<AutoCloseable> opened = new CopyOnWriteArrayList<>();

    private TestBroker(Builder builder) {
        name = builder.name;
        clock = builder.clock;
        received = builder.received;
        broker = Objects.requireNonNull(builder.broker().start().block(PATIENCE));
    }

    /**
     * Starts a broker with the default configuration and a clock that runs. Blocks.
     *
     * @return a broker that clients can connect to
     */
    public static TestBroker start() {
        return builder().start();
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one broker
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects what a {@link TestBroker} is made of. Not thread-safe. */
    public static final class Builder {

        private final ReceivedMessages received = new ReceivedMessages();
        private final Map<String, String> properties = new LinkedHashMap<>();
        private String name = "";
        private BrokerClock clock = BrokerClock.running();
        private UnaryOperator<BrokerConfigBuilder> config = builder -> builder;
        private UnaryOperator<BrokerBuilder> parts = builder -> builder;

        private Builder() {}

        Builder name(String value) {
            name = value;
            return this;
        }

        /**
         * Sets how many messages of one test {@link TestBroker#received()} can have; default 100,000. With more it fails, for it
         * has not kept them.
         *
         * @param messages 1 or more
         * @return this
         */
        public Builder remember(int messages) {
            received.limit(messages);
            return this;
        }

        /**
         * Sets the clock; default {@link BrokerClock#running()}.
         *
         * @param value a clock that no other broker has
         * @return this
         */
        public Builder clock(BrokerClock value) {
            clock = value;
            return this;
        }

        /**
         * Sets a configuration key as the broker's configuration file has it, before what {@link #config} changes.
         *
         * @param key such as {@code limits.max-packet-bytes}
         * @param value such as {@code 64KiB}; lists are separated by commas
         * @return this
         */
        public Builder property(String key, String value) {
            properties.put(key, value);
            return this;
        }

        /**
         * Changes the configuration; it has one TCP listener, named mqtt, which must stay.
         *
         * @param change called at the start, after those given earlier
         * @return this
         */
        public Builder config(UnaryOperator<BrokerConfigBuilder> change) {
            UnaryOperator<BrokerConfigBuilder> before = config;
            config = builder -> change.apply(before.apply(builder));
            return this;
        }

        /**
         * Adds authenticators, observers, modules, a store and the like.
         *
         * @param change called at the start, after those given earlier
         * @return this
         */
        public Builder parts(UnaryOperator<BrokerBuilder> change) {
            UnaryOperator<BrokerBuilder> before = parts;
            parts = builder -> change.apply(before.apply(builder));
            return this;
        }

        private BrokerBuilder broker() {
            ListenerConfig listener =
                    ListenerConfig.tcp(0).toBuilder().host(LOOPBACK).build();
            Map<String, ConfigValue> values = new LinkedHashMap<>();
            properties.forEach((key, value) -> values.put(key, new ConfigValue(value, "property", Path.of(""))));
            BrokerConfig defaults = ConfigBinder.bind(
                    BrokerConfig.builder().listeners(Map.of(LISTENER, listener)).build(), values);
            BrokerBuilder builder =
                    Broker.builder().config(config.apply(defaults.toBuilder()).build());
            return parts.apply(builder).ticker(clock).module(clock.module()).interceptor((client, message) -> {
                received.add(message);
                return Mono.just(Interception.forward(message));
            });
        }

        /**
         * Starts the broker. Blocks.
         *
         * @return a broker that clients can connect to
         * @throws io.smqtt.config.ConfigurationException if the configuration cannot be used, with all problems that were found
         */
        public TestBroker start() {
            return new TestBroker(this);
        }
    }

    /**
     * The broker.
     *
     * @return to publish, subscribe and inspect in this process
     */
    public Broker broker() {
        return broker;
    }

    /**
     * The broker's clock.
     *
     * @return moved by nobody but the test
     */
    public BrokerClock clock() {
        return clock;
    }

    /**
     * Where the broker listens.
     *
     * @return the address of its TCP listener
     */
    public InetSocketAddress address() {
        InetSocketAddress bound = broker.listeners().get(LISTENER);
        if (bound == null) {
            throw new IllegalStateException("the listener '" + LISTENER + "' was taken out of the configuration");
        }
        return bound;
    }

    /**
     * The host to connect to.
     *
     * @return the loopback address as text
     */
    public String host() {
        return LOOPBACK;
    }

    /**
     * The port to connect to.
     *
     * @return the one that the system chose
     */
    public int port() {
        return address().getPort();
    }

    /**
     * Where to connect to.
     *
     * @return such as {@code mqtt://127.0.0.1:40123}
     */
    public URI uri() {
        return uri("mqtt");
    }

    /**
     * Where to connect to, for clients with schemes of their own.
     *
     * @param scheme such as {@code tcp} for Eclipse Paho
     * @return such as {@code tcp://127.0.0.1:40123}
     */
    public URI uri(String scheme) {
        return URI.create(scheme + "://" + LOOPBACK + ':' + port());
    }

    /**
     * Opens a connection.
     *
     * @param version the protocol version
     * @return a client that has sent nothing; closed after the test, and with the broker
     */
    public RawClient open(ProtocolVersion version) {
        RawClient client = RawClient.to(address(), version);
        opened.add(client);
        return client;
    }

    /**
     * Connects a client with a clean start.
     *
     * @param version the protocol version
     * @param clientId the client identifier
     * @return a client that is connected; closed after the test, and with the broker
     */
    public RawClient client(ProtocolVersion version, String clientId) {
        RawClient client = open(version);
        client.connect(clientId);
        return client;
    }

    /**
     * Puts a proxy in front of the broker, which can drop, delay and double packets and cut connections.
     *
     * @return a proxy without faults; closed after the test, and with the broker
     */
    public MqttProxy proxy() {
        MqttProxy proxy = MqttProxy.to(address());
        opened.add(proxy);
        return proxy;
    }

    /**
     * What clients published and the broker accepted, wills and the broker's own messages excepted.
     *
     * @return the messages of this test in the order in which they came, a snapshot; {@code publisherId()} tells whose they are
     * @throws IllegalStateException if there were more than {@link Builder#remember} allows
     */
    public List<ApplicationMessage> received() {
        return received.all();
    }

    @Override
    public BrokerAssert assertThat() {
        return new BrokerAssert(this);
    }

    /**
     * Forgets what was received, and closes the clients and proxies that were opened here. The extension does so after each test
     * if the broker lives on.
     */
    public void clear() {
        List<AutoCloseable> all = new ArrayList<>(opened);
        opened.removeAll(all);
        RuntimeException failure = null;
        for (AutoCloseable one : all) {
            failure = close(one, failure);
        }
        received.clear();
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable RuntimeException close(AutoCloseable one, @Nullable RuntimeException before) {
        try {
            one.close();
            return before;
        } catch (Exception e) {
            if (before == null) {
                return new IllegalStateException("could not be closed: " + one, e);
            }
            before.addSuppressed(e);
            return before;
        }
    }

    /** Stops the broker and closes what was opened here. Returns when its threads have ended; blocks. May be called more than once. */
    @Override
    public void close() {
        try {
            clear();
        } finally {
            broker.close(CLOSE).block(PATIENCE);
        }
    }

    @Override
    public String toString() {
        return name.isEmpty() ? "TestBroker" : "TestBroker '" + name + "'";
    }
}
