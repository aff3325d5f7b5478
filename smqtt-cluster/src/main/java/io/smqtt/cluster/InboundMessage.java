// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A message of another node, and the ticket that its acknowledgement to that node waits for. Whoever routes it calls
 * {@link #refuse} for groups without a member and then {@link #release}. Any thread.
 */
final class InboundMessage implements RouteTicket {

    private static final AtomicIntegerFieldUpdater<InboundMessage> HOLDS =
            AtomicIntegerFieldUpdater.newUpdater(InboundMessage.class, "holds");

    private final PeerInbox inbox;
    private final long sequence;
    private final ForwardedMessage forwarded;
    private volatile int holds = 1;
    private volatile boolean failed;
    private volatile List<SharedFilter> refused = List.of();

    InboundMessage(PeerInbox inbox, long sequence, ForwardedMessage forwarded) {
        this.inbox = inbox;
        this.sequence = sequence;
        this.forwarded = forwarded;
    }

    ForwardedMessage forwarded() {
        return forwarded;
    }

    long sequence() {
        return sequence;
    }

    /** A group has no member here. Before the first {@link #release}. */
    void refuse(SharedFilter group) {
        if (refused.isEmpty()) {
            refused = new CopyOnWriteArrayList<>();
        }
        refused.add(group);
    }

    List<SharedFilter> refused() {
        return refused;
    }

    @Override
    public void hold() {
        HOLDS.incrementAndGet(this);
    }

    @Override
    public void release(boolean success) {
        if (letGo(success)) {
            inbox.finished();
        }
    }

    /** Releases messages of one peer at once, which is told once. */
    static void releaseAll(List<InboundMessage> messages, boolean success) {
        PeerInbox finished = null;
        for (InboundMessage message : messages) {
            if (message.letGo(success)) {
                finished = message.inbox;
            }
        }
        if (finished != null) {
            finished.finished();
        }
    }

    private boolean letGo(boolean success) {
        if (!success) {
            failed = true;
        }
        return HOLDS.decrementAndGet(this) == 0;
    }

    /** It could not be routed. Before it is released. */
    void fail() {
        failed = true;
    }

    /** Whether anybody waits until it has been taken over. */
    boolean isAwaited() {
        return failed || !refused.isEmpty() || forwarded.message().qos() != QoS.AT_MOST_ONCE;
    }

    /** About what it holds. */
    int bytes() {
        return forwarded.message().footprintBytes();
    }

    @Override
    public boolean wantsStable() {
        return true; // its publisher may be told that it is
    }

    boolean isFailed() {
        return failed;
    }

    boolean isDone() {
        return holds == 0;
    }
}
