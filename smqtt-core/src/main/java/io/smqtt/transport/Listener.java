// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import io.smqtt.config.ListenerConfig;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.ChannelBindException;
import reactor.netty.DisposableServer;
import reactor.netty.FutureMono;
import reactor.netty.NettyPipeline;
import reactor.netty.tcp.TcpServer;

/** The server of one listener: binds the port and accepts connections. */
final class Listener {

    private static final Logger LOG = LoggerFactory.getLogger(Listener.class);

    private final ListenerState state;
    private final ListenerConfig config;
    private final EventLoops eventLoops;
    private volatile @Nullable DisposableServer server;
    private Mono<Void> last = Mono.empty(); // guarded by this

    Listener(ListenerState state, EventLoops eventLoops) {
        this.state = state;
        this.config = state.config();
        this.eventLoops = eventLoops;
    }

    ListenerState state() {
        return state;
    }

    /** Runs an action after those that were requested before it. It goes on if nobody waits for it any more. */
    Mono<Void> inTurn(Mono<Void> action) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> done = Sinks.empty();
            Mono<Void> before = next(done.asMono());
            before.onErrorComplete().then(action).subscribe(null, done::tryEmitError, done::tryEmitEmpty);
            return done.asMono();
        });
    }

    private synchronized Mono<Void> next(Mono<Void> done) {
        Mono<Void> before = last;
        last = done;
        return before;
    }

    Mono<Void> bind() {
        return Mono.defer(() -> server().bind())
                .doOnNext(bound -> {
                    server = bound;
                    LOG.info("listener {} bound to {}", state.name(), NetUtil.toSocketAddressString(at(bound)));
                })
                .onErrorMap(cause ->
                        new BindFailedException(state.name(), config.host() + ":" + config.port(), root(cause)))
                .then();
    }

    @Nullable
    InetSocketAddress address() {
        DisposableServer bound = server;
        return bound == null ? null : at(bound);
    }

    boolean isBound() {
        DisposableServer bound = server;
        return bound != null && bound.channel().isOpen();
    }

    ListenerStatus status() {
        InetSocketAddress address = address();
        int port = address == null ? config.port() : address.getPort();
        return new ListenerStatus(state.name(), config, port, isBound(), state.openCount());
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
        state.connections().forEach((loop, own) -> {
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
        state.pace().accepted(channel.parent());
        if (!(channel.remoteAddress() instanceof InetSocketAddress address)) {
            channel.close(); // already gone
            return;
        }
        AcceptedConnection connection = new AcceptedConnection(state, channel, ClientAddresses.unmapped(address));
        if (config.proxyProtocol() && !state.trusts(connection.remoteAddress().getAddress())) {
            connection.refuse(state.key("trusted-proxies"));
        } else if (connection.enter(config.proxyProtocol() ? null : address)) {
            MqttPipeline.build(channel, connection);
        }
    }

    private static Throwable root(Throwable cause) {
        Throwable inner = cause instanceof ChannelBindException ? cause.getCause() : cause;
        return inner == null ? cause : inner;
    }
}
