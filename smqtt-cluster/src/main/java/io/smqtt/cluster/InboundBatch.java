// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/** The messages of one frame, and the number of those that are not yet accepted. */
@AnyThread
final class InboundBatch {

    private static final AtomicIntegerFieldUpdater<InboundBatch> MISSING =
            AtomicIntegerFieldUpdater.newUpdater(InboundBatch.class, "missing");

    private final PeerInbox inbox;
    private final long last;
    private final boolean awaited;
    private final int bytes;
    private final Queue<Frame.Refusal> refusals = new ConcurrentLinkedQueue<>();
    private @Nullable List<Identified> exactlyOnce;
    private volatile int missing;

    /**
     * A QoS 2 message.
     *
     * @param sequence its sequence number
     * @param id its identifier
     */
    record Identified(long sequence, long id) {}

    /**
     * Creates a batch of messages that are not yet accepted.
     *
     * @param inbox their inbox
     * @param last the sequence number of the last one
     * @param messages how many there are
     * @param awaited whether a publisher waits for one of them
     * @param bytes their approximate size
     */
    InboundBatch(PeerInbox inbox, long last, int messages, boolean awaited, int bytes) {
        this.inbox = inbox;
        this.last = last;
        this.missing = messages;
        this.awaited = awaited;
        this.bytes = bytes;
    }

    PeerInbox inbox() {
        return inbox;
    }

    long last() {
        return last;
    }

    int bytes() {
        return bytes;
    }

    /** Records the identifier of a QoS 2 message. On the cluster's loop. */
    @OnClusterLoop
    void identified(long sequence, long id) {
        List<Identified> all = exactlyOnce;
        if (all == null) {
            all = new ArrayList<>();
            exactlyOnce = all;
        }
        all.add(new Identified(sequence, id));
    }

    /** The QoS 2 messages with an identifier. On the cluster's loop. */
    @OnClusterLoop
    List<Identified> exactlyOnce() {
        return exactlyOnce == null ? List.of() : exactlyOnce;
    }

    /** Whether a whole message was refused. Call when it is complete. */
    boolean isRefused(long sequence) {
        return refusals.stream()
                .anyMatch(refusal ->
                        refusal.sequence() == sequence && refusal.group().isEmpty());
    }

    /** Records the refusal of a message, or of its delivery to a group. Called before its end. */
    void refuse(long sequence, String group) {
        refusals.add(new Frame.Refusal(sequence, group));
    }

    /** Records that a number of messages have been accepted or refused. */
    void finished(int messages) {
        if (MISSING.addAndGet(this, -messages) == 0) {
            inbox.finished();
        }
    }

    boolean isDone() {
        return missing == 0;
    }

    /** Whether it should be acknowledged at once. Call when it is complete. */
    boolean isAwaited() {
        return awaited || !refusals.isEmpty();
    }

    /** The refusals, by sequence number. Call when it is complete. */
    List<Frame.Refusal> refusals() {
        if (refusals.isEmpty()) {
            return List.of();
        }
        List<Frame.Refusal> sorted = new ArrayList<>(refusals);
        sorted.sort(Comparator.comparingLong(Frame.Refusal::sequence));
        return sorted;
    }
}
