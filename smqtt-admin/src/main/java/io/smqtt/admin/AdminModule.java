// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.security.ConfigRoutes;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.Bans;
import io.smqtt.spi.ManagementStatus;
import io.smqtt.spi.Observer;
import io.smqtt.thread.AnyThread;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The management port of one broker: the {@link BrokerView}, and the metrics and health checks of the other modules.
 */
@AnyThread
public final class AdminModule implements BrokerModule {

    private final BrokerView view = new BrokerView();
    private final ManagementToken token;
    private final AdminParts parts;
    private final ManagementServer server;

    private volatile List<ConfigRoutes.Value> configuration;

    private AdminModule(BrokerConfig config) {
        List<ConfigRoutes.Value> values = new ArrayList<>();
        token = ManagementToken.of(config);
        server = new ManagementServer(
                config.management(), token, view, config.nativeTransport(), ManagementServer.FIRST_REQUEST);
        ConfigSchema.values(config).forEach((key, value) -> values.add(new ConfigRoutes.Value(key, value, "program")));
        configuration = List.copyOf(values);
        parts = AdminParts.of(
                config, view, "", accounts -> AdminParts.callers(config, token, accounts), () -> configuration, true);
        server.mount(parts);
    }

    /**
     * Creates the module; nothing is bound yet. Reads the token file and the certificate, so it blocks.
     *
     * @param config the configuration of the broker
     * @return for one broker
     * @throws ConfigurationException if there is no token although one is needed, or a file cannot be used
     */
    public static AdminModule create(BrokerConfig config) {
        return new AdminModule(config);
    }

    /**
     * Returns the view of the broker.
     *
     * @return the view that the management port shows
     */
    public BrokerView view() {
        return view;
    }

    /**
     * Registers an endpoint of the management port. To be called before the broker starts, once for each prefix.
     *
     * @param prefix the prefix of the paths, such as {@code /smqtt/}
     * @param endpoint answers requests with the token
     * @return this
     */
    public AdminModule endpoint(String prefix, ManagementEndpoint endpoint) {
        server.endpoint(prefix, endpoint);
        return this;
    }

    /**
     * Sets what {@code /configs} shows, which without this call is the configuration of the broker without origins.
     *
     * @param values every key with the text of its value, secrets masked
     * @param origin where the value of a key comes from
     */
    public void configuration(Map<String, String> values, Function<String, String> origin) {
        configuration = values.entrySet().stream()
                .map(entry -> new ConfigRoutes.Value(entry.getKey(), entry.getValue(), origin.apply(entry.getKey())))
                .toList();
    }

    /**
     * Returns the address of the management port.
     *
     * @return the address with the bound port; null while it is not bound
     */
    public @Nullable InetSocketAddress address() {
        return server.address();
    }

    /** The routes of all mounted routers. */
    List<Route> routes() {
        return parts.mounted().stream().flatMap(api -> api.routes().stream()).toList();
    }

    @Override
    public Supplier<ManagementStatus> management() {
        return server.connections()::status;
    }

    /**
     * Returns what has to see the events of the broker.
     *
     * @return for {@link io.smqtt.BrokerBuilder#observer}; empty if nothing has
     */
    public List<Observer> observers() {
        return parts.observers();
    }

    @Override
    public Bans bans() {
        return parts.bans();
    }

    /** Binds the management port, which reports until the end of the start that the broker is not ready. */
    @Override
    public Mono<Void> start(Core core) {
        return Mono.<Void>fromRunnable(token::prepare) // now the data directory exists and is locked by this broker
                .subscribeOn(Schedulers.boundedElastic())
                .then(view.start(core))
                .thenMany(Flux.fromIterable(parts.modules()).concatMap(part -> part.start(core)))
                .then(server.bind())
                .publishOn(Schedulers.boundedElastic()); // other modules must not start on the thread that answers
    }

    @Override
    public void listening() {
        view.listening();
        parts.modules().forEach(BrokerModule::listening);
    }

    @Override
    public void draining() {
        parts.modules().forEach(BrokerModule::draining);
    }

    /** Reads the token, and the certificate of the management port, again. */
    @Override
    public ReloadResult reload() {
        List<String> read = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        try {
            Path file = token.reload();
            if (file != null) {
                read.add(file.toString());
            }
        } catch (ConfigurationException e) {
            problems.add(String.valueOf(e.getMessage()));
        }
        try {
            server.reload().forEach(file -> read.add(file.toString()));
        } catch (ConfigurationException e) {
            problems.add(String.valueOf(e.getMessage()));
        }
        ReloadResult more = parts.reload();
        read.addAll(more.reloaded());
        problems.addAll(more.failed());
        return new ReloadResult(read, problems);
    }

    /**
     * Records in the audit that a signal of the operating system made the broker read its files again.
     *
     * @param failed what could not be used; empty if all could
     */
    public void reloadedBySignal(List<String> failed) {
        parts.audit().reloadedBySignal(failed);
    }

    @Override
    public Mono<Void> stop() {
        return server.close()
                .thenMany(Flux.fromIterable(parts.modules()).concatMap(BrokerModule::stop))
                .then(view.stop());
    }
}
