// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.thread.OnEventLoop;
import java.io.IOException;

/** Passes on the bytes of binary frames as a stream, and writes each buffer as one binary frame. */
@OnEventLoop
final class WebSocketBytes extends ChannelDuplexHandler {

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof BinaryWebSocketFrame || message instanceof ContinuationWebSocketFrame) {
            context.fireChannelRead(((WebSocketFrame) message).content());
            return;
        }
        ReferenceCountUtil.release(message);
        context.fireExceptionCaught(new IOException("it sends WebSocket frames that are not binary"));
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        boolean bytes = message instanceof ByteBuf payload && payload.isReadable();
        context.write(bytes ? new BinaryWebSocketFrame((ByteBuf) message) : message, promise);
    }
}
