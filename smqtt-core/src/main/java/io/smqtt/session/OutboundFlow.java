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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The sender's half of delivery to one client: the in-flight window, and what goes into it (MQTT 5.0, sections 4.3, 4.4, 4.9).
 * Messages leave in this order: what was in flight when the client came back, then the {@link Backlog}, then retained messages;
 * a new message passes straight through when nothing waits. Whether messages are stored is known to the backlog and the {@link
 * DeliveryJournal} alone.
 */
@OnEventLoop
final class OutboundFlow {

    /** How many retained messages are looked at before the others of the event loop have their turn. */
    private static final int RETAINED_STEPS = 1_000;

    private final Session session;
    private final SessionResources resources;
    private final BrokerObserver observer;

    // valid for the session
    private final InFlightWindow inFlight;
    private final DeliveryJournal journal;
    private final SendWindow window;

    /** Where messages wait at QoS 1 and 2. */
    private final Backlog backlog;

    /** Where messages wait at QoS 0: in memory the same, so that all keep their order. */
    private final DeliveryQueue atMostOnce;

    private final @Nullable ConsumerPressure pressure;
    private @Nullable RetainedDeliveries retained;
    private int retainedSteps = RETAINED_STEPS;
    private boolean pumpedLater;

    /**
     * Creates a flow.
     *
     * @param session whose messages these are
     * @param stored the backlog of a stored session, or null
     * @param pressure what a consumer in this process does to publishers; null for a client
     */
    OutboundFlow(
            Session session,
            SessionResources resources,
            @Nullable DurableQueue stored,
            @Nullable ConsumerPressure pressure) {
        this.session = session;
        this.resources = resources;
        this.observer = resources.observer();
        this.pressure = pressure;
        this.inFlight = new InFlightWindow(resources.budget());
        this.atMostOnce = new DeliveryQueue(resources);
        this.backlog = stored == null ? atMostOnce : stored;
        this.journal = stored == null ? DeliveryJournal.UNSTORED : stored.open(this, inFlight);
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

    Backlog backlog(QoS qos) {
        return qos == QoS.AT_MOST_ONCE ? atMostOnce : backlog;
    }

    // --- what comes

    /** Takes a routed message. */
    void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        QoS qos = message.qos().atMost(subscription.maximumQos()); // [MQTT-3.8.4-8]
        PacketSink current = window.sink();
        if (current == null) {
            deliverOffline(message, subscription, qos, ticket);
        } else if (!window.mayReceive(message)) {
            drop(DropReason.NOT_AUTHORIZED, ticket);
        } else if (subscription.shareName() != null && pressure == null) {
            shared().deliver(current, message, subscription, qos, ticket);
        } else if (qos == QoS.AT_MOST_ONCE && mayPassQueue()) {
            sendAtMostOnce(current, message, subscription, ticket);
        } else if (qos != QoS.AT_MOST_ONCE && backlog.isEmpty() && window.mayPlace(current, backlog)) {
            send(current, message, subscription, qos, ticket);
        } else {
            enqueue(message, subscription, qos, ticket);
            backlog(qos).fetch();
        }
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

    void drop(DropReason reason, RouteTicket ticket) {
        observer.messageDropped(reason, 1);
        ticket.dropped(reason);
        if (pressure != null) {
            pressure.dropped(reason);
        }
    }

    LimitsConfig limits() {
        return pressure == null ? resources.limits() : pressure.limits();
    }

    /** Whether a message is taken though the queue is full: its publisher waits. */
    private boolean slowsPublisher(QoS qos) {
        return pressure != null && window.sink() != null && qos != QoS.AT_MOST_ONCE && pressure.takesMore();
    }

    /** Whether a publisher waits though the queue has room: all queues together are nearly full. */
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

    /** Messages may have left the queue. */
    private void makeWay() {
        if (pressure != null) {
            pressure.left(queuedCount(), queuedBytes());
        }
    }

    /** QoS 0 messages wait for nobody, unless older ones of their kind may be in the queue [MQTT-4.6.0-6]. */
    private boolean mayPassQueue() {
        return atMostOnce.isEmpty() || !resources.config().queueQos0();
    }

    private void deliverOffline(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        if (qos != QoS.AT_MOST_ONCE || resources.config().queueQos0()) {
            enqueue(message, subscription, qos, ticket);
        } else {
            drop(DropReason.OFFLINE, ticket);
        }
    }

    void sendAtMostOnce(PacketSink current, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (!current.isWritable()) {
            drop(DropReason.SLOW_CONSUMER, ticket);
        } else if (window.isExpired(message)) {
            drop(DropReason.EXPIRED, ticket);
        } else if (!window.write(current, message, subscription, QoS.AT_MOST_ONCE, 0, false)) {
            ticket.dropped(DropReason.PACKET_TOO_LARGE);
        }
    }

    /** Whether nothing waits, and the window takes one more message. */
    boolean isFree(PacketSink current) {
        return atMostOnce.isEmpty() && backlog.isEmpty() && window.mayPlace(current, backlog);
    }

    /** Sends a message that need not wait, above QoS 0. */
    void send(PacketSink current, ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        if (window.isExpired(message)) { // [MQTT-3.3.2-5]
            drop(DropReason.EXPIRED, ticket);
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
            drop(full, ticket);
            return;
        }
        to.append(message, subscription, qos, ticket);
        observer.messageQueued(qos, footprint);
        ticket.queued();
        if (full != null || (to.isInMemory() && holdsEarly(qos))) {
            holdPublisher(ticket, footprint);
        }
    }

    // --- what the store says

    /** A step of a message in flight is safe that had to be. */
    void stored(long sequence, QueueStep step) {
        SharedDeliveries shared = window.shared();
        if (shared != null && step == QueueStep.SENT_APPENDED) {
            shared.stored(sequence);
        }
        if (step == QueueStep.RECEIVED_WRITTEN) {
            window.released(sequence);
        }
        pump();
        if (window.sink() == null) {
            session.life().stayedAway(); // when it was not safe the message had to stay
        } else {
            session.gatherMore();
        }
    }

    /** The store has not taken a message that could not be sent before. One of a group is there as it was. */
    void notStored(long sequence) {
        inFlight.remove(sequence);
        SharedDeliveries shared = window.shared();
        if (shared == null || !shared.returnUnstored(sequence)) {
            observer.messageDropped(DropReason.FAILED, 1);
        }
        pump();
    }

    // --- what waits

    /** See {@link SharedDeliveries#giveBack}. */
    void giveBackShared(Predicate<Subscription> inFlightToo, boolean ends) {
        shared().giveBack(atMostOnce, inFlightToo, ends);
    }

    /** Queues the retained messages that a new subscription asked for; {@link #pump()} sends them as the window allows. */
    void deliverRetained(RetainedCursor cursor, Subscription subscription) {
        if (retained == null) {
            retained = new RetainedDeliveries();
        }
        retained.add(cursor, subscription);
    }

    /** A subscription has ended: retained messages that it still waits for are not sent any more. */
    void unsubscribed(TopicFilter filter) {
        if (retained != null) {
            retained.remove(filter);
        }
    }

    /** Goes on with what {@link #pump()} put off: the others of the event loop have had their turn. */
    void pumpLater() {
        pumpedLater = false;
        retainedSteps = RETAINED_STEPS;
        pump();
    }

    /** Sends what waits, as far as the window and the socket allow. */
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
        makeWay();
    }

    /** Continues when the window has more room. */
    void pumpIfNeeded() {
        if (!backlog.isEmpty() || !atMostOnce.isEmpty() || retained != null || !window.isCaughtUp()) {
            pump();
        }
    }

    /** Moves what waits into the window as far as there is room, and sends it. */
    private void pump(PacketSink current, Backlog from) {
        boolean goesOn = true;
        while (goesOn && from.hasNext() && window.mayPlace(current, from)) {
            goesOn = sendNext(current, from);
        }
        from.fetch();
    }

    /** Sends what has waited longest. Returns false if its packet identifier is in use. */
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

    /** Sends what was in flight when the broker ended. Returns false if its packet identifier is in use. */
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
        observer.messageElsewhere(Elsewhere.SENT_BEFORE, 1); // it waited as long as it was only in the store
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

    /** Sends one retained message, if steps are left; returns false if the search for it goes on in a later pass. */
    private boolean sendRetained(PacketSink current, RetainedDeliveries waiting) {
        if (waiting.isEmpty()) {
            retained = null;
            return false;
        }
        if (!pumpedLater) { // where the steps are renewed
            pumpedLater = true;
            session.execute(this::pumpLater);
        }
        Subscription subscription = waiting.subscription();
        ApplicationMessage message = waiting.next(resources.ticker().nanoTime(), retainedSteps);
        retainedSteps -= Math.max(1, waiting.steps()); // to find nothing costs something too
        if (message == null) {
            return !waiting.wasInterrupted();
        }
        if (!isFor(message, subscription)) {
            return true; // not routed to this client, so nothing is dropped
        }
        QoS qos = message.qos().atMost(subscription.maximumQos());
        observer.deliveriesAdded(DeliverySource.RETAINED, 1);
        if (qos == QoS.AT_MOST_ONCE) {
            sendAtMostOnce(current, message, subscription, RouteTicket.NONE);
        } else {
            send(current, message, subscription, qos, RouteTicket.NONE);
        }
        return true;
    }

    private boolean isFor(ApplicationMessage retainedMessage, Subscription subscription) {
        boolean own = subscription.noLocal() // [MQTT-3.8.3-3]
                && subscription.subscriber().id().equals(retainedMessage.publisherId());
        return !own && window.mayReceive(retainedMessage);
    }

    /**
     * Removes messages in memory that have expired while they waited.
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
            }
            return isExpired;
        });
        if (expired > 0) {
            observer.messageDropped(DropReason.EXPIRED, expired);
        }
        return soonest[0] == Long.MAX_VALUE ? ApplicationMessage.NEVER : soonest[0];
    }

    // --- between nodes

    /** What is in memory alone, in order: in flight and waiting, or of a stored session what waits at QoS 0. */
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
            all.add(DurableQueue.stored(all.size() + 1, message, subscription, qos, StoredDelivery.WAITING));
            return false;
        });
        return all;
    }

    /** How many deliveries have come about and not ended: what waits, and what was never sent. */
    int pendingCount() {
        return queuedCount() + inFlight.unsent();
    }

    /** A message of a session in memory has come from another node: it takes its old place. */
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

    /** Lets go of all messages: the session lives on another node. */
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

    /** Drops all that waits, when the session ends. */
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
