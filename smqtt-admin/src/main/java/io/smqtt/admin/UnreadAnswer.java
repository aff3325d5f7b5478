// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.smqtt.thread.OnEventLoop;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Holds the memory of an answer until the caller has read all but the end of it, and closes the connection of a caller who takes too long.
 * Reactor Netty tells the end of an answer when it is written, whether it is read or not.
 */
@OnEventLoop
final class UnreadAnswer extends ChannelInboundHandlerAdapter {

    private final ManagementMemory.Share share;
    private final ScheduledFuture<?> deadline;

    private UnreadAnswer(Channel channel, ManagementMemory.Share share, Duration read) {
        this.share = share;
        this.deadline = channel.eventLoop().schedule(() -> channel.close(), read.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Ends the share of an answer that is written as soon as it is read.
     *
     * @param read the time for that
     */
    static void await(Channel channel, ManagementMemory.Share share, Duration read) {
        if (!channel.isActive() || channel.isWritable()) {
            share.release();
        } else {
            channel.pipeline().addFirst(new UnreadAnswer(channel, share, read));
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        boolean isRead = context.channel().isWritable();
        context.fireChannelWritabilityChanged();
        if (isRead) {
            context.pipeline().remove(this);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) { // also when the channel is closed
        deadline.cancel(false);
        share.release();
    }
}
