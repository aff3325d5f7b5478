// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.haproxy.HAProxyProtocolException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.spi.ConnectionRefusals;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import javax.net.ssl.SSLException;
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
        } else if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (!handshake.isSuccess()) {
                handshakeFailed(ctx, handshake.cause());
            } else if (last == Stage.TLS) {
                ready(ctx);
            }
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ReferenceCountUtil.release(message); // what comes before its time
        ctx.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        refused(cause);
        ctx.close();
    }

    /** What was no TLS is told by the exception that follows, without the bytes; who has sent nothing was a probe. */
    private void handshakeFailed(ChannelHandlerContext ctx, Throwable cause) {
        GuardedTls tls = ctx.pipeline().get(GuardedTls.class);
        if (!(cause instanceof NotSslRecordException) && (tls == null || tls.hasReceived())) {
            refused(cause);
        }
    }

    /** What a stranger sends is worth a line, not a stack trace. */
    private void refused(Throwable thrown) {
        boolean wraps = thrown instanceof DecoderException && !(thrown instanceof HAProxyProtocolException);
        Throwable cause = wraps && thrown.getCause() != null ? thrown.getCause() : thrown;
        LOG.debug("listener {}: handshake with {} failed", connection.listener(), connection.remoteAddress(), cause);
        if (cause instanceof NotSslRecordException) {
            connection.refused(ConnectionRefusals.WRONG_PROTOCOL, cause.getMessage());
        } else if (cause instanceof SSLException || cause instanceof ClosedChannelException) {
            connection.refused(ConnectionRefusals.TLS_HANDSHAKE, cause.getMessage());
        } else if (cause instanceof HAProxyProtocolException) {
            connection.refused(ConnectionRefusals.PROXY_HEADER, cause.getMessage());
        } else if (!(cause instanceof IOException)) { // the peer is gone
            connection.refused(ConnectionRefusals.WRONG_PROTOCOL, cause.toString());
        }
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

    /** The stages before MQTT begins; the last one that a listener has counts. */
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
