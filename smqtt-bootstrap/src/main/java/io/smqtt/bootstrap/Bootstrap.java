// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigValue;
import io.smqtt.migrate.Migration;
import io.smqtt.migrate.legacy.LegacyConfig;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * Starts a broker as programs written for the former smqtt do:
 *
 * <pre>{@code
 * Bootstrap bootstrap = Bootstrap.builder()
 *         .tcpConfig(BootstrapConfig.TcpConfig.builder().port(1883).username("smqtt").password("secret").build())
 *         .build()
 *         .start()
 *         .block();
 * }</pre>
 *
 * Settings that mean something else or nothing are logged as warnings. Sessions and messages are kept in memory. The methods
 * of a built object may be called on any thread.
 *
 * @deprecated use {@link Broker#builder()}
 */
@Deprecated(since = "0.1.0")
public final class Bootstrap {

    private static final Logger LOG = LoggerFactory.getLogger(Bootstrap.class);
    private static final Duration STOP = Duration.ofSeconds(10);
    private static final String SOURCE = "Bootstrap.builder()";

    private final Map<String, String> settings;
    private final @Nullable PasswordAuthentication passwords;
    private final @Nullable Path token;
    private final Sinks.Empty<Void> ended = Sinks.empty();
    private volatile Consumer<Bootstrap> started;
    private volatile BrokerStarter.@Nullable CoreBroker running;

    private Bootstrap(Builder builder) {
        settings = new LinkedHashMap<>(builder.settings);
        passwords = builder.passwords;
        token = builder.token;
        started = builder.started;
    }

    /**
     * Begins to describe a broker.
     *
     * @return a builder without settings, for one thread
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Decides who may connect. Called on a thread that may block. */
    @FunctionalInterface
    public interface PasswordAuthentication {

        /**
         * Checks a password.
         *
         * @param userName the user name, never null
         * @param password the password; empty if there is none
         * @param clientIdentifier the client identifier
         * @return whether the client may connect
         */
        boolean auth(String userName, byte[] password, String clientIdentifier);
    }

    /**
     * Starts the broker.
     *
     * @return this, when all listeners are bound; fails with {@link io.smqtt.config.ConfigurationException} or
     *     {@link io.smqtt.transport.BindFailedException}, and with what {@link #doOnStarted} throws, after the broker is stopped
     *     again; nothing happens before subscription
     */
    public Mono<Bootstrap> start() {
        return Mono.fromCallable(this::begin).subscribeOn(Schedulers.boundedElastic());
    }

    /** Starts the broker and waits until {@link #shutdown} is called. Blocks. */
    public void startAwait() {
        start().then(ended.asMono()).block();
    }

    /** Stops the broker and waits for its end, at most some 15 seconds. Blocks. */
    public void shutdown() {
        BrokerStarter.CoreBroker broker = running;
        if (broker != null) {
            broker.close(STOP);
        }
        ended.tryEmitEmpty();
    }

    /**
     * Says what is called when the broker has started.
     *
     * @param action must not block
     * @return this
     */
    public Bootstrap doOnStarted(Consumer<Bootstrap> action) {
        started = action;
        return this;
    }

    /**
     * The broker behind it, for all that the former one could not do.
     *
     * @return the running broker
     * @throws IllegalStateException if it is not running
     */
    public Broker broker() {
        BrokerStarter.CoreBroker broker = running;
        if (broker == null) {
            throw new IllegalStateException("the broker is not running");
        }
        return broker.broker();
    }

    private Bootstrap begin() {
        Migration migration = Migration.ofSettings(settings, SOURCE);
        for (String note : migration.notes()) {
            if (passwords == null || !note.contains("access.allow-anonymous")) {
                LOG.warn("{}", note);
            }
        }
        Map<String, ConfigValue> values =
                new LinkedHashMap<>(migration.values(Path.of("").toAbsolutePath(), "smqtt"));
        values.keySet()
                .removeIf(key -> key.startsWith("legacy.") || key.startsWith("logging.") || key.endsWith("-file"));
        if (passwords != null) {
            values.put("access.allow-anonymous", new ConfigValue("false", SOURCE, Path.of("")));
        }
        if (token != null) {
            values.put(
                    "management.token-file",
                    new ConfigValue(token.toString(), SOURCE, Path.of("").toAbsolutePath()));
        }
        boolean management = values.containsKey("management.port");
        values.put("management.enabled", new ConfigValue(String.valueOf(management), SOURCE, Path.of("")));
        BrokerConfig config = ConfigBinder.bind(BrokerConfig.defaults(), values);
        BrokerStarter.CoreBroker broker = BrokerStarter.start(
                config, new LegacyConfig(management, true), () -> {}, builder -> authenticate(builder, migration));
        running = broker;
        try {
            started.accept(this);
        } catch (RuntimeException | Error e) {
            running = null;
            broker.close(STOP); // nobody gets this object, to stop it
            throw e;
        }
        return this;
    }

    private void authenticate(BrokerBuilder builder, Migration migration) {
        PasswordAuthentication own = passwords;
        if (own != null) {
            builder.authenticator(request -> ask(request, own).subscribeOn(Schedulers.boundedElastic()));
        } else if (migration.hasUsers()) {
            builder.authenticator(
                    request -> ask(request, (user, password, client) -> migration.isUser(user, password)));
        }
    }

    private static Mono<Authentication> ask(AuthenticationRequest request, PasswordAuthentication passwords) {
        String user = request.userName();
        if (user == null) {
            return Authentication.CONTINUE.now();
        }
        byte[] sent = request.password();
        byte[] password = sent == null ? new byte[0] : sent;
        return Mono.fromCallable(() -> passwords.auth(user, password, request.clientId())
                ? Authentication.accepted(user)
                : Authentication.refused());
    }

    /**
     * Collects the settings of a {@link Bootstrap}. Not safe for several threads.
     *
     * @deprecated as {@link Bootstrap} is
     */
    @Deprecated(since = "0.1.0")
    public static final class Builder {

        private final Map<String, String> settings = new LinkedHashMap<>();
        private @Nullable PasswordAuthentication passwords;
        private @Nullable Path token;
        private Consumer<Bootstrap> started = bootstrap -> {};

        private Builder() {}

        private Builder add(BootstrapConfig.@Nullable Block block) {
            if (block != null) {
                settings.putAll(block.settings());
            }
            return this;
        }

        /** {@return this, with MQTT over TCP as the argument says} */
        public Builder tcpConfig(BootstrapConfig.@Nullable TcpConfig value) {
            return add(value);
        }

        /** {@return this, with the management port as the argument says} */
        public Builder httpConfig(BootstrapConfig.@Nullable HttpConfig value) {
            return add(value);
        }

        /** {@return this, with MQTT over WebSocket as the argument says} */
        public Builder websocketConfig(BootstrapConfig.@Nullable WebsocketConfig value) {
            return add(value);
        }

        /** {@return this, with the cluster as the argument says} */
        public Builder clusterConfig(BootstrapConfig.@Nullable ClusterConfig value) {
            return add(value);
        }

        /** {@return this, with the MQTT port set to the argument} */
        public Builder port(int value) {
            settings.put("smqtt.tcp.port", String.valueOf(value));
            return this;
        }

        /** {@return this, with passwords decided by the argument; clients without a user name are refused} */
        public Builder reactivePasswordAuth(PasswordAuthentication value) {
            passwords = value;
            return this;
        }

        /** {@return this, with the token of the management port in the file of the argument, 16 characters or more} */
        public Builder tokenFile(Path value) {
            token = value;
            return this;
        }

        /** {@return this, with the argument called when the broker has started; it must not block} */
        public Builder started(Consumer<Bootstrap> value) {
            started = value;
            return this;
        }

        /** {@return what can be started} */
        public Bootstrap build() {
            return new Bootstrap(this);
        }
    }
}
