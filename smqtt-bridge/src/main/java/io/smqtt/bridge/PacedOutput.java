// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.smqtt.bridge.Pacer.Held;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Passes the PUBLISH packets of our session on at the rate of the bridge. They count when they are passed on. The time that they are held back
 * counts for their Message Expiry Interval [MQTT-3.3.2-6]. Of one connection.
 */
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

        /** Drops a packet of QoS 0. */
        void drop(ByteBuf packet, DropCause cause);

        /**
         * The Message Expiry Interval of a packet has passed.
         *
         * @param answers takes what our session gets for it
         * @return false if the message must be passed on in any case
         */
        boolean expired(ByteBuf packet, ByteBuf answers);

        /** Does not pass a packet on, because the connection ends, or the session there is emptied. */
        void withheld(ByteBuf packet);
    }

    /**
     * Creates an output.
     *
     * @param perSecond messages in a second, at least 1
     * @param mostBytes the maximum number of bytes of QoS 0 that are held back
     * @param counts learns what is held
     */
    PacedOutput(int perSecond, long mostBytes, BridgeCounts counts) {
        this.pacer = new Pacer(perSecond, mostBytes, System.nanoTime());
        this.counts = counts;
    }

    /** The maximum number of messages above QoS 0 in flight: the others wait in the queue, where they have its limits. */
    int window() {
        return pacer.window();
    }

    /** Holds a PUBLISH of our session back until its time has come; of QoS 0 it is dropped if that is too far away, or too many bytes wait. */
    void leaving(ChannelHandlerContext context, Passage between, ByteBuf packet) {
        if (Packets.qos(packet) == 0 && pacer.isFull()) {
            between.drop(packet, DropCause.RATE);
            return;
        }
        passage = between;
        int length = packet.readableBytes();
        pacer.add(context.alloc().buffer(length).writeBytes(packet, packet.readerIndex(), length), System.nanoTime());
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
        Held next = between == null ? null : pacer.due(now);
        while (next != null && between != null) {
            ByteBuf packet = next.packet();
            int before = out.writerIndex();
            note(packet, -1);
            if (!ages(packet, now - next.sinceNanos()) || !between.expired(packet, answers)) {
                between.leaving(packet, out, answers);
            }
            packet.release();
            if (out.writerIndex() > before) { // else it was dropped
                pacer.left();
            }
            next = pacer.due(now);
        }
        if (!pacer.isEmpty() && !scheduled) {
            scheduled = true;
            context.executor().schedule(() -> resume(context), PACE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Takes the time from the Message Expiry Interval of a packet. Returns whether nothing is left of it. */
    private static boolean ages(ByteBuf packet, long waitedNanos) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(waitedNanos);
        int at = seconds == 0 ? -1 : Packets.expiryAt(packet);
        if (at < 0) {
            return false;
        }
        long left = Math.max(0, packet.getUnsignedInt(at) - seconds);
        packet.setInt(at, (int) left);
        return left == 0;
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
        Held next = pacer.remove();
        while (next != null && between != null) {
            note(next.packet(), -1);
            between.withheld(next.packet());
            next.packet().release();
            next = pacer.remove();
        }
    }
}
