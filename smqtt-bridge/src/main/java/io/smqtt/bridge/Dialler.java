// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshaker13;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketFrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocketVersion;
import io.smqtt.config.BridgeAddress;
import io.smqtt.config.BridgeConfig;
import io.smqtt.thread.AnyThread;
import io.smqtt.transport.ClientTls;
import io.smqtt.transport.TcpOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Opens channels to another broker, over TCP, TLS, WebSocket or WSS. */
@AnyThread
final class Dialler {

    private static final int MAXIMUM_HTTP_BYTES = 16_384;

    private final @Nullable ClientTls tls;
    private final Duration timeout;
    private final @Nullable InetSocketAddress from;
    private final TcpOptions tcp;

    /**
     * Creates a dialler.
     *
     * @param tls for addresses with TLS
     * @param config has the time of each step, the address here, and the options of TCP
     */
    Dialler(@Nullable ClientTls tls, BridgeConfig config) {
        this.tls = tls;
        this.timeout = config.connectTimeout();
        this.tcp = new TcpOptions(
                config.tcpKeepAliveIdle(),
                config.tcpKeepAliveInterval(),
                config.tcpKeepAliveCount(),
                config.tcpUserTimeout());
        // a literal, so nothing is looked up
        this.from = config.bindAddress().isEmpty() ? null : new InetSocketAddress(config.bindAddress(), 0);
    }

    /**
     * Looks up a host. Blocks.
     *
     * @param attempt by which one of several addresses of the host is chosen
     */
    static InetSocketAddress resolve(BridgeAddress address, int attempt) {
        try {
            InetAddress[] all = InetAddress.getAllByName(address.host());
            return new InetSocketAddress(all[Math.floorMod(attempt, all.length)], address.port());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("the name " + address.host() + " does not resolve", e);
        }
    }

    /**
     * Begins to connect. The handler becomes active when the handshakes of TLS and WebSocket are complete.
     *
     * @param bootstrap of the event loop that owns the channel
     * @param handler the last handler, which gets MQTT bytes
     */
    ChannelFuture dial(Bootstrap bootstrap, BridgeAddress address, InetSocketAddress target, ChannelHandler handler) {
        return bootstrap
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) timeout.toMillis())
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        build(channel, address, handler);
                    }
                })
                .localAddress(from)
                .connect(target);
    }

    private void build(Channel channel, BridgeAddress address, ChannelHandler handler) {
        tcp.set(channel);
        ChannelPipeline pipeline = channel.pipeline();
        if (address.tls() && tls != null) {
            pipeline.addLast(tls.newHandler(channel.alloc(), address.host(), address.port()));
        }
        if (address.webSocket()) {
            pipeline.addLast(new HttpClientCodec());
            pipeline.addLast(new HttpObjectAggregator(MAXIMUM_HTTP_BYTES));
            pipeline.addLast(new WebSocketClientProtocolHandler(
                    new Handshaker(uri(address)),
                    WebSocketClientProtocolConfig.newBuilder()
                            .handshakeTimeoutMillis(timeout.toMillis())
                            .build()));
            pipeline.addLast(new WebSocketBytes());
        }
        if (address.tls() || address.webSocket()) {
            pipeline.addLast(new TransportHandshake(address.tls(), address.webSocket(), timeout));
        }
        pipeline.addLast(handler);
    }

    /** Offers the subprotocol of MQTT, and then takes frames of any length. */
    private static final class Handshaker extends WebSocketClientHandshaker13 {

        Handshaker(String uri) {
            super(URI.create(uri), WebSocketVersion.V13, "mqtt", false, EmptyHttpHeaders.INSTANCE, FramePieces.LARGEST);
        }

        @Override
        protected WebSocketFrameDecoder newWebsocketDecoder() {
            return new FramePieces();
        }
    }

    private static String uri(BridgeAddress address) {
        String host = address.host().indexOf(':') < 0 ? address.host() : "[" + address.host() + "]";
        return (address.tls() ? "wss://" : "ws://") + host + ":" + address.port() + address.path();
    }
}
