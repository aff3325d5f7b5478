// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the end of the pipeline while the handshakes run: asks for their reads, since auto-read is off, and closes the
 * connection on their errors. After the last handshake it lets MQTT in and leaves.
 */
final class Readiness extends ChannelInboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);

    private final AcceptedConnection connection;
    private final Stage last;

    Readiness(AcceptedConnection connection, Stage last) {
        this.connection = connection;
        this.last = last;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (last == Stage.SOCKET) {
            ready(ctx);
        } else {
            ctx.read();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.read();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == last) {
            ready(ctx);
        } else if (event instanceof SslHandshakeCompletionEvent handshake
                && last == Stage.TLS
                && handshake.isSuccess()) {
            ready(ctx);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ReferenceCountUtil.release(message); // what comes before its time
        ctx.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        LOG.debug("listener {}: handshake with {} failed", connection.listener(), connection.remoteAddress(), cause);
        ctx.close();
    }

    private void ready(ChannelHandlerContext ctx) {
        try {
            connection.initialize();
        } catch (RuntimeException e) {
            LOG.error("listener {}: connection could not be set up", connection.listener(), e);
            ctx.close();
        }
        if (!ctx.isRemoved()) {
            ctx.pipeline().remove(this);
        }
    }

    /** What must be over before MQTT begins; the last one that a listener has counts. */
    enum Stage {
        /** The connection stands. */
        SOCKET,
        /** The PROXY header is complete. */
        PROXY,
        /** The TLS handshake is complete. */
        TLS,
        /** The WebSocket handshake is complete. */
        WEB_SOCKET
    }
}
