// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.log.LogLimiter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses malformed HTTP and closes the connection. Logged at most once a minute, because any host that reaches the port can send it. Runs
 * on the event loop of one connection.
 */
final class MalformedRequests extends ChannelInboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(MalformedRequests.class);

    private final LogLimiter lines;
    private boolean refused;

    /**
     * Creates one for a connection.
     *
     * @param lines the rate limit of the log lines of all connections
     */
    MalformedRequests(LogLimiter lines) {
        this.lines = lines;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        Throwable cause =
                message instanceof HttpObject part && part.decoderResult().isFailure()
                        ? part.decoderResult().cause()
                        : null;
        if (cause == null && !refused) {
            context.fireChannelRead(message);
            return;
        }
        ReferenceCountUtil.release(message);
        if (!refused && cause != null) {
            refuse(context, cause);
        }
    }

    private void refuse(ChannelHandlerContext context, Throwable cause) {
        refused = true;
        if (lines.allows(ManagementServer.NAME)) {
            LOG.warn(
                    "malformed request on the management port from {}: {}",
                    context.channel().remoteAddress(),
                    cause.getClass().getSimpleName());
        }
        HttpResponseStatus status = cause instanceof TooLongHttpLineException
                ? HttpResponseStatus.REQUEST_URI_TOO_LONG
                : cause instanceof TooLongHttpHeaderException
                        ? HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                        : HttpResponseStatus.BAD_REQUEST;
        DefaultFullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.EMPTY_BUFFER);
        response.headers()
                .set(HttpHeaderNames.CONTENT_LENGTH, HttpHeaderValues.ZERO)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }
}
