// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.transport.Listeners;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Reads the facts about a relayed client, answers, and makes the broker serve the client. Then it leaves the pipeline. */
@OnEventLoop
final class DoorHandler extends ChannelInboundHandlerAdapter {

    /** The time from accepting a connection to its facts. */
    private static final long DEADLINE_MILLIS = 5_000;

    private final RelayDoor door;
    private final Listeners listeners;
    private final long number;
    private @Nullable ByteBuf waiting;
    private @Nullable ScheduledFuture<?> deadline;
    private boolean secured;
    private boolean over;

    DoorHandler(RelayDoor door, Listeners listeners, long number) {
        this.door = door;
        this.listeners = listeners;
        this.number = number;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        deadline = context.executor()
                .schedule(() -> refuse(context, "no proof in time"), DEADLINE_MILLIS, TimeUnit.MILLISECONDS);
        context.read();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (RelaySecurity.isSecured(event)) {
            secured = true;
            door.proved(number);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (over || !secured || !(message instanceof ByteBuf bytes)) {
            ReferenceCountUtil.release(message);
            return;
        }
        ByteBuf before = waiting;
        ByteBuf all =
                before == null ? bytes : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), before, bytes);
        waiting = all;
        if (all.readableBytes() < Integer.BYTES) {
            return;
        }
        int length = all.getInt(all.readerIndex());
        if (length <= 0 || length > RelayFacts.MAX_BYTES) {
            refuse(context, "facts of " + length + " bytes");
        } else if (all.readableBytes() >= Integer.BYTES + length) {
            byte[] facts = new byte[length];
            all.skipBytes(Integer.BYTES).readBytes(facts);
            read(context, facts);
        }
    }

    private void read(ChannelHandlerContext context, byte[] bytes) {
        try {
            take(context, RelayFacts.decode(bytes));
        } catch (MalformedBytesException e) {
            refuse(context, String.valueOf(e.getMessage()));
        }
    }

    private void take(ChannelHandlerContext context, RelayFacts facts) {
        if (!door.isReady()) {
            answer(context, RelayAnswer.NOT_READY).addListener(ChannelFutureListener.CLOSE);
            end();
            return;
        }
        if (listeners.refusesClients()) {
            busy(context, "this node is overloaded");
            return;
        }
        if (!door.counts().enter()) {
            busy(context, "too many relayed connections (cluster.relay.max-connections)");
            return;
        }
        Channel channel = context.channel();
        channel.closeFuture().addListener(closed -> door.counts().left());
        door.counts().opened();
        answer(context, RelayAnswer.TAKEN);
        listeners.serveClient(channel, new RelayedLink(channel, facts));
        ByteBuf rest = waiting;
        waiting = null;
        end();
        if (rest != null && rest.isReadable()) {
            context.fireChannelRead(rest);
        } else if (rest != null) {
            rest.release();
        }
        channel.pipeline().remove(this);
    }

    private void busy(ChannelHandlerContext context, String details) {
        door.refused(context.channel(), RelayRefusal.BUSY, details);
        answer(context, RelayAnswer.BUSY).addListener(ChannelFutureListener.CLOSE);
        end();
    }

    private static ChannelFuture answer(ChannelHandlerContext context, RelayAnswer answer) {
        return context.writeAndFlush(context.alloc().buffer(1).writeByte(answer.ordinal()));
    }

    private void refuse(ChannelHandlerContext context, String details) {
        if (!over) {
            door.refused(context.channel(), RelayRefusal.HANDSHAKE, details);
            end();
            context.close();
        }
    }

    private void end() {
        over = true;
        door.proved(number);
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (waiting != null) {
            waiting.release();
            waiting = null;
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (!over) {
            context.read();
        }
        context.fireChannelReadComplete();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (!over) {
            end(); // a probe, or a node that gave up
        }
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        Throwable inner = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
        String details = inner instanceof IOException
                ? inner.getMessage()
                : null; // others may have received bytes in their message
        refuse(context, details == null ? inner.getClass().getSimpleName() : details);
        context.close();
    }
}
