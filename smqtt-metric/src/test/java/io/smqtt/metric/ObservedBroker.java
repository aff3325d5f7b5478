// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.ManagementConfigBuilder;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A broker with its management port, and a client of both. */
final class ObservedBroker implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    final MetricModule module;
    final Broker broker;
    private final CoreGrabber grabber = new CoreGrabber();
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<RawClient> clients = new ArrayList<>();

    ObservedBroker() {
        this(builder -> builder, management -> management.sysInterval(Duration.ZERO));
    }

    ObservedBroker(UnaryOperator<BrokerConfigBuilder> config, UnaryOperator<ManagementConfigBuilder> management) {
        this(config, management, null);
    }

    /** A broker that takes itself for a node of a cluster. */
    static ObservedBroker in(ClusterStatus cluster) {
        return new ObservedBroker(builder -> builder, management -> management.sysInterval(Duration.ZERO), cluster);
    }

    private ObservedBroker(
            UnaryOperator<BrokerConfigBuilder> config,
            UnaryOperator<ManagementConfigBuilder> management,
            @Nullable ClusterStatus cluster) {
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        BrokerConfigBuilder builder = BrokerConfig.builder()
                .listeners(Map.of("tcp", tcp))
                .access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .build())
                .management(management.apply(ManagementConfig.builder().port(0)).build());
        BrokerConfig built = config.apply(builder).build();
        module = MetricModule.create(built);
        if (cluster != null) {
            module.cluster(() -> cluster);
        }
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

    /** A module that starts after the one under test. */
    private static final class CoreGrabber implements BrokerModule {

        private volatile @Nullable Core core;

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

    /** What a scrape shows of one meter: the sum of all lines with the name and these tags. */
    double scraped(String name, String... tags) throws IOException, InterruptedException {
        double sum = 0;
        boolean found = false;
        for (String line : get("/metrics").body().split("\n")) {
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
