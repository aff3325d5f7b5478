// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.ManagementStatus;
import io.smqtt.thread.AnyThread;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The management port of one broker: what operators see of it, and the metrics and health checks of its other modules.
 */
@AnyThread
public final class AdminModule implements BrokerModule {

    private final BrokerView view = new BrokerView();
    private final ManagementToken token;
    private final ManagementServer server;

    private AdminModule(BrokerConfig config) {
        token = ManagementToken.of(config);
        server = new ManagementServer(
                config.management(), token, view, config.nativeTransport(), ManagementServer.FIRST_REQUEST);
        server.endpoint(ControlPaths.PREFIX, new ControlPaths(view));
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
     * What operators see of the broker.
     *
     * @return the view behind the management port
     */
    public BrokerView view() {
        return view;
    }

    /**
     * Adds paths of the management port. To be called before the broker starts, once for each prefix.
     *
     * @param prefix what the paths begin with, such as {@code /smqtt/}
     * @param endpoint answers those who have shown the token
     * @return this
     */
    public AdminModule endpoint(String prefix, ManagementEndpoint endpoint) {
        server.endpoint(prefix, endpoint);
        return this;
    }

    /**
     * Where the management port is bound.
     *
     * @return with the real port, or null while it is not bound
     */
    public @Nullable InetSocketAddress address() {
        return server.address();
    }

    @Override
    public Supplier<ManagementStatus> management() {
        return server.connections()::status;
    }

    /** Binds the management port, which from then on tells that the broker is not ready yet. */
    @Override
    public Mono<Void> start(Core core) {
        return Mono.<Void>fromRunnable(token::prepare) // here the data directory is there, and nobody else's
                .subscribeOn(Schedulers.boundedElastic())
                .then(view.start(core))
                .then(server.bind())
                .publishOn(Schedulers.boundedElastic()); // other modules must not start on the thread that answers
    }

    @Override
    public void listening() {
        view.listening();
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
        return new ReloadResult(read, problems);
    }

    @Override
    public Mono<Void> stop() {
        return server.close().then(view.stop());
    }
}
