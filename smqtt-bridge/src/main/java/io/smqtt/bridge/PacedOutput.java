// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Passes the PUBLISH packets of our session on at the rate of the bridge. They count when they are passed on. Of one connection. */
@OnEventLoop
final class PacedOutput {

    private static final int PACE_MILLIS = 5;

    private final Pacer pacer;
    private final BridgeCounts counts;
    private @Nullable Passage passage; // of what is held
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

        /** Does not pass a packet on, because the connection ends, or the session there is emptied. */
        void withheld(ByteBuf packet);
    }

    /**
     * Creates an output.
     *
     * @param perSecond messages in a second, at least 1
     * @param counts learns what is held
     */
    PacedOutput(int perSecond, BridgeCounts counts) {
        this.pacer = new Pacer(perSecond, System.nanoTime());
        this.counts = counts;
    }

    /** Holds a PUBLISH of our session back until its time has come; of QoS 0 it is dropped if that is too far away. */
    void leaving(ChannelHandlerContext context, Passage between, ByteBuf packet) {
        if (Packets.qos(packet) == 0 && pacer.isFull()) {
            between.drop(packet, DropCause.RATE);
            return;
        }
        passage = between;
        int length = packet.readableBytes();
        pacer.add(context.alloc().buffer(length).writeBytes(packet, packet.readerIndex(), length));
        note(packet, 1);
    }

    /** Notes a packet that is held from now on, or no longer. A repetition has been counted before. */
    private void note(ByteBuf packet, int change) {
        if (!Packets.isRepeated(packet)) {
            counts.held(change);
        }
    }

    /** Writes the packets whose time has come and the answers to our session, and comes back for the rest. */
    void drainTo(ChannelHandlerContext context, ByteBuf out, ByteBuf answers) {
        long now = System.nanoTime();
        Passage between = passage;
        ByteBuf packet = between == null ? null : pacer.due(now);
        while (packet != null && between != null) {
            int before = out.writerIndex();
            note(packet, -1);
            between.leaving(packet, out, answers);
            packet.release();
            if (out.writerIndex() > before) { // else it was dropped
                pacer.left();
            }
            packet = pacer.due(now);
        }
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

    /** Discards what is held: above QoS 0 our session sends it again. */
    void clear() {
        Passage between = passage;
        ByteBuf packet = pacer.remove();
        while (packet != null && between != null) {
            note(packet, -1);
            between.withheld(packet);
            packet.release();
            packet = pacer.remove();
        }
    }
}
