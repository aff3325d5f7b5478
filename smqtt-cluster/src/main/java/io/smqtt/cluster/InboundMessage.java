// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.routing.RouteTicket;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A message of another node, and the ticket that its acknowledgement to that node waits for. Whoever routes it calls
 * {@link #refuse} for groups without a member and then {@link #release}. Any thread.
 */
final class InboundMessage implements RouteTicket {

    private final PeerInbox inbox;
    private final long sequence;
    private final ForwardedMessage forwarded;
    private final AtomicInteger holds = new AtomicInteger(1);
    private volatile boolean failed;
    private volatile List<SharedFilter> refused = List.of();
    private boolean done;

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
        holds.incrementAndGet();
    }

    @Override
    public void release(boolean success) {
        if (!success) {
            failed = true;
        }
        if (holds.decrementAndGet() == 0) {
            inbox.finished(this);
        }
    }

    @Override
    public boolean wantsStable() {
        return true; // its publisher may be told that it is
    }

    boolean isFailed() {
        return failed;
    }

    /** On the cluster's loop. */
    boolean isDone() {
        return done;
    }

    void done() {
        done = true;
    }
}
