// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.atomic.AtomicLong;

/** Sends back what comes, reads only while its output is taken, and closes at a byte of 0xFF. */
final class Echo extends ChannelInboundHandlerAdapter {

    final AtomicLong bytesRead = new AtomicLong();
    private boolean readPending;

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (!ctx.channel().isActive()) {
            throw new IllegalStateException("added to a channel that is not active");
        }
        ctx.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        bytesRead.addAndGet(bytes.readableBytes());
        boolean end = bytes.getByte(bytes.writerIndex() - 1) == (byte) 0xFF;
        ctx.write(bytes);
        if (end) {
            ctx.flush();
            ctx.channel().close();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.flush();
        readPending = true;
        readIfWritable(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        readIfWritable(ctx);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }

    private void readIfWritable(ChannelHandlerContext ctx) {
        if (readPending && ctx.channel().isWritable()) {
            readPending = false;
            ctx.read();
        }
    }
}
