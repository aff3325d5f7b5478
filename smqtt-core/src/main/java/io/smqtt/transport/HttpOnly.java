// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.smqtt.connection.ForeignProtocol;
import io.smqtt.spi.ConnectionRefusals;
import org.jspecify.annotations.Nullable;

/**
 * Refuses a connection whose first bytes are of another protocol, such as MQTT on a WebSocket port, where the HTTP decoder would wait for
 * the end of a line. Removes itself after the first bytes.
 */
final class HttpOnly extends ChannelInboundHandlerAdapter {

    private final AcceptedConnection connection;

    HttpOnly(AcceptedConnection connection) {
        this.connection = connection;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        @Nullable
        String protocol = message instanceof ByteBuf bytes ? ForeignProtocol.of(bytes, bytes.readerIndex()) : null;
        if (protocol != null && !protocol.equals(ForeignProtocol.HTTP) && message instanceof ByteBuf bytes) {
            bytes.release();
            connection.refused(ConnectionRefusals.WRONG_PROTOCOL, protocol + " on a port for WebSocket");
            ctx.close();
            return;
        }
        ctx.fireChannelRead(message);
        ctx.pipeline().remove(this);
    }
}
