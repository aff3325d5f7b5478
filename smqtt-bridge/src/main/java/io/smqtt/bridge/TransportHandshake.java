// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.Future;
import io.smqtt.thread.OnEventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Delays the activation of the next handler until the handshakes of TLS and WebSocket are complete, and then leaves the pipeline. */
@OnEventLoop
final class TransportHandshake extends ChannelInboundHandlerAdapter {

    private final boolean tls;
    private final boolean webSocket;
    private final Duration timeout;
    private @Nullable Future<?> timer;

    TransportHandshake(boolean tls, boolean webSocket, Duration timeout) {
        this.tls = tls;
        this.webSocket = webSocket;
        this.timeout = timeout;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        String which = !webSocket ? "TLS" : tls ? "TLS or WebSocket" : "WebSocket";
        timer = context.executor()
                .schedule(
                        () -> context.fireExceptionCaught(
                                new IOException("it does not complete the handshake of " + which)),
                        timeout.toMillis(),
                        TimeUnit.MILLISECONDS);
        context.read();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent done) {
            if (!done.isSuccess()) {
                context.fireExceptionCaught(done.cause());
            } else if (!webSocket) {
                complete(context);
            }
        } else if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
            complete(context);
        }
    }

    private void complete(ChannelHandlerContext context) {
        context.pipeline().remove(this);
        context.fireChannelActive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (timer != null) {
            timer.cancel(false);
        }
    }
}
