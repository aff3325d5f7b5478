// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;

/**
 * The handlers of a connection, from the socket inwards. Those of the handshakes leave the pipeline when they are done:
 * a plain TCP connection then has {@link #MQTT} alone, TLS adds {@link #TLS}, WebSocket adds {@link #WS_FRAMES}.
 *
 * <p>There is no bridge to Reactor Netty among them: it would cost an operations object per connection, and the MQTT
 * handler consumes everything anyway.
 */
public final class MqttPipeline {

    /** Takes the MQTT bytes. */
    public static final String MQTT = "smqtt.mqtt";

    static final String PROXY_DECODER = "smqtt.proxy-decoder";
    static final String PROXY = "smqtt.proxy";
    static final String TLS = "smqtt.tls";
    static final String HTTP = "smqtt.http";
    static final String WS_HANDSHAKE = "smqtt.ws-handshake";
    static final String WS_FRAMES = "smqtt.ws-frames";
    static final String READINESS = "smqtt.readiness";

    private MqttPipeline() {}

    /** Fills the pipeline of an admitted connection. */
    static void build(Channel channel, AcceptedConnection connection) {
        ChannelPipeline pipeline = channel.pipeline();
        pipeline.addLast(READINESS, new Readiness(connection, Readiness.Stage.SOCKET));
    }
}
