// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.ClientLog;
import io.smqtt.spi.BrokerObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.FutureMono;
import reactor.netty.NettyPipeline;
import reactor.netty.tcp.TcpServer;

/** One listener: its server, and the state shared by its connections. */
final class Listener {

    private static final Logger LOG = LoggerFactory.getLogger(Listener.class);

    private final String name;
    private final ListenerConfig config;
    private final ConnectionAdmission admission;
    private final PendingBudget pending;
    private final BrokerObserver observer;
    private final ClientLog log;
    private final ConnectionInitializer initializer;
    private final EventLoops eventLoops;
    private final Map<EventLoop, LoopConnections> connections = new HashMap<>(); // never changed after construction
    private final int maxPacketBytes;
    private final @Nullable TlsContexts tls;
    private final WebSocketRules webSocketRules;
    private final List<Network> trustedProxies;
    private final AtomicInteger open = new AtomicInteger();
    private volatile @Nullable DisposableServer server;

    Listener(
            String name,
            ListenerConfig config,
            LimitsConfig limits,
            EventLoops eventLoops,
            ConnectionAdmission admission,
            PendingBudget pending,
            BrokerObserver observer,
            ClientLog log,
            ConnectionInitializer initializer) {
        this.name = name;
        this.config = config;
        this.eventLoops = eventLoops;
        this.admission = admission;
        this.pending = pending;
        this.observer = observer;
        this.log = log;
        this.initializer = initializer;
        this.maxPacketBytes = config.maxPacketBytes() == 0 ? limits.maxPacketBytes() : config.maxPacketBytes();
        this.tls = config.tls() == null ? null : new TlsContexts(key("tls"), config.tls());
        this.webSocketRules = new WebSocketRules(config.path(), config.allowedOrigins(), config.host());
        this.trustedProxies = config.trustedProxies().stream()
                .map(text -> Network.parse(key("trusted-proxies"), text))
                .toList();
        if (config.proxyProtocol() && trustedProxies.isEmpty()) {
            throw new ConfigurationException(key("proxy-protocol") + " needs " + key("trusted-proxies"));
        }
        for (EventLoop loop : eventLoops.all()) {
            connections.put(loop, new LoopConnections());
        }
    }

    String name() {
        return name;
    }

    ListenerConfig config() {
        return config;
    }

    ConnectionAdmission admission() {
        return admission;
    }

    PendingBudget pending() {
        return pending;
    }

    BrokerObserver observer() {
        return observer;
    }

    ClientLog log() {
        return log;
    }

    ConnectionInitializer initializer() {
        return initializer;
    }

    @Nullable
    TlsContexts tls() {
        return tls;
    }

    WebSocketRules webSocketRules() {
        return webSocketRules;
    }

    int maxPacketBytes() {
        return maxPacketBytes;
    }

    /** Those of the calling event loop. */
    LoopConnections connections(EventLoop loop) {
        LoopConnections own = connections.get(loop);
        if (own == null) {
            throw new IllegalStateException("not an event loop of this broker: " + loop);
        }
        return own;
    }

    /** Returns null, or the configuration key of the limit that refuses one more connection. */
    @Nullable
    String opened() {
        if (open.incrementAndGet() > config.maxConnections()) {
            open.decrementAndGet();
            return key("max-connections");
        }
        String limit = admission.opened();
        if (limit != null) {
            open.decrementAndGet();
        }
        return limit;
    }

    void closed() {
        open.decrementAndGet();
        admission.closed();
    }

    Mono<Void> bind() {
        return Mono.defer(() -> server().bind())
                .doOnNext(bound -> {
                    server = bound;
                    LOG.info("listener {} bound to {}", name, NetUtil.toSocketAddressString(at(bound)));
                })
                .onErrorMap(cause -> new BindFailedException(name, config.host() + ":" + config.port(), root(cause)))
                .then();
    }

    @Nullable
    InetSocketAddress address() {
        DisposableServer bound = server;
        return bound == null ? null : at(bound);
    }

    /** The bound address with the configured host, because a socket for both address families reports 0.0.0.0 differently. */
    private InetSocketAddress at(DisposableServer bound) {
        return new InetSocketAddress(config.host(), bound.port());
    }

    Mono<Void> stopAccepting() {
        return Mono.defer(() -> {
            DisposableServer bound = server;
            if (bound == null || !bound.channel().isOpen()) {
                return Mono.empty();
            }
            return FutureMono.from(bound.channel().close());
        });
    }

    /** Closes all connections without DISCONNECT. */
    Mono<Void> closeConnections() {
        List<Mono<Void>> all = new ArrayList<>();
        connections.forEach((loop, own) -> {
            if (!loop.isShuttingDown()) {
                all.add(FutureMono.from(loop.submit(own::closeAll, null)));
            }
        });
        return Flux.merge(all).then();
    }

    private TcpServer server() {
        return TcpServer.create()
                .runOn(eventLoops.resources())
                .bindAddress(() -> new InetSocketAddress(config.host(), config.port()))
                .option(ChannelOption.SO_BACKLOG, config.backlog())
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .doOnChannelInit((observing, channel, address) -> accept(channel));
    }

    private void accept(Channel channel) {
        channel.pipeline().remove(NettyPipeline.ReactiveBridge);
        if (!(channel.remoteAddress() instanceof InetSocketAddress address)) {
            channel.close(); // already gone
            return;
        }
        AcceptedConnection connection = new AcceptedConnection(this, channel, ClientAddresses.unmapped(address));
        if (config.proxyProtocol() && !trusted(connection.remoteAddress().getAddress())) {
            connection.refuse(key("trusted-proxies"));
        } else if (connection.enter(config.proxyProtocol() ? null : address)) {
            MqttPipeline.build(channel, connection);
        }
    }

    private boolean trusted(InetAddress proxy) {
        for (Network network : trustedProxies) {
            if (network.contains(proxy)) {
                return true;
            }
        }
        return false;
    }

    private String key(String option) {
        return "listeners." + name + "." + option;
    }

    private static Throwable root(Throwable cause) {
        Throwable inner = cause instanceof ChannelBindException ? cause.getCause() : cause;
        return inner == null ? cause : inner;
    }
}
