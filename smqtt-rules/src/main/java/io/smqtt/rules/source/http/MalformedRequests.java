// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.thread.OnEventLoop;

/**
 * Answers requests whose line or headers cannot be read, ends connections whose body cannot be read, and leaves out what the end of a connection has
 * cut. The server would log a warning with each, which a peer could repeat without limit. The answers of earlier requests of the connection come first.
 */
@OnEventLoop
final class MalformedRequests extends ChannelDuplexHandler {

    private final SourceOutput out;
    private int open; // requests that have no answer yet
    private boolean isInformational; // the answer that is written: a further one follows
    private boolean closes; // an answer ends the connection
    private boolean found;
    private boolean inBody;

    MalformedRequests(SourceOutput out) {
        this.out = out;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        boolean isMalformed =
                message instanceof HttpObject part && part.decoderResult().isFailure();
        if (!isMalformed && !found) {
            open += message instanceof HttpRequest ? 1 : 0;
            context.fireChannelRead(message);
            return;
        }
        ReferenceCountUtil.release(message);
        if (!found && context.channel().isActive()) {
            found = true;
            inBody = !(message instanceof HttpRequest);
            out.rejected("a request that is no HTTP");
            endAfterAnswers(context);
        }
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof HttpResponse response) {
            isInformational = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            closes |= !HttpUtil.isKeepAlive(response);
        }
        boolean isAnswered = message instanceof LastHttpContent && !isInformational;
        context.write(message, promise);
        if (isAnswered) {
            open--;
            if (found) {
                endAfterAnswers(context);
            }
        }
    }

    /** Ends the connection if all earlier requests have their answers. A request whose body cannot be read has none. */
    private void endAfterAnswers(ChannelHandlerContext context) {
        if (closes || open > (inBody ? 1 : 0)) {
            return;
        }
        closes = true;
        if (inBody) {
            context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        } else {
            context.writeAndFlush(badRequest()).addListener(ChannelFutureListener.CLOSE);
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
