// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.access.AclFile;
import io.smqtt.access.PasswordFile;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ManagementTlsConfig;
import io.smqtt.config.TlsConfig;
import io.smqtt.spi.AccessChain;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.Bans;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.Interceptor;
import io.smqtt.spi.Observer;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.spi.Ticker;
import io.smqtt.transport.Listeners;
import io.smqtt.transport.TlsContexts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Builds brokers. Not thread-safe; each {@link #start()} starts a new broker. */
public final class BrokerBuilder {

    BrokerConfig config = BrokerConfig.defaults();
    final List<Authenticator> authenticators = new ArrayList<>();
    final List<EnhancedAuthenticator> enhancedAuthenticators = new ArrayList<>();
    final List<Authorizer> authorizers = new ArrayList<>();
    final List<Interceptor> interceptors = new ArrayList<>();
    final List<Observer> observers = new ArrayList<>();
    final List<BrokerModule> modules = new ArrayList<>();
    Bans bans = Bans.NONE;

    @Nullable
    AccessChain accessChain;

    ClientDirectory directory = ClientDirectory.LOCAL;
    Ticker ticker = Ticker.SYSTEM;

    /** Maximum duration of each step of the shutdown. Tests shorten it. */
    Duration patience = Duration.ofSeconds(20);

    /** Time without progress of a consumer after which publishes of this process no longer wait for it. Tests change it. */
    Duration stall = Duration.ofSeconds(1);

    @Nullable
    BrokerStore store;

    BrokerBuilder() {}

    /**
     * Sets the configuration; default {@link BrokerConfig#defaults()}.
     *
     * @param config the configuration
     * @return this builder
     */
    public BrokerBuilder config(BrokerConfig config) {
        this.config = config;
        return this;
    }

    /**
     * Adds an authenticator, asked before the built-in ones and after those added earlier.
     *
     * @param authenticator decides who may connect
     * @return this builder
     */
    public BrokerBuilder authenticator(Authenticator authenticator) {
        authenticators.add(authenticator);
        return this;
    }

    /**
     * Sets what combines the built-in authenticators with backends. Without it they are asked one after the other.
     *
     * @param chain gets the built-in authenticators
     * @return this builder
     */
    public BrokerBuilder accessChain(AccessChain chain) {
        accessChain = chain;
        return this;
    }

    /**
     * Adds a method of enhanced authentication; it replaces a built-in one of the same name.
     *
     * @param authenticator one authentication method
     * @return this builder
     */
    public BrokerBuilder enhancedAuthenticator(EnhancedAuthenticator authenticator) {
        enhancedAuthenticators.add(authenticator);
        return this;
    }

    /**
     * Adds an authorizer, asked before the ACL file and after those added earlier.
     *
     * @param authorizer decides what clients may do
     * @return this builder
     */
    public BrokerBuilder authorizer(Authorizer authorizer) {
        authorizers.add(authorizer);
        return this;
    }

    /**
     * Adds bans.
     *
     * @param bans asked for each CONNECT, together with those added earlier
     * @return this builder
     */
    public BrokerBuilder bans(Bans bans) {
        this.bans = this.bans.or(bans);
        return this;
    }

    /**
     * Adds an interceptor of messages, called after those added earlier.
     *
     * @param interceptor intercepts each message of a client, and the other requests whose interfaces it implements
     * @return this builder
     */
    public BrokerBuilder interceptor(PublishInterceptor interceptor) {
        return interceptor((Interceptor) interceptor);
    }

    /**
     * Adds an interceptor of one or several kinds, called after those of the same kind that were added earlier.
     *
     * @param interceptor intercepts each request of its kinds
     * @return this builder
     */
    public BrokerBuilder interceptor(Interceptor interceptor) {
        interceptors.add(interceptor);
        return this;
    }

    /**
     * Adds an observer.
     *
     * @param observer gets the calls of the interfaces that it implements: {@link io.smqtt.spi.LifecycleObserver},
     *     {@link io.smqtt.spi.MessageObserver}, {@link io.smqtt.spi.StoreObserver}, or all of them
     * @return this builder
     */
    public BrokerBuilder observer(Observer observer) {
        observers.add(observer);
        return this;
    }

    /**
     * Adds a module.
     *
     * @param module started after those added earlier, stopped before them
     * @return this builder
     */
    public BrokerBuilder module(BrokerModule module) {
        modules.add(module);
        return this;
    }

    /**
     * Sets the directory that knows which node owns a client identifier; default {@link ClientDirectory#LOCAL}.
     *
     * @param directory asked for each CONNECT
     * @return this builder
     */
    public BrokerBuilder clientDirectory(ClientDirectory directory) {
        this.directory = directory;
        return this;
    }

    /**
     * Sets the clock of all expiries and deadlines; default {@link Ticker#SYSTEM}.
     *
     * @param ticker a monotonic clock
     * @return this builder
     */
    public BrokerBuilder ticker(Ticker ticker) {
        this.ticker = ticker;
        return this;
    }

    /**
     * Reads the files that {@link #start()} reads (access files, certificates and keys) without starting a broker. Blocks.
     *
     * @throws ConfigurationException if a file cannot be used, with all problems that were found
     */
    public void check() {
        List<String> problems = new ArrayList<>();
        Path passwords = config.access().passwordFile();
        Path rules = config.access().aclFile();
        if (passwords != null) {
            collect(problems, () -> PasswordFile.read(passwords));
        }
        if (rules != null) {
            collect(problems, () -> AclFile.read(rules));
        }
        config.listeners().forEach((name, listener) -> collect(problems, () -> Listeners.check(name, listener)));
        ManagementTlsConfig management = config.management().tls();
        if (management != null) {
            TlsConfig tls = TlsConfig.builder(management.certificate(), management.key())
                    .build();
            collect(problems, () -> TlsContexts.check("management.tls", tls));
        }
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
    }

    static void collect(List<String> problems, Runnable step) {
        try {
            step.run();
        } catch (ConfigurationException e) {
            problems.addAll(e.problems());
        }
    }

    /**
     * Sets the store for persistent sessions, their messages and retained messages; by default they are kept in memory. The
     * broker closes the store.
     *
     * @param store a store that has not been read yet
     * @return this builder
     */
    public BrokerBuilder store(@Nullable BrokerStore store) {
        this.store = store;
        return this;
    }

    /**
     * Starts a broker: reads the access files and binds all listeners. On failure no listener stays bound.
     *
     * @return the running broker; fails with {@link io.smqtt.config.ConfigurationException} or
     *     {@link io.smqtt.transport.BindFailedException}
     */
    public Mono<Broker> start() {
        return Mono.fromCallable(() -> new Broker(this))
                .onErrorResume(error -> Shutdown.stop(modules).then(Mono.error(error)))
                .map(Broker::recover)
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(broker -> broker.bind().thenReturn(broker));
    }
}
