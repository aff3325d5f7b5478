// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.ManagementConfigBuilder;
import io.smqtt.metric.MetricModule;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.PayloadChecks;
import io.smqtt.spi.PeerQueries;
import io.smqtt.spi.Rules;
import io.smqtt.spi.Sources;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A broker with its management port, and a client of that. */
final class ManagedBroker implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    final MetricModule metrics;
    final AdminModule module;
    final Broker broker;
    private final HttpClient http = HttpClient.newHttpClient();

    ManagedBroker() {
        this(builder -> builder, management -> management.sysInterval(Duration.ZERO));
    }

    ManagedBroker(UnaryOperator<BrokerConfigBuilder> config, UnaryOperator<ManagementConfigBuilder> management) {
        this(config, management, new Cluster(null));
    }

    /** A broker that takes itself for a node of a cluster. */
    static ManagedBroker in(ClusterStatus cluster) {
        return in(new Cluster(cluster), management -> management);
    }

    /** The same, with the answers of other nodes. */
    static ManagedBroker in(Cluster cluster, UnaryOperator<ManagementConfigBuilder> management) {
        return new ManagedBroker(builder -> builder, all -> management.apply(all.sysInterval(Duration.ZERO)), cluster);
    }

    private ManagedBroker(
            UnaryOperator<BrokerConfigBuilder> config,
            UnaryOperator<ManagementConfigBuilder> management,
            Cluster cluster) {
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        BrokerConfigBuilder builder = BrokerConfig.builder()
                .listeners(Map.of("tcp", tcp))
                .access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .build())
                .management(management.apply(ManagementConfig.builder().port(0)).build());
        BrokerConfig built = config.apply(builder).build();
        metrics = MetricModule.create(built);
        module = AdminModule.create(built);
        broker = Objects.requireNonNull(Broker.builder()
                .config(built)
                .observer(metrics.observer())
                .module(metrics)
                .module(module)
                .module(cluster)
                .start()
                .block(PATIENCE));
    }

    /**
     * Makes the broker a node of a cluster, as it seems.
     *
     * @param status how the cluster looks, or null for none
     * @param peerQueries asks the other nodes, or null if that cannot be
     * @param bridges the bridges of this node, or null if it has none
     * @param payloadChecks the checks of payloads, or null if there are none
     * @param sources the sources of this node, or null if it has none
     * @param rules the rules of this node, or null if it has none
     */
    record Cluster(
            @Nullable ClusterStatus status,
            @Nullable PeerQueries peerQueries,
            @Nullable Bridges bridges,
            @Nullable PayloadChecks payloadChecks,
            @Nullable Sources sources,
            @Nullable Rules rules)
            implements BrokerModule {

        Cluster(
                @Nullable ClusterStatus status,
                @Nullable PeerQueries peerQueries,
                @Nullable Bridges bridges,
                @Nullable PayloadChecks payloadChecks,
                @Nullable Sources sources) {
            this(status, peerQueries, bridges, payloadChecks, sources, null);
        }

        Cluster(@Nullable ClusterStatus status) {
            this(status, null);
        }

        Cluster(@Nullable ClusterStatus status, @Nullable PeerQueries peerQueries) {
            this(status, peerQueries, null);
        }

        Cluster(@Nullable ClusterStatus status, @Nullable PeerQueries peerQueries, @Nullable Bridges bridges) {
            this(status, peerQueries, bridges, null, null);
        }

        @Override
        public @Nullable Supplier<ClusterStatus> cluster() {
            return status == null ? null : () -> status;
        }

        @Override
        public Mono<Void> start(Core core) {
            return Mono.empty();
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }
    }

    HttpResponse<String> get(String path, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).timeout(PATIENCE);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> post(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(uri(path))
                .POST(HttpRequest.BodyPublishers.ofString("x"))
                .timeout(PATIENCE)
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private URI uri(String path) {
        InetSocketAddress address = Objects.requireNonNull(module.address());
        return URI.create("http://127.0.0.1:" + address.getPort() + path);
    }

    @Override
    public void close() {
        broker.close(Duration.ofSeconds(1)).block(PATIENCE);
    }
}
