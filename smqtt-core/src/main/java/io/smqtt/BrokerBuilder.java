// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.access.AclFile;
import io.smqtt.access.PasswordFile;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ManagementTlsConfig;
import io.smqtt.config.TlsConfig;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
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

/** Collects what a broker is made of. Not thread-safe; each {@link #start()} makes a broker of its own. */
public final class BrokerBuilder {

    BrokerConfig config = BrokerConfig.defaults();
    final List<Authenticator> authenticators = new ArrayList<>();
    final List<EnhancedAuthenticator> enhancedAuthenticators = new ArrayList<>();
    final List<Authorizer> authorizers = new ArrayList<>();
    final List<Interceptor> interceptors = new ArrayList<>();
    final List<Observer> observers = new ArrayList<>();
    final List<BrokerModule> modules = new ArrayList<>();
    ClientDirectory directory = ClientDirectory.LOCAL;
    Ticker ticker = Ticker.SYSTEM;

    /** How long each step of the end may take. Tests make it shorter. */
    Duration patience = Duration.ofSeconds(20);

    /** How long a consumer may take nothing before publishes of this process do not wait for it any more. Tests change it. */
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
     * Adds a method of enhanced authentication; it takes the place of a built-in one of the same name.
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
     * Adds an interceptor of messages, called after those added earlier.
     *
     * @param interceptor sees each message that a client publishes, and what else it has the interfaces for
     * @return this builder
     */
    public BrokerBuilder interceptor(PublishInterceptor interceptor) {
        return interceptor((Interceptor) interceptor);
    }

    /**
     * Adds an interceptor of any kind, or of several, called after those of its kind that were added earlier.
     *
     * @param interceptor sees each request of its kinds
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
     * Adds a part that lives outside of the core.
     *
     * @param module started after those added earlier, stopped before them
     * @return this builder
     */
    public BrokerBuilder module(BrokerModule module) {
        modules.add(module);
        return this;
    }

    /**
     * Sets who knows which node owns a client identifier; default {@link ClientDirectory#LOCAL}.
     *
     * @param directory asked for each client that connects
     * @return this builder
     */
    public BrokerBuilder clientDirectory(ClientDirectory directory) {
        this.directory = directory;
        return this;
    }

    /**
     * Sets the clock that all expiries and deadlines go by; default {@link Ticker#SYSTEM}.
     *
     * @param ticker a monotonic clock
     * @return this builder
     */
    public BrokerBuilder ticker(Ticker ticker) {
        this.ticker = ticker;
        return this;
    }

    /**
     * Reads the files that {@link #start()} would read, which are the access files, certificates and keys, and starts nothing.
     * Blocks.
     *
     * @throws ConfigurationException if there is a file that cannot be used, with all problems that were found
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
     * Sets where persistent sessions, their messages and retained messages survive the process; by default they live in
     * memory. The broker closes it.
     *
     * @param store a store that nobody has read yet
     * @return this builder
     */
    public BrokerBuilder store(@Nullable BrokerStore store) {
        this.store = store;
        return this;
    }

    /**
     * Starts a broker: reads the access files, binds all listeners. Nothing is bound if anything fails.
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
