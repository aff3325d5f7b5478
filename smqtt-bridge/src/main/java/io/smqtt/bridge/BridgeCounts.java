// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.spi.BridgeDrop;
import io.smqtt.thread.AnyThread;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntPredicate;

/** What a bridge has forwarded since the start of the broker. */
@AnyThread
final class BridgeCounts {

    private final LongAdder sent = new LongAdder();
    private final LongAdder received = new LongAdder();
    private final LongAdder resent = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final AtomicLongArray notSent = new AtomicLongArray(DropCause.values().length);
    private final AtomicLongArray notTaken = new AtomicLongArray(DropCause.values().length);

    /** Packet identifiers of messages that our session has sent, and that were withheld from the other broker until now. */
    private final Set<Integer> withheld = ConcurrentHashMap.newKeySet();

    private final AtomicInteger held = new AtomicInteger();
    private volatile long rttNanos;

    /**
     * Counts a PUBLISH to the other broker.
     *
     * @param first whether it is the first one of the message, whatever the mark of a repetition says
     */
    void sent(boolean first) {
        (first ? sent : resent).increment();
    }

    /** Notes a PUBLISH above QoS 0 of our session that is not passed on over this connection: our session sends it again. */
    void withheld(ByteBuf packet) {
        if (!Packets.isRepeated(packet)
                && !withheld.add(Packets.packetId(packet))) { // another message had its identifier
            notSent(DropCause.GIVEN_UP);
        }
    }

    /**
     * Counts the messages that were withheld, and that our session has given up since.
     *
     * @param isGone whether no message has a packet identifier
     */
    void removeGone(IntPredicate isGone) {
        for (Integer id : List.copyOf(withheld)) {
            if (isGone.test(id) && withheld.remove(id)) {
                notSent(DropCause.GIVEN_UP);
            }
        }
    }

    /**
     * Notes messages that the rate holds back, and that were not sent before.
     *
     * @param change how many more they are, or less if it is negative
     */
    void held(int change) {
        held.addAndGet(change);
    }

    /** Whether a message above QoS 0 was withheld until now. */
    boolean isWithheld(int packetId) {
        return withheld.contains(packetId);
    }

    /** Forgets what was withheld: it is in another session now. */
    void forgetWithheld() {
        withheld.clear();
    }

    /** The messages that our session has sent, and that were not passed on yet: held back by the rate, or withheld until another connection. */
    int waiting() {
        return held.get() + withheld.size();
    }

    /** A message above QoS 0 of our session is counted as one that is not sent: it may have been withheld before. */
    void decided(int packetId) {
        withheld.remove(packetId);
    }

    /** Whether a PUBLISH above QoS 0 of our session is the first one of its message that is passed on, although it may have the mark of a repetition. */
    boolean isFirst(boolean repeated, int packetId) {
        boolean wasWithheld = !withheld.isEmpty() && withheld.remove(packetId);
        if (wasWithheld && !repeated) { // another message has its identifier
            notSent(DropCause.GIVEN_UP);
        }
        return wasWithheld || !repeated;
    }

    /** Counts a PUBLISH from the other broker. */
    void received() {
        received.increment();
    }

    /** Counts a message that was sent, and that the other broker has refused for good. */
    void refused() {
        refused.increment();
    }

    /** Counts a message that is not sent to the other broker. */
    void notSent(DropCause cause) {
        notSent.incrementAndGet(cause.ordinal());
    }

    /** Counts a message of the other broker that is not published here. */
    void notTaken(DropCause cause) {
        notTaken.incrementAndGet(cause.ordinal());
    }

    /** Keeps the time that an answer of the other broker took. */
    void answered(long nanos) {
        rttNanos = nanos;
    }

    long sent() {
        return sent.sum();
    }

    long resent() {
        return resent.sum();
    }

    long refusedCount() {
        return refused.sum();
    }

    long receivedCount() {
        return received.sum();
    }

    /** Messages that were not sent to the other broker, for a cause. */
    long notSentCount(DropCause cause) {
        return notSent.get(cause.ordinal());
    }

    /**
     * Messages that were not sent to the other broker, by reason.
     *
     * @param ofQueue those that the queue has dropped
     */
    Map<BridgeDrop, Long> notSentCounts(long ofQueue) {
        Map<BridgeDrop, Long> counts = byReason(notSent);
        counts.put(BridgeDrop.QUEUE, ofQueue);
        return counts;
    }

    /** Messages of the other broker that were not published here, by reason. */
    Map<BridgeDrop, Long> notTakenCounts() {
        return byReason(notTaken);
    }

    private static Map<BridgeDrop, Long> byReason(AtomicLongArray byCause) {
        Map<BridgeDrop, Long> counts = new EnumMap<>(BridgeDrop.class);
        for (DropCause cause : DropCause.values()) {
            counts.merge(cause.reason(), byCause.get(cause.ordinal()), Long::sum);
        }
        return counts;
    }

    /** The time of the last answer in nanoseconds; 0 if there was none. */
    long rttNanos() {
        return rttNanos;
    }
}
