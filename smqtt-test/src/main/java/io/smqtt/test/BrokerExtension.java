// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ProtocolVersion;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Runs a broker in the test's JVM, on a free port of the loopback address: one for all tests of the class when registered
 * in a static field, one for each test otherwise. Its clock is {@link #ticker()} and does not move on its own. Clients
 * made by {@link #open} are closed after each test.
 *
 * <pre>{@code
 * import io.smqtt.message.ProtocolVersion;
 * import io.smqtt.test.BrokerExtension;
 * import io.smqtt.test.RawClient;
 * import org.junit.jupiter.api.Test;
 * import org.junit.jupiter.api.extension.RegisterExtension;
 *
 * @RegisterExtension
 * static final BrokerExtension BROKER = new BrokerExtension();
 *
 * @Test
 * void answersPings() {
 *     RawClient client = BROKER.client(ProtocolVersion.MQTT_5, "c");
 *     client.ping();
 * }
 * }</pre>
 *
 * <p>Test methods may also take the {@link Broker} or the extension itself as a parameter.
 */
public final class BrokerExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback, ParameterResolver {

    private static final Duration START = Duration.ofSeconds(30);
    private static final Duration CLOSE = Duration.ofSeconds(1);
    private static final String LISTENER = "mqtt";

    private final UnaryOperator<BrokerConfigBuilder> config;
    private final UnaryOperator<BrokerBuilder> parts;
    private final List<RawClient> clients = new ArrayList<>();
    private ManualTicker ticker = new ManualTicker();
    private @Nullable Broker broker;
    private boolean perClass;

    /** A broker with the default configuration. */
    public BrokerExtension() {
        this(builder -> builder);
    }

    /**
     * A broker with a configuration of its own.
     *
     * @param config changes the default configuration; it has one TCP listener, named mqtt
     */
    public BrokerExtension(UnaryOperator<BrokerConfigBuilder> config) {
        this(config, builder -> builder);
    }

    /**
     * A broker with a configuration and parts of its own.
     *
     * @param config changes the default configuration; it has one TCP listener, named mqtt
     * @param parts adds authenticators, observers and the like
     */
    public BrokerExtension(UnaryOperator<BrokerConfigBuilder> config, UnaryOperator<BrokerBuilder> parts) {
        this.config = config;
        this.parts = parts;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        perClass = true;
        start();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (broker == null) {
            start();
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        clients.forEach(RawClient::close);
        clients.clear();
        if (!perClass) {
            stop();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stop();
    }

    private void start() {
        ticker = new ManualTicker();
        ListenerConfig listener =
                ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        BrokerConfigBuilder defaults = BrokerConfig.builder().listeners(Map.of(LISTENER, listener));
        BrokerBuilder builder =
                Broker.builder().config(config.apply(defaults).build()).ticker(ticker);
        broker = Objects.requireNonNull(parts.apply(builder).start().block(START));
    }

    private void stop() {
        Broker running = broker;
        broker = null;
        if (running != null) {
            running.close(CLOSE).block(START);
        }
    }

    /**
     * The broker.
     *
     * @return the one that runs now
     */
    public Broker broker() {
        return Objects.requireNonNull(broker, "no broker runs");
    }

    /**
     * The broker's clock.
     *
     * @return the clock of the broker that runs now
     */
    public ManualTicker ticker() {
        return ticker;
    }

    /**
     * Where the broker listens.
     *
     * @return the address of its TCP listener
     */
    public InetSocketAddress address() {
        return Objects.requireNonNull(broker().listeners().get(LISTENER), "the listener is not bound");
    }

    /**
     * Opens a connection.
     *
     * @param version the protocol version
     * @return a client that has sent nothing; closed after the test
     */
    public RawClient open(ProtocolVersion version) {
        RawClient client = RawClient.to(address(), version);
        clients.add(client);
        return client;
    }

    /**
     * Connects a client with a clean start.
     *
     * @param version the protocol version
     * @param clientId the client identifier
     * @return a client that is connected; closed after the test
     */
    public RawClient client(ProtocolVersion version, String clientId) {
        RawClient client = open(version);
        client.connect(clientId);
        return client;
    }

    /**
     * Waits until the broker has noticed that a client is gone.
     *
     * @param clientId the client identifier
     */
    public void awaitOffline(String clientId) {
        Awaitility.await()
                .until(() -> !Boolean.TRUE.equals(broker().clients()
                        .filter(info -> info.identity().clientId().equals(clientId))
                        .any(info -> info.connected())
                        .block()));
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Broker.class || type == BrokerExtension.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Broker.class ? broker() : this;
    }
}
