// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;

/** Passes the PUBLISH packets of our session on at the rate of the bridge. Of one connection. */
@OnEventLoop
final class PacedOutput {

    private static final int PACE_MILLIS = 5;

    private final Pacer pacer;
    private boolean scheduled;

    /** Passes PUBLISH packets of our session on. */
    interface Passage {

        /**
         * Passes a packet on.
         *
         * @param passed takes it, as it is for the other broker
         * @param answers takes what our session gets for it
         */
        void leaving(ByteBuf packet, ByteBuf passed, ByteBuf answers);

        /** Drops a packet. */
        void drop(ByteBuf packet, DropCause cause);
    }

    /**
     * Creates an output.
     *
     * @param perSecond messages in a second, at least 1
     */
    PacedOutput(int perSecond) {
        this.pacer = new Pacer(perSecond, System.nanoTime());
    }

    /** Holds a PUBLISH of our session back until its time has come; of QoS 0 it is dropped if that is too far away. */
    void leaving(ChannelHandlerContext context, Passage between, ByteBuf packet, ByteBuf answers) {
        if (Packets.qos(packet) == 0 && pacer.isFull()) {
            between.drop(packet, DropCause.RATE);
            return;
        }
        ByteBuf one = context.alloc().buffer(packet.readableBytes() + 64);
        int before = answers.writerIndex();
        between.leaving(packet, one, answers);
        if (one.isReadable()) {
            int due = answers.writerIndex() - before;
            pacer.add(one, due == 0 ? Unpooled.EMPTY_BUFFER : answers.copy(before, due));
            answers.writerIndex(before);
        } else {
            one.release();
        }
    }

    /** Writes the packets whose time has come and the answers to our session, and comes back for the rest. */
    void drainTo(ChannelHandlerContext context, ByteBuf out, ByteBuf answers) {
        pacer.drainTo(out, answers, System.nanoTime());
        if (!pacer.isEmpty() && !scheduled) {
            scheduled = true;
            context.executor().schedule(() -> resume(context), PACE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void resume(ChannelHandlerContext context) {
        scheduled = false;
        if (context.channel().isActive()) {
            ByteBuf due = context.alloc().buffer();
            ByteBuf ours = context.alloc().buffer(0);
            drainTo(context, due, ours);
            context.writeAndFlush(due);
            if (context.channel().isActive() && ours.isReadable()) {
                context.fireChannelRead(ours);
            } else {
                ours.release();
            }
        }
    }

    /** Discards what is held: our session sends it again. */
    void clear() {
        pacer.clear();
    }
}
