// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;

/**
 * The handlers of a connection, from the socket inwards: {@link PendingConnection} until the client is accepted, PROXY header, TLS, HTTP,
 * WebSocket, MQTT. Handshake handlers are removed at their end: a plain TCP connection then has {@link #MQTT} alone, TLS adds {@link
 * #TLS}, WebSocket adds {@link #WS_FRAMES}.
 *
 * <p>Reactor Netty's bridge is not among them: it would cost an operations object per connection, and the MQTT handler consumes all data.
 */
public final class MqttPipeline {

    /** The name of the handler for MQTT bytes. */
    public static final String MQTT = "smqtt.mqtt";

    static final String PROXY_DECODER = "smqtt.proxy-decoder";
    static final String PROXY = "smqtt.proxy";
    static final String TLS = "smqtt.tls";
    static final String HTTP_ONLY = "smqtt.http-only";
    static final String HTTP = "smqtt.http";
    static final String WS_HANDSHAKE = "smqtt.ws-handshake";
    static final String WS_FRAMES = "smqtt.ws-frames";
    static final String READINESS = "smqtt.readiness";

    private static final HttpDecoderConfig HTTP_LIMITS = httpLimits();

    private MqttPipeline() {}

    /** Fills the pipeline of an admitted connection. */
    static void build(Channel channel, AcceptedConnection connection) {
        ListenerState listener = connection.owner();
        ChannelPipeline pipeline = channel.pipeline();
        Readiness.Stage last = Readiness.Stage.SOCKET;
        if (listener.config().proxyProtocol()) {
            pipeline.addLast(PROXY_DECODER, ProxyHeader.decoder(connection));
            pipeline.addLast(PROXY, new ProxyHeader(connection));
            last = Readiness.Stage.PROXY;
        }
        TlsContexts tls = listener.tls();
        if (tls != null) {
            pipeline.addLast(TLS, tls.newHandler(channel.alloc()));
            last = Readiness.Stage.TLS;
        }
        if (connection.webSocket()) {
            pipeline.addLast(HTTP_ONLY, new HttpOnly(connection));
            pipeline.addLast(HTTP, new HttpServerCodec(HTTP_LIMITS));
            pipeline.addLast(
                    WS_HANDSHAKE,
                    new WebSocketHandshake(connection, listener.webSocketRules(), listener.maxPacketBytes()));
            last = Readiness.Stage.WEB_SOCKET;
        }
        pipeline.addLast(READINESS, new Readiness(connection, last));
    }

    private static HttpDecoderConfig httpLimits() {
        return new HttpDecoderConfig()
                .setMaxInitialLineLength(4_096)
                .setMaxHeaderSize(8_192)
                .setMaxChunkSize(8_192);
    }
}
