// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RetainedCursor;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Elsewhere;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The sender's half of delivery to one client (MQTT 5.0, sections 4.3, 4.4, 4.9): the in-flight window and the queues
 * before it. Messages are sent in this order: those in flight from an earlier connection, then the {@link Backlog}, then
 * retained messages. A new message is sent at once when nothing waits. Only the backlog and the {@link DeliveryJournal}
 * depend on whether messages are stored.
 */
@OnEventLoop
final class OutboundFlow {

    /** The number of retained messages that are examined before the event loop's other tasks run. */
    private static final int RETAINED_STEPS = 1_000;

    private final SessionContext session;
    private final SessionResources resources;
    private final BrokerObserver observer;

    // valid for the session
    private final InFlightWindow inFlight;
    private final DeliveryJournal journal;
    private final SendWindow window;

    /** Queue for QoS 1 and 2. */
    private final Backlog backlog;

    /** Queue for QoS 0. In memory it is the same queue, so that all messages keep their order. */
    private final DeliveryQueue atMostOnce;

    private final @Nullable ConsumerPressure pressure;
    private @Nullable RetainedDeliveries retained;
    private int retainedSteps = RETAINED_STEPS;
    private boolean pumpedLater;

    /**
     * Creates a flow.
     *
     * @param session the owner of the messages
     * @param stored the backlog of a stored session, or null
     * @param pressure the back-pressure of an in-process consumer; null for a client
     */
    OutboundFlow(
            SessionContext session,
            SessionResources resources,
            @Nullable Backlog stored,
            @Nullable ConsumerPressure pressure) {
        this.session = session;
        this.resources = resources;
        this.observer = resources.observer();
        this.pressure = pressure;
        this.inFlight = new InFlightWindow(resources.budget());
        this.atMostOnce = new DeliveryQueue(resources);
        this.backlog = stored == null ? atMostOnce : stored;
        this.journal = backlog.open(this, inFlight);
        this.window = new SendWindow(this, resources, inFlight, journal);
    }

    void attach(PacketSink sink, @Nullable DeliveryCheck check) {
        window.attach(sink, check);
        backlog.attach();
    }

    void detach() {
        window.detach();
        releasePublishers();
        backlog.detach();
    }

    /** The in-flight window as the connection sees it. */
    SendWindow window() {
        return window;
    }

    @AnyThread
    int inFlightCount() {
        return inFlight.size();
    }

    @AnyThread
    int queuedCount() {
        return backlog == atMostOnce ? backlog.size() : backlog.size() + atMostOnce.size();
    }

    long queuedBytes() {
        return backlog == atMostOnce ? backlog.bytes() : backlog.bytes() + atMostOnce.bytes();
    }

    /** The number of messages that were dropped before they were sent. */
    @AnyThread
    long droppedCount() {
        return backlog == atMostOnce ? backlog.dropped : backlog.dropped + atMostOnce.dropped;
    }

    /** Counts a message that is dropped in the window, before it was sent. */
    void countDropped() {
        backlog.dropped++;
    }

    /**
     * Lists the oldest messages that wait, as far as they are in memory.
     *
     * @param most the maximum number of messages
     */
    List<WaitingMessage> waiting(int most) {
        List<WaitingMessage> all = new ArrayList<>();
        backlog.list(most, all);
        if (backlog != atMostOnce) {
            atMostOnce.list(most - all.size(), all);
        }
        return all;
    }

    /**
     * Lists the oldest messages in flight.
     *
     * @param most the maximum number of messages
     */
    List<WaitingMessage> inFlight(int most) {
        List<WaitingMessage> all = new ArrayList<>();
        inFlight.list(most, all);
        return all;
    }

    /** Packet identifiers that no message in flight has: {@link SpareIdentifiers#of}. */
    int[] spareIdentifiers(int count) {
        return SpareIdentifiers.of(inFlight, count);
    }

    Backlog backlog(QoS qos) {
        return qos == QoS.AT_MOST_ONCE ? atMostOnce : backlog;
    }

    // --- new messages

    /** Delivers a routed message. */
    void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        QoS qos = message.qos().atMost(subscription.maximumQos()); // [MQTT-3.8.4-8]
        PacketSink current = window.sink();
        if (current == null) {
            deliverOffline(message, subscription, qos, ticket);
        } else if (!window.mayReceive(message)) {
            drop(message, subscription, DropReason.NOT_AUTHORIZED, ticket);
        } else if (isShared(subscription)) {
            shared().deliver(current, message.onHeap(), subscription, qos, ticket);
        } else if (qos == QoS.AT_MOST_ONCE && mayPassQueue()) {
            sendAtMostOnce(current, message, subscription, ticket);
        } else if (qos != QoS.AT_MOST_ONCE && backlog.isEmpty() && window.mayPlace(current, backlog)) {
            send(current, message, subscription, qos, ticket);
        } else {
            enqueue(message, subscription, qos, ticket);
            backlog(qos).fetch();
        }
    }

    /** Whether messages of a subscription wait in the queue of its group: not those of an in-process consumer. */
    boolean isShared(Subscription subscription) {
        return subscription.shareName() != null && pressure == null;
    }

    /** Messages of shared subscriptions. */
    SharedDeliveries shared() {
        SharedDeliveries present = window.shared();
        if (present == null) {
            present = new SharedDeliveries(session, resources, this, inFlight, journal);
            window.shared(present);
        }
        return present;
    }

    void drop(ApplicationMessage message, Subscription subscription, DropReason reason, RouteTicket ticket) {
        backlog.dropped++;
        observer.messageDropped(reason, 1);
        TracedQueue.dropped(message, subscription, reason);
        ticket.dropped(reason);
        if (pressure != null) {
            pressure.dropped(reason);
        }
    }

    LimitsConfig limits() {
        return pressure == null ? resources.limits() : pressure.limits();
    }

    /** Whether a message is accepted although the queue is full, and its publisher waits. */
    private boolean slowsPublisher(QoS qos) {
        return pressure != null && window.sink() != null && qos != QoS.AT_MOST_ONCE && pressure.takesMore();
    }

    /** Whether a publisher waits although the queue has room: all queues together are nearly full. */
    private boolean holdsEarly(QoS qos) {
        return pressure != null && window.sink() != null && qos != QoS.AT_MOST_ONCE && pressure.holdsEarly();
    }

    private void holdPublisher(RouteTicket ticket, int footprint) {
        if (pressure != null) {
            pressure.hold(ticket, footprint);
        }
    }

    private void releasePublishers() {
        if (pressure != null) {
            pressure.releaseAll();
        }
    }

    /** Releases held publishers if the queue has room again. */
    private void releaseWithinLimits() {
        if (pressure != null) {
            pressure.left(queuedCount(), queuedBytes());
        }
    }

    /** Whether a QoS 0 message may be sent ahead of the queue: not if older QoS 0 messages may be in it [MQTT-4.6.0-6]. */
    private boolean mayPassQueue() {
        return atMostOnce.isEmpty() || !resources.config().queueQos0();
    }

    private void deliverOffline(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        if (qos != QoS.AT_MOST_ONCE || resources.config().queueQos0()) {
            enqueue(message, subscription, qos, ticket);
        } else {
            drop(message, subscription, DropReason.OFFLINE, ticket);
        }
    }

    void sendAtMostOnce(PacketSink current, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (!current.isWritable()) {
            drop(message, subscription, DropReason.SLOW_CONSUMER, ticket);
        } else if (window.isExpired(message)) {
            drop(message, subscription, DropReason.EXPIRED, ticket);
        } else if (!window.write(current, message, subscription, QoS.AT_MOST_ONCE, 0, false)) {
            ticket.dropped(DropReason.PACKET_TOO_LARGE);
        }
    }

    /** Whether nothing waits, and the window takes one more message. */
    boolean isFree(PacketSink current) {
        return atMostOnce.isEmpty() && backlog.isEmpty() && window.mayPlace(current, backlog);
    }

    /** Sends a message above QoS 0 that need not wait. */
    void send(PacketSink current, ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        if (window.isExpired(message)) { // [MQTT-3.3.2-5]
            drop(message, subscription, DropReason.EXPIRED, ticket);
            return;
        }
        long sequence = window.place(message, subscription, qos);
        boolean mayLeave = journal.begin(sequence, qos, ticket);
        window.leave(current, sequence, mayLeave, message, subscription, qos, ticket);
    }

    private void enqueue(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        Backlog to = backlog(qos);
        LimitsConfig limits = limits();
        int footprint = message.footprintBytes();
        DropReason full = to.refusal(footprint, limits);
        boolean slows = full != null && slowsPublisher(qos);
        if (full != null) {
            full = to.makeRoom(footprint, limits, slows);
        }
        if (full != null && !slows) {
            drop(message, subscription, full, ticket);
            return;
        }
        to.append(message.onHeap(), subscription, qos, ticket);
        observer.messageQueued(qos, footprint);
        TracedQueue.queued(message, subscription, qos);
        ticket.queued();
        if (full != null || (to.isInMemory() && holdsEarly(qos))) {
            holdPublisher(ticket, footprint);
        }
    }

    // --- answers of the store

    /** Continues a message in flight that the store has committed. */
    void stored(long sequence) {
        SharedDeliveries shared = window.shared();
        if (shared != null) {
            shared.stored(sequence);
        }
        committed();
    }

    /** Continues a message in flight whose PUBREC the store has committed. */
    void released(long sequence) {
        window.released(sequence);
        committed();
    }

    /** Continues after the store has committed a state change of a message in flight. */
    void committed() {
        pump();
        session.deliveriesChanged();
    }

    /** Handles a message that the store has rejected before it was sent. A message of a group stays there. */
    void notStored(long sequence) {
        inFlight.remove(sequence);
        SharedDeliveries shared = window.shared();
        if (shared == null || !shared.returnUnstored(sequence)) {
            countDropped();
            observer.messageDropped(DropReason.FAILED, 1);
        }
        pump();
    }

    // --- waiting messages

    /** See {@link SharedDeliveries#giveBack}. */
    void giveBackShared(Predicate<Subscription> inFlightToo, boolean ends) {
        shared().giveBack(atMostOnce, inFlightToo, ends);
    }

    /** Queues the retained messages that a new subscription asked for; {@link #pump()} sends them as the window allows. */
    void deliverRetained(RetainedCursor cursor, Subscription subscription) {
        if (retained == null) {
            retained = new RetainedDeliveries(resources.limits().maxRetainedRate());
        }
        retained.add(cursor, subscription);
    }

    /** Discards retained messages that wait for a subscription which has ended. */
    void unsubscribed(TopicFilter filter) {
        if (retained != null) {
            retained.remove(filter);
        }
    }

    /** Resumes {@link #pump()} after the event loop's other tasks had their turn. */
    void pumpLater() {
        pumpedLater = false;
        retainedSteps = RETAINED_STEPS;
        pump();
    }

    /** Sends waiting messages as far as the window and the socket allow. */
    void pump() {
        PacketSink current = window.sink();
        if (current == null) {
            return;
        }
        window.resend(current);
        pump(current, backlog);
        if (backlog != atMostOnce) {
            pump(current, atMostOnce);
        }
        boolean goesOn = true;
        while (goesOn && retained != null && window.isCaughtUp() && isFree(current)) {
            goesOn = sendRetained(current, retained);
        }
        releaseWithinLimits();
    }

    /** Resumes sending when the window has more room. */
    void pumpIfNeeded() {
        if (!backlog.isEmpty() || !atMostOnce.isEmpty() || retained != null || !window.isCaughtUp()) {
            pump();
        }
    }

    /** Moves waiting messages into the window as far as there is room, and sends them. */
    private void pump(PacketSink current, Backlog from) {
        boolean goesOn = true;
        while (goesOn && from.hasNext() && window.mayPlace(current, from)) {
            goesOn = sendNext(current, from);
        }
        from.fetch();
    }

    /** Sends the oldest waiting message. Returns false if its packet identifier is in use. */
    private boolean sendNext(PacketSink current, Backlog from) {
        if (from.wasSent()) {
            return sendAgain(current, from);
        }
        ApplicationMessage message = from.message();
        Subscription subscription = from.subscription();
        QoS qos = message.qos().atMost(subscription.maximumQos());
        leftQueue(message);
        if (!window.mayReceive(message)) {
            from.drop(DropReason.NOT_AUTHORIZED);
        } else if (qos == QoS.AT_MOST_ONCE) {
            from.remove();
            sendAtMostOnce(current, message, subscription, RouteTicket.NONE);
        } else if (window.isExpired(message)) { // [MQTT-3.3.2-5]
            from.drop(DropReason.EXPIRED);
        } else {
            long number = from.number();
            from.remove();
            long sequence = window.place(message, subscription, qos);
            boolean mayLeave = journal.place(sequence, number, qos);
            window.leave(current, sequence, mayLeave, message, subscription, qos, RouteTicket.NONE);
        }
        return true;
    }

    /** Sends a message that was in flight when the broker stopped. Returns false if its packet identifier is in use. */
    private boolean sendAgain(PacketSink current, Backlog from) {
        ApplicationMessage message = from.message();
        Subscription subscription = from.subscription();
        QoS qos = message.qos().atMost(subscription.maximumQos());
        long sequence = window.placeAgain(from.delivery(), message, subscription, qos);
        if (sequence < 0) {
            return false;
        }
        inFlight.number(sequence, from.number());
        from.remove();
        observer.messageElsewhere(Elsewhere.SENT_BEFORE, 1); // it counted as waiting while it was only in the store
        window.resend(current);
        return true;
    }

    private void leftQueue(ApplicationMessage message) {
        if (pressure != null) {
            pressure.taken();
        }
        if (message.isTimed()) {
            observer.queueTimed(resources.ticker().nanoTime() - message.acceptedAtNanos());
        }
    }

    /** Sends one retained message if the step limit allows; returns false if the search continues in a later pass. */
    private boolean sendRetained(PacketSink current, RetainedDeliveries waiting) {
        if (waiting.isEmpty()) {
            retained = null;
            return false;
        }
        long now = resources.ticker().nanoTime();
        long waitNanos = waiting.waitNanos(now);
        if (waitNanos > 0) {
            resumeRetained(waiting, waitNanos);
            return false;
        }
        if (!pumpedLater) { // which resets the step limit
            pumpedLater = true;
            session.execute(this::pumpLater);
        }
        Subscription subscription = waiting.subscription();
        ApplicationMessage message = waiting.next(now, retainedSteps);
        retainedSteps -= Math.max(1, waiting.steps()); // an unsuccessful search counts too
        if (message == null) {
            return !waiting.wasInterrupted();
        }
        if (!isFor(message, subscription)) {
            return true; // not routed to this client, so not dropped
        }
        QoS qos = message.qos().atMost(subscription.maximumQos());
        waiting.sent();
        observer.deliveriesAdded(DeliverySource.RETAINED, 1);
        if (qos == QoS.AT_MOST_ONCE) {
            sendAtMostOnce(current, message, subscription, RouteTicket.NONE);
        } else {
            send(current, message, subscription, qos, RouteTicket.NONE);
        }
        return true;
    }

    /** Continues when the pace of retained messages allows it. */
    private void resumeRetained(RetainedDeliveries waiting, long waitNanos) {
        if (waiting.mustResume()) {
            session.owner()
                    .executor()
                    .schedule(
                            () -> session.execute(() -> {
                                waiting.resumed();
                                pump();
                            }),
                            waitNanos,
                            TimeUnit.NANOSECONDS);
        }
    }

    private boolean isFor(ApplicationMessage retainedMessage, Subscription subscription) {
        boolean own = subscription.noLocal() // [MQTT-3.8.3-3]
                && subscription.subscriber().id().equals(retainedMessage.publisherId());
        boolean taken = subscription.subscriber().takes(retainedMessage.topic());
        return !own && taken && window.mayReceive(retainedMessage);
    }

    /**
     * Removes expired messages from memory.
     *
     * @return seconds until the next one expires, or {@link ApplicationMessage#NEVER}
     */
    long removeExpired() {
        long now = resources.ticker().nanoTime();
        long[] soonest = {Long.MAX_VALUE};
        int expired = atMostOnce.removeIf((message, subscription) -> {
            boolean isExpired = message.isExpired(now);
            if (!isExpired && message.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
                soonest[0] = Math.min(soonest[0], message.remainingExpirySeconds(now));
            } else if (isExpired) {
                TracedQueue.dropped(message, subscription, DropReason.EXPIRED);
            }
            return isExpired;
        });
        if (expired > 0) {
            atMostOnce.dropped += expired;
            observer.messageDropped(DropReason.EXPIRED, expired);
        }
        return soonest[0] == Long.MAX_VALUE ? ApplicationMessage.NEVER : soonest[0];
    }

    // --- between nodes

    /** The messages in memory, in order: those in flight and waiting; of a stored session the waiting QoS 0 messages. */
    List<StoredMessage> snapshot() {
        List<StoredMessage> all = new ArrayList<>();
        for (long sequence = inFlight.head();
                backlog.isInMemory() && sequence < inFlight.tail();
                sequence = inFlight.from(sequence + 1)) {
            if (inFlight.holds(sequence)) {
                all.add(inFlight.snapshot(sequence, all.size() + 1));
            }
        }
        atMostOnce.removeIf((message, subscription) -> {
            QoS qos = message.qos().atMost(subscription.maximumQos());
            all.add(subscription.stored(all.size() + 1, message, qos, StoredDelivery.WAITING));
            return false;
        });
        return all;
    }

    /** The number of pending deliveries: messages that wait, and those of the window that were never sent. */
    @AnyThread
    int pendingCount() {
        return queuedCount() + inFlight.unsent();
    }

    /** Restores a message of a session in memory that has come from another node, at its old position. */
    void restore(StoredMessage message, Subscription subscription) {
        StoredDelivery delivery = message.delivery();
        if (delivery.state() == StoredDelivery.State.WAITING) {
            atMostOnce.add(message.message(), subscription);
            observer.deliveriesAdded(DeliverySource.MOVED_HERE, 1);
        } else if (window.placeAgain(delivery, message.message(), subscription, message.qos()) < 0) {
            atMostOnce.add(message.message(), subscription);
            observer.deliveriesAdded(DeliverySource.REPEATED, 1);
        }
    }

    /** Releases all messages: the session has moved to another node. */
    void forget() {
        releasePublishers();
        atMostOnce.clear();
        inFlight.clear();
        SharedDeliveries shared = window.shared();
        if (shared != null) {
            shared.clear();
        }
        retained = null;
    }

    /** Drops all waiting messages at the end of the session. */
    void end() {
        int dropped = atMostOnce.size() + inFlight.unsent();
        if (dropped > 0) {
            observer.messageDropped(DropReason.SESSION_ENDED, dropped);
        }
        int abandoned = inFlight.undelivered() - inFlight.unsent();
        if (abandoned > 0) {
            observer.messageAbandoned(DropReason.SESSION_ENDED, abandoned);
        }
        forget();
    }
}
