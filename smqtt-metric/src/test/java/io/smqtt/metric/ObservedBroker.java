// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.ManagementConfigBuilder;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ManagementStatus;
import io.smqtt.test.RawClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A broker with meters, and its clients. */
final class ObservedBroker implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final ManagementStatus PORT = new ManagementStatus(
            new ManagementStatus.Connections(1, 2),
            new ManagementStatus.Connections(6, 7),
            new ManagementStatus.Connections(3, 4),
            5);

    final MetricModule module;
    final Broker broker;
    private final CoreGrabber grabber;
    private final List<RawClient> clients = new ArrayList<>();

    ObservedBroker() {
        this(builder -> builder, management -> management.sysInterval(Duration.ZERO));
    }

    ObservedBroker(UnaryOperator<BrokerConfigBuilder> config, UnaryOperator<ManagementConfigBuilder> management) {
        this(config, management, null, null);
    }

    /** A broker that takes itself for a node of a cluster. */
    static ObservedBroker in(ClusterStatus cluster) {
        return new ObservedBroker(
                builder -> builder, management -> management.sysInterval(Duration.ZERO), cluster, null);
    }

    /** The same, with a bridge that is called {@code cloud}. */
    static ObservedBroker in(ClusterStatus cluster, Bridges bridges) {
        return new ObservedBroker(
                builder -> builder.bridges(Map.of(
                        "cloud",
                        BridgeConfig.builder("cloud.example.com:1883", "a")
                                .connections(2)
                                .build())),
                management -> management.sysInterval(Duration.ZERO),
                cluster,
                bridges);
    }

    private ObservedBroker(
            UnaryOperator<BrokerConfigBuilder> config,
            UnaryOperator<ManagementConfigBuilder> management,
            @Nullable ClusterStatus cluster,
            @Nullable Bridges bridges) {
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        BrokerConfigBuilder builder = BrokerConfig.builder()
                .listeners(Map.of("tcp", tcp))
                .access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .build())
                .management(management.apply(ManagementConfig.builder().port(0)).build());
        BrokerConfig built = config.apply(builder).build();
        module = MetricModule.create(built);
        grabber = new CoreGrabber(cluster, bridges);
        broker = Objects.requireNonNull(Broker.builder()
                .config(built)
                .observer(module.observer())
                .module(module)
                .module(grabber)
                .start()
                .block(PATIENCE));
    }

    /** What the broker's modules work with. */
    BrokerModule.Core core() {
        return Objects.requireNonNull(grabber.core);
    }

    /** A module that starts after the one under test, and seems to be the cluster and the management port. */
    private static final class CoreGrabber implements BrokerModule {

        private final @Nullable ClusterStatus cluster;
        private final @Nullable Bridges bridges;
        private volatile @Nullable Core core;

        CoreGrabber(@Nullable ClusterStatus cluster, @Nullable Bridges bridges) {
            this.cluster = cluster;
            this.bridges = bridges;
        }

        @Override
        public String configurationKey() {
            return "bridges";
        }

        @Override
        public @Nullable Bridges bridges() {
            return bridges;
        }

        @Override
        public @Nullable Supplier<ClusterStatus> cluster() {
            ClusterStatus status = cluster;
            return status == null ? null : () -> status;
        }

        @Override
        public Supplier<ManagementStatus> management() {
            return () -> PORT;
        }

        @Override
        public Mono<Void> start(Core given) {
            core = given;
            return Mono.empty();
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }
    }

    RawClient open(ProtocolVersion version) {
        RawClient client =
                RawClient.to(Objects.requireNonNull(broker.listeners().get("tcp")), version);
        clients.add(client);
        return client;
    }

    RawClient client(String id) {
        RawClient client = open(ProtocolVersion.MQTT_5);
        client.connect(id);
        return client;
    }

    /** What a scrape shows of one meter: the sum of all lines with the name and these tags. */
    double scraped(String name, String... tags) {
        double sum = 0;
        boolean found = false;
        for (String line : module.scrape().split("\n")) {
            String series = line.substring(0, Math.max(0, line.lastIndexOf(' ')));
            boolean same = series.equals(name) || series.startsWith(name + "{");
            for (String tag : tags) {
                same = same && series.contains(tag);
            }
            if (same) {
                found = true;
                sum += Double.parseDouble(line.substring(line.lastIndexOf(' ')));
            }
        }
        if (!found) {
            throw new AssertionError("no series " + name + " with " + List.of(tags));
        }
        return sum;
    }

    @Override
    public void close() {
        clients.forEach(RawClient::close);
        broker.close(Duration.ofSeconds(1)).block(PATIENCE);
    }
}
