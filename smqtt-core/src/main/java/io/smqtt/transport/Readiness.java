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
 * The last handler of the pipeline during the handshakes: requests their reads, because auto-read is off, and closes the connection on
 * their errors. After the last handshake it adds the MQTT handler and removes itself.
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
        ReferenceCountUtil.release(message); // data before the end of the handshakes
        ctx.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        refused(cause);
        ctx.close();
    }

    /** Ignores a failure that the next exception reports without the bytes, and a probe that has sent nothing. */
    private void handshakeFailed(ChannelHandlerContext ctx, Throwable cause) {
        GuardedTls tls = ctx.pipeline().get(GuardedTls.class);
        if (!(cause instanceof NotSslRecordException) && (tls == null || tls.hasReceived())) {
            refused(cause);
        }
    }

    /** Logs errors caused by clients in one line, without a stack trace. */
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

    /** The stages before MQTT; the last one of a listener starts MQTT. */
    enum Stage {
        /** The connection is established. */
        SOCKET,
        /** The PROXY header is complete. */
        PROXY,
        /** The TLS handshake is complete. */
        TLS,
        /** The WebSocket handshake is complete. */
        WEB_SOCKET
    }
}
