// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/** Messages that came in one frame, and how many of them have not been taken over yet. */
@AnyThread
final class InboundBatch {

    private static final AtomicIntegerFieldUpdater<InboundBatch> MISSING =
            AtomicIntegerFieldUpdater.newUpdater(InboundBatch.class, "missing");

    private final PeerInbox inbox;
    private final long last;
    private final boolean awaited;
    private final int bytes;
    private final Queue<Frame.Refusal> refusals = new ConcurrentLinkedQueue<>();
    private volatile int missing;

    /**
     * Creates a batch of messages of which none has been taken over.
     *
     * @param inbox whose they are
     * @param last the number of the last one
     * @param messages how many there are
     * @param awaited whether anybody waits for one of them
     * @param bytes about what they hold
     */
    InboundBatch(PeerInbox inbox, long last, int messages, boolean awaited, int bytes) {
        this.inbox = inbox;
        this.last = last;
        this.missing = messages;
        this.awaited = awaited;
        this.bytes = bytes;
    }

    long last() {
        return last;
    }

    int bytes() {
        return bytes;
    }

    /** A message, or its delivery to a group, is refused. Before it is finished. */
    void refuse(long sequence, String group) {
        refusals.add(new Frame.Refusal(sequence, group));
    }

    /** So many more have been taken over or refused. */
    void finished(int messages) {
        if (MISSING.addAndGet(this, -messages) == 0) {
            inbox.finished();
        }
    }

    boolean isDone() {
        return missing == 0;
    }

    /** Tells whether its end should be told at once. When it is done. */
    boolean isAwaited() {
        return awaited || !refusals.isEmpty();
    }

    /** What is refused, by number. When it is done. */
    List<Frame.Refusal> refusals() {
        if (refusals.isEmpty()) {
            return List.of();
        }
        List<Frame.Refusal> sorted = new ArrayList<>(refusals);
        sorted.sort(Comparator.comparingLong(Frame.Refusal::sequence));
        return sorted;
    }
}
