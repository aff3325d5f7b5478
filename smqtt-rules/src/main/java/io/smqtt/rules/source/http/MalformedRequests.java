// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.OnEventLoop;

/**
 * Answers requests whose line or headers cannot be read, ends connections whose body cannot be read, and leaves out what the end of a connection has
 * cut. The server would log a warning with each, which a peer could repeat without limit.
 */
@OnEventLoop
final class MalformedRequests extends ChannelInboundHandlerAdapter {

    private final SourceOutput out;
    private boolean found;

    MalformedRequests(SourceOutput out) {
        this.out = out;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        boolean isMalformed =
                message instanceof HttpObject part && part.decoderResult().isFailure();
        if (!isMalformed && !found) {
            context.fireChannelRead(message);
            return;
        }
        ReferenceCountUtil.release(message);
        if (!found && context.channel().isActive()) {
            found = true;
            out.rejected("a request that is no HTTP");
            if (message instanceof HttpRequest) {
                context.writeAndFlush(badRequest()).addListener(ChannelFutureListener.CLOSE);
            } else {
                context.close();
            }
        }
    }

    private static FullHttpResponse badRequest() {
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.BAD_REQUEST, Unpooled.EMPTY_BUFFER);
        response.headers()
                .set(HttpHeaderNames.CONTENT_LENGTH, HttpHeaderValues.ZERO)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        return response;
    }
}
