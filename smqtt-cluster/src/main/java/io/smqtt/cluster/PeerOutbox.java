// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.MessageBytes;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.QueueBudget;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Forwards messages to one peer: a bounded queue, numbered batches, and the batches that the peer has not yet accepted. While the peer is
 * unreachable, messages above QoS 0 for durable sessions are parked, and their publishers wait only until they are stored. On its return the
 * parked messages come first. Event loops {@link #offer}; everything else is on the cluster's loop.
 */
@OnClusterLoop
final class PeerOutbox implements Heir {

    private static final int PARKED_IN_FLIGHT = 1_024;

    private final Executor loop;
    private final ClusterSettings settings;
    private final BrokerObserver observer;
    private final OutboxLoad load;
    private final IntSupplier streams;
    private final Predicate<Frame.OutboundBatch> send;
    private final BiConsumer<OutboundMessage, SharedFilter> redispatch;
    private final ParkedMessages park;

    private final Queue<List<Outbound>> offered = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean woken = new AtomicBoolean();
    private volatile boolean reachable;

    private final Unsent unsent = new Unsent();
    private final ArrayDeque<Outbound> unacknowledged = new ArrayDeque<>();
    private long peerEpoch = Long.MIN_VALUE;
    private int stream;
    private int onTheirWay;
    private long onTheirWayBytes;
    private long lastSequence;
    private long received;
    private final Patience patience;
    private final RefusedMessages refused = new RefusedMessages();
    private final DrainMarkers markers = new DrainMarkers(() -> refused.isOpen(unsent, unacknowledged));
    private final ParkedForGroups forGroups;
    private final PassedOn passedOn;
    private final ServedHomes served = new ServedHomes();

    /**
     * Creates an empty queue to a peer that is not yet reachable.
     *
     * @param streams supplies stream numbers, increasing, also after the peer was removed
     * @param send passes a batch to the transport; false if it accepts none now
     * @param redispatch routes a message to another member of a group
     * @param park keeps messages while the peer is unreachable
     */
    PeerOutbox(
            Executor loop,
            ClusterSettings settings,
            BrokerObserver observer,
            QueueBudget budget,
            IntSupplier streams,
            Predicate<Frame.OutboundBatch> send,
            BiConsumer<OutboundMessage, SharedFilter> redispatch,
            ParkedMessages park) {
        this.loop = loop;
        this.settings = settings;
        this.observer = observer;
        this.load = new OutboxLoad(settings, new PeerPressure(budget));
        this.streams = streams;
        this.send = send;
        this.redispatch = redispatch;
        this.park = park;
        this.patience = new Patience(settings.retransmit().toNanos());
        this.forGroups = new ParkedForGroups(park, redispatch, loop);
        this.passedOn = new PassedOn(park, forGroups, observer, loop, this::takeOffered);
    }

    @AnyThread
    boolean isReachable() {
        return reachable;
    }

    /** The messages that are kept for the peer's return. */
    ParkedMessages park() {
        return park;
    }

    /** Queued messages, those in flight included, without parked ones. */
    @AnyThread
    int size() {
        return load.messages();
    }

    @AnyThread
    long bytes() {
        return load.bytes();
    }

    /** Queues messages, in their order. */
    @AnyThread
    void offer(List<? extends Outbound> messages) {
        int some = 0;
        long held = 0;
        for (Outbound message : messages) {
            some += message.count();
            held += message.bytes();
        }
        List<Outbound> accepted = new ArrayList<>(messages);
        if (!reachable || load.isSlow() || load.isFull(some, held, 1)) {
            accepted.clear();
            some = 0;
            held = 0;
            for (Outbound message : messages) {
                if (accepts(message, some, held)) {
                    accepted.add(message);
                    some += message.count();
                    held += message.bytes();
                }
            }
        }
        if (!accepted.isEmpty()) {
            load.add(some, held);
            offered.add(accepted);
            if (woken.compareAndSet(false, true)) {
                loop.execute(this::collect);
            }
        }
    }

    private boolean accepts(Outbound message, int more, long moreBytes) {
        if (!reachable && !OutboundFrame.isOfUseLater(message)) {
            park.drops().add(DropReason.PEER_GONE, message.deliveries());
            message.settle(true); // its subscribers have ended with their node
            return false;
        }
        // to a slow peer QoS 0 leaves room for other messages
        int part = load.isSlow() && message.isAtMostOnce() ? 2 : 1;
        if (load.isFull(more, moreBytes, part) && !load.isHeldBack(message, more, moreBytes)) {
            park.drops().add(DropReason.PEER_QUEUE, message.deliveries());
            message.settle(false); // it must not be acknowledged
            return false;
        }
        return true;
    }

    private void collect() {
        woken.set(false);
        takeOffered();
        load.adjust(reachable);
        pump();
    }

    private void takeOffered() {
        for (List<Outbound> next = offered.poll(); next != null; next = offered.poll()) {
            next.forEach(reachable ? this::queue : this::parkUnsent);
        }
    }

    /** Queues a message behind all others. Behind unread parked messages it is parked, too. */
    private void queue(Outbound message) {
        served.name(message);
        if (!park.hasUnread() || message.isAtMostOnce() || !message.isToAll()) {
            unsent.queue(message);
        } else if (message instanceof OutboundMessage one) {
            if (one.hasGroups()) {
                OutboundMessage split = one.splitGroups();
                load.add(1, split.bytes());
                unsent.queue(split);
            }
            load.forget(one);
            served.keep(one);
            park.add(one);
        }
    }

    /** The peer is reachable with this run. */
    void up(long epoch, long nowNanos) {
        if (epoch != peerEpoch) {
            beginAgain(epoch);
        }
        if (!reachable) {
            reachable = true;
            patience.progress(nowNanos);
            resend();
            load.adjust(reachable);
        }
        pump();
    }

    /** Messages that the last run has not accepted go to the next one, except for those of clean sessions alone, which have ended. */
    private void beginAgain(long epoch) {
        peerEpoch = epoch;
        stream = streams.getAsInt();
        lastSequence = 0;
        received = 0;
        onTheirWay = 0;
        onTheirWayBytes = 0;
        while (!unacknowledged.isEmpty()) {
            Outbound last = unacknowledged.removeLast();
            if (OutboundFrame.isOfUseLater(last)) {
                last.mayHaveCome();
                unsent.addFirst(last);
            } else {
                lost(last);
            }
        }
    }

    /** A message that was sent has ended with the peer, unless it is parked for another node. */
    private void lost(Outbound message) {
        if (!OutboundFrame.isInherited(message)) {
            load.forget(message);
            if (message.deliveries() > 0) { // not if others get it
                park.drops().add(DropReason.PEER_GONE, message.deliveries());
            }
        }
    }

    /** Runs a task when the peer has accepted all current messages, or is unreachable. */
    void afterDrained(Runnable task) {
        Outbound sent = unacknowledged.isEmpty() ? refused.last() : unacknowledged.peekLast();
        Outbound last = unsent.last() == null ? sent : unsent.last();
        if (reachable && park.hasUnread()) {
            markers.add(null, park.lastRow(), task);
        } else if (reachable && last != null) {
            markers.add(last, 0, task);
        } else {
            task.run();
        }
    }

    /**
     * The peer is unreachable.
     *
     * @param durableFilters the filters of its durable sessions
     */
    void down(Set<String> durableFilters) {
        if (reachable) {
            reachable = false;
            park.away(durableFilters);
            parkAll();
            markers.releaseAll();
            load.adjust(reachable);
        }
    }

    /**
     * Routes shared messages to other nodes, and parks the rest for the peer's return. What was sent stays in memory too, with its sequence
     * numbers, because the peer may have it.
     */
    private void parkAll() {
        List<OutboundMessage> parts = forGroups.split(unacknowledged, observer);
        for (Outbound message : unacknowledged) {
            if (OutboundFrame.isInherited(message)) {
                message.settle(false);
            } else if (!message.isParked()) {
                message.settle(true);
            } else if (message instanceof OutboundMessage one && one.row() == 0) {
                load.forget(one);
                served.keep(one);
                park.keep(one);
            }
        }
        List<Outbound> rest = unsent.removeAll();
        List<OutboundMessage> taken = new ArrayList<>();
        for (Outbound message : rest) {
            if (OutboundFrame.isInherited(message)) {
                message.settle(false);
            } else if (OutboundFrame.rowOf(message) != 0) { // the unread rows follow those that were sent
                OutboundMessage one = (OutboundMessage) message;
                if (one.isSentAgain()) {
                    refused.add(one);
                } else {
                    taken.add(one);
                }
            }
        }
        park.giveBack(taken);
        parts.forEach(park::add);
        for (Outbound message : rest) {
            if (!OutboundFrame.hasWaited(message)) {
                parkUnsent(message);
            }
        }
        refused.removeAll(park::addAgain);
    }

    /** The peer has failed, and another node serves its sessions: that one receives the parked messages, see {@link PassedOn#begin}. */
    void passOnTo(Heir heir, String homes, LeftOut without, @Nullable Runnable direct, Runnable done) {
        passedOn.begin(heir, homes, without, direct, done);
        passOn(false);
    }

    /** All messages that come from now on are in flight to the node that serves the sessions of the peer, if that is still so. */
    void parkNothing(Heir heir) {
        passedOn.parkNothing(heir);
    }

    /** From now on messages are parked for the peer again. */
    void passOnNothing() {
        passedOn.end();
    }

    /** A peer that has failed may seem to be reachable here for a while. Then this waits until it has accepted all frames, or is unreachable. */
    private void passOn(boolean isDrained) {
        if (!passedOn.isWanted()) {
            return;
        }
        if (!reachable) {
            passedOn.passSent(unacknowledged, this::lost); // the peer may have taken it, which its store knows
            nothingIsSent();
            passedOn.run();
        } else if (isDrained) {
            passedOn.nothingIsParked();
        } else {
            afterDrained(() -> loop.execute(() -> passOn(true)));
        }
    }

    private void nothingIsSent() {
        unacknowledged.clear();
        onTheirWay = 0;
        onTheirWayBytes = 0;
    }

    @Override
    public void take(ApplicationMessage message, String homes, Consumer<Boolean> taken) {
        if (!reachable) {
            taken.accept(false);
            return;
        }
        unsent.add(OutboundMessage.inherited(message, homes, new Inheritance(message, taken, loop)));
        if (woken.compareAndSet(false, true)) {
            loop.execute(this::collect);
        }
    }

    @Override
    public boolean hold(Object holder) {
        if (!reachable || park.hasUnread()) {
            return false;
        }
        takeOffered();
        unsent.hold(holder);
        return true;
    }

    @Override
    public void letGo(Object holder) {
        unsent.letGo(holder);
        pump();
    }

    /** The nodes whose sessions the peer serves. */
    ServedHomes served() {
        return served;
    }

    /** Another peer was to get a message for the sessions of this one: it is parked here, too. Before it is settled there. */
    void keepToo(OutboundMessage message) {
        park(message.copyToPark());
    }

    /** Another node had parked a message for the peer, and this node has its store: it is parked here. */
    void inherit(OutboundMessage message, Consumer<Boolean> taken) {
        observer.deliveriesAdded(DeliverySource.RECOVERED, message.deliveries());
        message.hold(new Inheritance(message.message(), taken, loop));
        park(message);
    }

    private void park(OutboundMessage message) {
        park.add(message);
        if (reachable) {
            pump();
        }
    }

    /** Parks a message that was not sent yet, or drops it if it is not for a durable session. */
    private void parkUnsent(Outbound message) {
        load.forget(message);
        if (message instanceof OutboundMessage one) {
            giveGroupsAway(one);
            if (one.isParked() && !passedOn.takesAlready(one)) {
                served.keep(one);
                park.add(one);
            }
            if (one.isParked()) {
                return;
            }
        }
        if (message.isToAll()) {
            park.drops().add(DropReason.PEER_GONE, message.count());
        }
        message.settle(true);
    }

    private void giveGroupsAway(OutboundMessage message) {
        message.takeGroups().forEach(group -> redispatch.accept(message, group));
    }

    /** The peer was removed: nothing is parked for it. */
    void purge() {
        down(Set.of());
        for (Outbound message : unacknowledged) {
            if (OutboundFrame.rowOf(message) == 0) {
                lost(message);
            }
        }
        nothingIsSent();
        forGroups.clear();
        park.forget();
        peerEpoch = Long.MIN_VALUE;
        load.adjust(reachable);
    }

    void acknowledged(Frame.PublishAck ack, long nowNanos) {
        if (ack.stream() != stream || ack.upTo() > lastSequence) {
            return;
        }
        if (ack.received() > received) {
            received = Math.min(ack.received(), lastSequence);
            patience.progress(nowNanos);
        }
        for (Frame.Refusal refusal : ack.refusals()) {
            refused(refusal, nowNanos);
        }
        boolean settled = false;
        while (!unacknowledged.isEmpty() && unacknowledged.element().lastSequence() <= ack.upTo()) {
            settled = true;
            accepted(unacknowledged.remove());
        }
        if (settled) {
            patience.progress(nowNanos);
        }
        load.adjust(reachable);
        pump();
    }

    private void accepted(Outbound done) {
        onTheirWay -= done.count();
        onTheirWayBytes -= done.bytes();
        load.accepted(done);
        OutboundMessage parked = OutboundFrame.hasWaited(done) && done instanceof OutboundMessage one ? one : null;
        if (parked != null && parked.isRefused() && !parked.isInherited()) {
            park.refused();
            refused.add(parked);
            return;
        }
        if (parked == null || !parked.isRefused()) {
            if (parked == null) {
                load.forget(done);
            } else if (!parked.isInherited()) {
                park.accepted(parked);
            }
            if (OutboundFrame.isRefusedToPublisher(done)) {
                park.drops().add(DropReason.FAILED, done.deliveries());
            } else {
                done.countDelivered(observer);
            }
            done.settle(true);
        }
        markers.accepted(done);
    }

    private void refused(Frame.Refusal refusal, long nowNanos) {
        for (Outbound message : unacknowledged) {
            if (message.sequence() > refusal.sequence()) {
                return; // a repetition of a handled refusal
            }
            if (message.lastSequence() >= refusal.sequence()) {
                if (refusal.group().isEmpty()
                        && OutboundFrame.rowOf(message) != 0) { // its publisher has its acknowledgement
                    ((OutboundMessage) message).refuse();
                    refused.pause(nowNanos);
                } else if (refusal.group().isEmpty()) {
                    message.refuse();
                    message.settle(false);
                } else if (Homes.isRefusal(refusal.group()) && message instanceof OutboundMessage one) {
                    served.refused(Homes.refused(refusal.group()), one);
                } else if (message instanceof OutboundMessage one) {
                    SharedFilter group = MessageBytes.group(refusal.group());
                    if (one.takeGroup(group)) { // otherwise another member has it already
                        redispatch.accept(one, group);
                    }
                }
                return;
            }
        }
    }

    /** Sends messages again after a timeout. Called periodically. */
    void tick(long nowNanos) {
        load.tick();
        park.retry();
        forGroups.tick();
        List<OutboundMessage> again = refused.due(nowNanos); // while the peer is unreachable there are none
        if (!reachable) {
            passOn(false);
            return;
        }
        unsent.addAll(again);
        if (patience.isOver(nowNanos, unacknowledged.isEmpty())) {
            resend();
        }
        if (unacknowledged.isEmpty() && unsent.last() == null && refused.isEmpty() && !park.hasUnread()) {
            markers.releaseAll(); // the message of one may have been dropped
            park.discardIfEmpty();
        }
        pump();
    }

    /** Sends messages again that have not arrived. If all have, sends the last one, so that the acknowledgement is repeated. */
    private void resend() {
        if (unacknowledged.isEmpty()) {
            return;
        }
        long from = Math.min(received + 1, unacknowledged.getLast().lastSequence());
        for (OutboundFrame again : OutboundFrame.from(from, unacknowledged, settings)) {
            if (!send(again)) {
                return;
            }
        }
    }

    private boolean send(OutboundFrame batch) {
        return send.test(batch.inStream(peerEpoch, stream, unacknowledged.peek()));
    }

    private void pump() {
        boolean takes = !refused.isPausing() && !forGroups.isFull() && unsent.size() < settings.rowsPerFrame();
        if (reachable && takes && park.hasUnread()) {
            park.take(this::unpark);
            for (OutboundMessage message : park.takeHeldBack()) {
                load.add(1, message.bytes());
                unsent.add(message);
            }
        }
        sendUnsent();
    }

    private void unpark(List<OutboundMessage> messages) {
        if (reachable) {
            unsent.addAll(forGroups.give(messages));
            sendUnsent();
        } else {
            park.giveBack(messages);
        }
    }

    private void sendUnsent() {
        while (reachable && !unsent.isEmpty() && hasRoom()) {
            OutboundFrame next = new OutboundFrame(settings);
            for (Outbound message : unsent) {
                if (!next.hasRoomFor(message)) {
                    break;
                }
                message.number(lastSequence + next.count() + 1);
                next.add(message);
            }
            if (!send(next)) {
                return; // later
            }
            lastSequence += next.count();
            onTheirWay += next.count();
            onTheirWayBytes += next.bytes();
            for (Outbound sent : next.parts()) {
                unsent.remove();
                unacknowledged.add(sent);
            }
        }
    }

    /** Few parked messages are in flight, because later ones wait for them. */
    private boolean hasRoom() {
        boolean parked = OutboundFrame.hasWaited(unsent.element());
        int messages = parked ? Math.min(PARKED_IN_FLIGHT, settings.windowMessages()) : settings.windowMessages();
        return onTheirWay < messages && onTheirWayBytes < settings.windowBytes();
    }
}
