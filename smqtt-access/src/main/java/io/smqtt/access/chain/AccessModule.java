// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.BrokerBuilder;
import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.guard.Guard;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.BackendOutcome;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The backends of one broker: {@code access.chain}. */
@AnyThread
final class AccessModule implements BrokerModule {

    private static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(5);

    private final AccessConfig config;
    private final Map<String, ListenerConfig> listeners;
    private final Map<String, Member> members = new LinkedHashMap<>();
    private final ChainAuthorizer authorizer;
    private final Reports reports;
    private final RuleRefresh refresh;

    private AccessModule(BrokerConfig broker, Map<String, AccessBackend> backends, Reports reports) {
        this.config = broker.access();
        this.listeners = broker.listeners();
        this.reports = reports;
        backends.forEach((name, backend) -> {
            AccessBackendConfig common = config(config, name);
            members.put(name, new Member(name, common, backend, new Guard(name, common, Ticker.SYSTEM, reports)));
        });
        List<Member> all = List.copyOf(members.values());
        authorizer = new ChainAuthorizer(all);
        refresh = new RuleRefresh(all, authorizer);
    }

    /** Opens all backends. Blocks. */
    static AccessModule open(BrokerConfig broker) {
        AccessConfig config = broker.access();
        Map<String, AccessBackendFactory> factories = factories();
        Map<String, AccessBackend> opened = new LinkedHashMap<>();
        List<String> problems = new ArrayList<>();
        Reports reports = new Reports();
        config.backends().forEach((name, common) -> {
            try {
                opened.put(name, open(name, common, factories, reports));
            } catch (ConfigurationException e) {
                problems.addAll(e.problems());
            }
        });
        if (!problems.isEmpty()) {
            opened.values().forEach(AccessBackend::close);
            throw new ConfigurationException(problems);
        }
        return new AccessModule(broker, opened, reports);
    }

    private static AccessBackend open(
            String name, AccessBackendConfig common, Map<String, AccessBackendFactory> factories, Reports reports) {
        AccessBackendFactory factory = factories.get(common.type());
        if (factory == null) {
            throw new ConfigurationException(
                    "access.backends." + name + ".type",
                    "is " + common.type() + ", but the types that are present are "
                            + String.join(", ", factories.keySet()) + "; others need their jar");
        }
        BackendSettings settings = BackendSettings.of(name, factory.settings(), common.settings());
        return factory.open(settings, new BackendContext(name, common, Ticker.SYSTEM, reports));
    }

    private static Map<String, AccessBackendFactory> factories() {
        Map<String, AccessBackendFactory> factories = new TreeMap<>();
        ClassLoader own = AccessModule.class.getClassLoader();
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        try {
            ServiceLoader.load(AccessBackendFactory.class, context == null ? own : context)
                    .forEach(factory -> factories.putIfAbsent(factory.type(), factory));
            ServiceLoader.load(AccessBackendFactory.class, own)
                    .forEach(factory -> factories.putIfAbsent(factory.type(), factory));
        } catch (ServiceConfigurationError | LinkageError e) {
            throw new ConfigurationException(
                    "access.backends",
                    "an extension cannot be loaded, it may be for another version: " + e.getMessage());
        }
        return factories;
    }

    private static AccessBackendConfig config(AccessConfig config, String name) {
        AccessBackendConfig found = config.backends().get(name);
        if (found == null) {
            throw new IllegalArgumentException(name);
        }
        return found;
    }

    void addTo(BrokerBuilder builder) {
        builder.module(this).accessChain(this::chain);
        ChainAuthenticator tokens = chain(Map.of()).ofTokens();
        if (!tokens.isEmpty()) {
            builder.enhancedAuthenticator(new TokenAuthenticator(tokens));
        }
        boolean closes = members.values().stream().anyMatch(member -> member.hasRules() || member.decidesTopics());
        if (closes) {
            builder.authorizer(authorizer);
        }
        if (members.values().stream().anyMatch(Member::hasRules)) {
            builder.observer(refresh);
        }
    }

    private ChainAuthenticator chain(Map<String, Authenticator> builtIn) {
        return new ChainAuthenticator(config.chain(), members, builtIn, this::connectTimeout, Schedulers.parallel());
    }

    private Duration connectTimeout(String listener) {
        ListenerConfig found = listeners.get(listener);
        return found == null ? DEFAULT_CONNECT_TIMEOUT : found.connectTimeout();
    }

    @Override
    public String configurationKey() {
        return "access.chain";
    }

    @Override
    public Mono<Void> start(Core core) {
        reports.to(core.observer(), members.keySet());
        refresh.start();
        members.values().forEach(Member::start);
        return Mono.empty();
    }

    /** Reads the files of the backends again, and forgets all answers, so that changes are in force at once. */
    @Override
    public ReloadResult reload() {
        ReloadResult result =
                ReloadResult.of(members.values().stream().map(Member::reload).toList());
        clearAccessCache();
        return result;
    }

    @Override
    public long clearAccessCache() {
        long count = members.values().stream().mapToLong(Member::clear).sum();
        refresh.all();
        authorizer.changed();
        return count;
    }

    @Override
    public Mono<Void> stop() {
        refresh.stop();
        return Mono.<Void>fromRunnable(this::close).subscribeOn(Schedulers.boundedElastic());
    }

    /** Closes the backends. Blocks. */
    void close() {
        members.values().forEach(Member::close);
    }

    /** Reports to the observer of the broker, which is known only at its start. */
    private static final class Reports implements LifecycleObserver {

        private volatile @Nullable LifecycleObserver observer;

        void to(LifecycleObserver core, Iterable<String> names) {
            observer = core;
            names.forEach(name -> core.backendWorking(name, true));
        }

        @Override
        public void backendAnswered(String backend, BackendOutcome outcome, long nanos) {
            LifecycleObserver core = observer;
            if (core != null) {
                core.backendAnswered(backend, outcome, nanos);
            }
        }

        @Override
        public void backendWorking(String backend, boolean working) {
            LifecycleObserver core = observer;
            if (core != null) {
                core.backendWorking(backend, working);
            }
        }
    }
}
