// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.spi.ConnectionRefusals;
import org.jspecify.annotations.Nullable;

/**
 * The opening handshake of WebSocket (RFC 6455, section 4.2) on HTTP/1.1. One request, without content, is answered: with
 * 101, after which the HTTP handlers leave the pipeline and {@link WebSocketFrames} stays, or with an error and the end of
 * the connection. No extension is ever accepted, so there is no compression.
 */
final class WebSocketHandshake extends ChannelInboundHandlerAdapter {

    private final AcceptedConnection connection;
    private final WebSocketRules rules;
    private final int maxFrameBytes;
    private boolean answered;
    private WebSocketRules.@Nullable Accepted accepted;

    WebSocketHandshake(AcceptedConnection connection, WebSocketRules rules, int maxFrameBytes) {
        this.connection = connection;
        this.rules = rules;
        this.maxFrameBytes = maxFrameBytes;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            if (answered) {
                return;
            }
            if (message instanceof HttpRequest request) {
                check(ctx, request);
            }
            if (message instanceof HttpContent content && !answered) {
                end(ctx, content);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void check(ChannelHandlerContext ctx, HttpRequest request) {
        WebSocketRules.Verdict verdict = rules.check(request);
        if (verdict instanceof WebSocketRules.Accepted yes) {
            accepted = yes;
        } else if (verdict instanceof WebSocketRules.Refused no) {
            refuse(ctx, no);
        }
    }

    private void end(ChannelHandlerContext ctx, HttpContent content) {
        WebSocketRules.Accepted yes = accepted;
        if (yes == null
                || content.content().isReadable()
                || content.decoderResult().isFailure()) {
            refuse(ctx, new WebSocketRules.Refused(HttpResponseStatus.BAD_REQUEST, "content"));
        } else if (content instanceof LastHttpContent) {
            upgrade(ctx, yes);
        }
    }

    private void upgrade(ChannelHandlerContext ctx, WebSocketRules.Accepted yes) {
        answered = true;
        if (!yes.local()) {
            connection.foreign();
        }
        FullHttpResponse response = response(HttpResponseStatus.SWITCHING_PROTOCOLS);
        response.headers()
                .set(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE)
                .set(HttpHeaderNames.SEC_WEBSOCKET_ACCEPT, yes.key())
                .set(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL, yes.subprotocol()); // [MQTT-6.0.0-4]
        ctx.writeAndFlush(response);
        ChannelPipeline pipeline = ctx.pipeline();
        pipeline.addAfter(ctx.name(), MqttPipeline.WS_FRAMES, new WebSocketFrames(maxFrameBytes));
        ctx.fireUserEventTriggered(Readiness.Stage.WEB_SOCKET);
        pipeline.remove(this);
        pipeline.remove(MqttPipeline.HTTP); // last: passes on the bytes after the request
    }

    private void refuse(ChannelHandlerContext ctx, WebSocketRules.Refused no) {
        answered = true;
        connection.refused(
                label(no), "WebSocket request answered with " + no.status().code() + ": " + no.reason());
        FullHttpResponse response = response(no.status());
        response.headers()
                .set(HttpHeaderNames.CONTENT_LENGTH, 0)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        if (no.status().equals(HttpResponseStatus.UPGRADE_REQUIRED)) {
            response.headers()
                    .set(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET)
                    .set(HttpHeaderNames.SEC_WEBSOCKET_VERSION, WebSocketRules.VERSION);
        }
        ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }

    private static String label(WebSocketRules.Refused no) {
        if (no.status().equals(HttpResponseStatus.NOT_FOUND)) {
            return ConnectionRefusals.HTTP_PATH;
        }
        return no.status().equals(HttpResponseStatus.FORBIDDEN)
                ? ConnectionRefusals.HTTP_ORIGIN
                : ConnectionRefusals.HTTP_REQUEST;
    }

    private static FullHttpResponse response(HttpResponseStatus status) {
        return new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.EMPTY_BUFFER);
    }
}
