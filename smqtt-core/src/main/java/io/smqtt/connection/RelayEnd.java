// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a relayed connection, the last handler of its channel. Passes what arrives to the other end, in the buffer in which it was read, and
 * does not read while the other end has too much to write. When its channel closes, the other one is closed behind the last byte.
 */
@OnEventLoop
final class RelayEnd extends ChannelInboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(RelayEnd.class);

    /** The time for which a client may keep its socket after the last byte of the node. */
    private static final long LINGER_MILLIS = 1_000;

    private static final int CONNACK = 0x20;
    private static final int AUTH = 0xF0;

    private final Channel other;
    private final @Nullable Runnable closed;
    private @Nullable Runnable accepted;
    private final boolean plain;
    private final long slowMillis;
    private final @Nullable Runnable tooSlow;
    private boolean heard;
    private boolean discards;
    private @Nullable ScheduledFuture<?> patience;

    private RelayEnd(
            Channel other,
            @Nullable Runnable closed,
            @Nullable Runnable accepted,
            boolean plain,
            long slowMillis,
            @Nullable Runnable tooSlow) {
        this.other = other;
        this.closed = closed;
        this.accepted = accepted;
        this.plain = plain;
        this.slowMillis = slowMillis;
        this.tooSlow = tooSlow;
    }

    /**
     * The end at the client.
     *
     * @param node the channel to the node that serves it
     * @param closed runs once when the client's channel has closed
     */
    static RelayEnd ofClient(Channel node, Runnable closed) {
        return new RelayEnd(node, closed, null, false, 0, null);
    }

    /**
     * The end at the node that serves the client.
     *
     * @param client the client's channel
     * @param plain whether the client has neither TLS nor WebSocket
     * @param slowMillis the time for which the client may read nothing of what waits for it
     * @param accepted runs once when the node answers with something else than AUTH or a refusal
     * @param tooSlow runs when the client has read nothing for that time, before its channel is closed
     */
    static RelayEnd ofNode(Channel client, boolean plain, long slowMillis, Runnable accepted, Runnable tooSlow) {
        return new RelayEnd(client, null, accepted, plain, slowMillis, tooSlow);
    }

    /** Whether the answer of a node, which it sends in one piece, is neither an AUTH nor a CONNACK that refuses the client. */
    private static boolean mayAccept(ByteBuf answer) {
        int at = answer.readerIndex();
        if (!answer.isReadable() || answer.getUnsignedByte(at) == AUTH) {
            return false;
        }
        if (answer.getUnsignedByte(at) != CONNACK) {
            return true;
        }
        int flags = at + 1;
        while (flags < answer.writerIndex() && answer.getByte(flags) < 0) { // the remaining length
            flags++;
        }
        int reason = flags + 2;
        return reason < answer.writerIndex() && answer.getByte(reason) == 0;
    }

    private boolean isAtClient() {
        return closed != null;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (discards || !(message instanceof ByteBuf bytes)) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (!heard) {
            heard = true;
            if (!isAtClient()) {
                other.read(); // not before: as a client of its own is not read before its node has answered
            }
        }
        if (accepted != null && mayAccept(bytes)) {
            accepted.run();
            accepted = null;
        }
        other.write(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (discards) {
            context.read(); // until the client closes its side
            return;
        }
        other.flush();
        if (other.isWritable()) {
            context.read();
        } else if (!isAtClient() && other.isActive()) {
            watchClient();
        }
    }

    /** Closes a client that takes nothing for too long: its node cannot see how much of its output is here. */
    private void watchClient() {
        if (patience == null) {
            patience = other.eventLoop().schedule(this::endSlowClient, slowMillis, TimeUnit.MILLISECONDS);
        }
    }

    private void endSlowClient() {
        patience = null;
        if (tooSlow != null && other.isActive()) {
            LOG.debug("closed {}: the client reads too slowly", other);
            tooSlow.run();
            other.close();
        }
    }

    /** The client reads, or has gone. */
    private void stopWatching() {
        if (patience != null) {
            patience.cancel(false);
            patience = null;
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (context.channel().isWritable()) {
            RelayEnd atNode = isAtClient() ? opposite() : null;
            if (atNode != null) {
                atNode.stopWatching();
            }
            if (heard || isAtClient()) {
                other.read();
            }
        }
    }

    /** The end of the other channel; null when that is closed. */
    private @Nullable RelayEnd opposite() {
        return other.pipeline().get(RelayEnd.class);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (closed != null) {
            closed.run();
            endNode();
        } else {
            stopWatching();
            endClient();
        }
    }

    /** Closes the channel to the node when that has the last byte of the client, or takes none. Meanwhile its output is discarded. */
    private void endNode() {
        RelayEnd atNode = opposite();
        if (!other.isActive() || atNode == null) {
            other.close();
            return;
        }
        atNode.stopWatching();
        atNode.discards = true;
        other.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        other.read();
        other.eventLoop().schedule(() -> other.close(), atNode.slowMillis, TimeUnit.MILLISECONDS);
    }

    /** Closes the client's channel when it has the last byte, as the node itself would do with a client of its own. */
    private void endClient() {
        if (!other.isActive()) {
            return;
        }
        ChannelFuture sent = other.writeAndFlush(Unpooled.EMPTY_BUFFER);
        if (plain && other instanceof DuplexChannel duplex) {
            RelayEnd atClient = opposite();
            if (atClient != null) {
                atClient.discards = true;
            }
            sent.addListener(done -> shutDownOutput(duplex));
            other.read();
        } else {
            sent.addListener(ChannelFutureListener.CLOSE);
        }
        other.eventLoop().schedule(() -> other.close(), LINGER_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static void shutDownOutput(DuplexChannel channel) {
        channel.shutdownOutput().addListener(done -> {
            if (!done.isSuccess()) {
                channel.close();
            }
        });
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        LOG.debug("a relayed connection failed at {}: {}", context.channel(), cause.toString());
        context.close();
    }
}
