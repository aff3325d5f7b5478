// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.QoS;
import io.smqtt.routing.RouteScope;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscriber;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A message of another node, with the ticket for its acknowledgement to that node. It is routed to subscribers of this
 * node only, and then released.
 */
@AnyThread
final class InboundMessage implements RouteTicket, RouteScope {

    private static final AtomicIntegerFieldUpdater<InboundMessage> HOLDS =
            AtomicIntegerFieldUpdater.newUpdater(InboundMessage.class, "holds");

    private final InboundBatch batch;
    private final long sequence;
    private final ForwardedMessage forwarded;
    private final boolean paced;
    private final boolean parked;
    private final boolean adoptedOnly;
    private final Set<String> homes;

    @SuppressWarnings("UnusedVariable") // counted by HOLDS
    private volatile int holds = 1;

    private volatile boolean failed;

    /**
     * Creates a message that is not yet accepted.
     *
     * @param batch its batch
     * @param sequence its number
     * @param forwarded the message
     * @param parked whether it has waited for this node; an earlier run of this node may have had it
     * @param paced whether it is taken at the pace of the clients
     * @param adoptedOnly whether it is for sessions that this node has adopted alone
     * @param homes the nodes whose adopted sessions are to get it
     */
    InboundMessage(
            InboundBatch batch,
            long sequence,
            ForwardedMessage forwarded,
            boolean parked,
            boolean paced,
            boolean adoptedOnly,
            Set<String> homes) {
        this.adoptedOnly = adoptedOnly;
        this.homes = homes;
        this.parked = parked;
        this.paced = paced && isAwaited(forwarded);
        this.batch = batch;
        this.sequence = sequence;
        this.forwarded = forwarded;
    }

    PeerInbox inbox() {
        return batch.inbox();
    }

    /** Whether it waits until its connected subscribers have room. */
    boolean isPaced() {
        return paced;
    }

    ForwardedMessage forwarded() {
        return forwarded;
    }

    /** The number of holds on the acknowledgement. */
    RouteTicket ticket() {
        return isAwaited(forwarded) ? this : NONE;
    }

    /** Whether a publisher waits until a message has been accepted. */
    static boolean isAwaited(ForwardedMessage forwarded) {
        return forwarded.message().qos() != QoS.AT_MOST_ONCE;
    }

    @Override
    public boolean test(Subscriber subscriber) {
        String home = Homes.of(subscriber);
        return isFor(subscriber) && (home == null ? !adoptedOnly : homes.contains(home));
    }

    /** Whether a subscriber of this node gets messages of other nodes. */
    static boolean isFor(Subscriber subscriber) {
        return !subscriber.isRelay() && !subscriber.isLocalOnly();
    }

    @Override
    public boolean unshared() {
        return forwarded.toAll();
    }

    /** The other node gives it to other members if it was sent for sessions that this one has adopted: these are absent. */
    @Override
    public List<SharedFilter> groups() {
        return adoptedOnly ? List.of() : forwarded.groups();
    }

    /** The nodes whose adopted sessions are to get it. */
    Set<String> homes() {
        return homes;
    }

    /** Reports to the other node that a group cannot take the message here. Before the first {@link #release}. */
    @Override
    public void refused(SharedFilter group) {
        batch.refuse(sequence, group.toString());
    }

    /** Reports to the other node that this one does not serve the sessions of a node. Before the first {@link #release}. */
    void notServed(String home) {
        if (isAwaited(forwarded)) {
            batch.refuse(sequence, Homes.refusal(home));
        }
    }

    /** Records that the message could not be routed. Call before its release. */
    void fail() {
        if (!failed) {
            failed = true;
            batch.refuse(sequence, "");
        }
    }

    @Override
    public void hold() {
        HOLDS.incrementAndGet(this);
    }

    @Override
    public void release(boolean success) {
        if (letGo(success)) {
            batch.finished(1);
        }
    }

    /** Releases messages of one batch at once. */
    static void releaseAll(List<InboundMessage> messages, boolean success) {
        int finished = 0;
        for (InboundMessage message : messages) {
            if (message.letGo(success)) {
                finished++;
            }
        }
        if (finished > 0) {
            messages.get(0).batch.finished(finished);
        }
    }

    private boolean letGo(boolean success) {
        if (!success) {
            fail();
        }
        return !isAwaited(forwarded) || HOLDS.decrementAndGet(this) == 0; // an unawaited message has no other holds
    }

    @Override
    public boolean mayBeSlowed() {
        return false; // acknowledgements are cumulative
    }

    @Override
    public boolean mayComeAgain() {
        return forwarded.message().qos() == QoS.EXACTLY_ONCE;
    }

    @Override
    public boolean mayHaveCome() {
        return (parked || !homes.isEmpty()) && mayComeAgain();
    }

    @Override
    public boolean comesFirst() {
        return adoptedOnly;
    }

    @Override
    public boolean wantsStable() {
        return true; // its publisher may get the acknowledgement
    }
}
