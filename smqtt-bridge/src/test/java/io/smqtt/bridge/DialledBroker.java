// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.ClientDetails;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Ticker;
import io.smqtt.test.RawClient;
import io.smqtt.test.store.ManualStore;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A broker on a free port, with at most one bridge, {@code cloud}. */
final class DialledBroker implements AutoCloseable {

    /** The client identifier of the bridge at the other broker. */
    static final String ID = "bridge-under-test";

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Broker broker;
    private final @Nullable BridgeModule module;

    private DialledBroker(
            int port,
            Map<String, BridgeConfig> bridges,
            @Nullable BrokerModule cluster,
            Ticker ticker,
            @Nullable ManualStore store) {
        ListenerConfig tcp =
                ListenerConfig.tcp(port).toBuilder().host("127.0.0.1").build();
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of("tcp", tcp))
                .access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .build())
                .bridges(bridges)
                .build();
        module = bridges.isEmpty() ? null : BridgeModule.of(config);
        var builder = Broker.builder().config(config).ticker(ticker);
        if (module != null) {
            builder.module(module);
        }
        if (cluster != null) {
            builder.module(cluster);
        }
        if (store != null) {
            builder.store(store);
        }
        broker = Objects.requireNonNull(builder.start().block(PATIENCE));
    }

    static DialledBroker without(int port) {
        return new DialledBroker(port, Map.of(), null, Ticker.SYSTEM, null);
    }

    static DialledBroker with(BridgeConfig bridge) {
        return with(bridge, Ticker.SYSTEM);
    }

    static DialledBroker with(BridgeConfig bridge, Ticker ticker) {
        return new DialledBroker(0, Map.of("cloud", bridge), null, ticker, null);
    }

    static DialledBroker with(BridgeConfig bridge, ManualStore store) {
        return new DialledBroker(0, Map.of("cloud", bridge), null, Ticker.SYSTEM, store);
    }

    /** A node of a cluster, as it seems. */
    static DialledBroker with(BridgeConfig bridge, BrokerModule cluster) {
        return new DialledBroker(0, Map.of("cloud", bridge), cluster, Ticker.SYSTEM, null);
    }

    InetSocketAddress tcp() {
        return Objects.requireNonNull(broker.listeners().get("tcp"));
    }

    int port() {
        return tcp().getPort();
    }

    BridgeModule module() {
        return Objects.requireNonNull(module);
    }

    BridgeStatus status() {
        return module().status().get(0);
    }

    RawClient client(String id) {
        RawClient client = RawClient.to(tcp(), ProtocolVersion.MQTT_5);
        client.connect(id);
        return client;
    }

    private Stream<ClientDetails> clients() {
        return broker.clients()
                .flatMap(client -> broker.client(client.identity().clientId()))
                .toStream();
    }

    /** Ends the connection of a client, as an operator does. */
    void kick(String clientId) {
        broker.disconnect(clientId).block(PATIENCE);
    }

    /** The client identifiers that are connected here. */
    List<String> connected() {
        return clients()
                .filter(client -> client.info().connected())
                .map(client -> client.info().identity().clientId())
                .toList();
    }

    /** Whether so many clients have subscribed to a filter. */
    boolean isSubscribedBy(int count, String filter) {
        return clients()
                        .filter(client -> client.subscriptions().stream()
                                .anyMatch(one -> one.filter().equals(filter)))
                        .count()
                == count;
    }

    boolean isSubscribed(String filter) {
        return clients()
                .anyMatch(client -> client.subscriptions().stream()
                        .anyMatch(one -> one.filter().equals(filter)));
    }

    /** The connections of bridges to this broker. */
    List<InetSocketAddress> bridgesHere() {
        return clients()
                .filter(client -> client.info().connected())
                .map(client -> client.info().identity())
                .filter(client -> client.clientId().equals(ID))
                .map(ClientIdentity::remoteAddress)
                .toList();
    }

    @Override
    public void close() {
        broker.close(Duration.ofSeconds(1)).block(PATIENCE);
    }
}
