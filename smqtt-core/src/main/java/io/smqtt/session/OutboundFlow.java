// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.collection.LongObjectHashMap;
import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The sender's half of delivery to one client: in-flight window, queue and retained messages under way (MQTT 5.0, sections
 * 4.3, 4.4, 4.9). Messages leave in this order: what was in flight when the client came back, then the queue, then retained
 * messages; a new message passes straight through when nothing waits.
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
    private final DeliveryQueue queue;
    private final @Nullable DurableQueue stored;
    private final @Nullable ConsumerPressure pressure;
    private @Nullable RetainedDeliveries retained;

    /** Messages in flight that the store has under the number of their shared group, by their places in the window. */
    private @Nullable LongObjectHashMap<GroupMessage> lent;

    private int retainedSteps = RETAINED_STEPS;
    private boolean pumpedLater;

    // valid for the connection
    private @Nullable PacketSink sink;
    private @Nullable DeliveryCheck check;
    private int outstanding;
    private long resendNext;
    private long resendEnd;

    /**
     * Creates a flow.
     *
     * @param session whose messages these are
     * @param stored the QoS 1 and 2 messages of a stored session, or null
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
        this.queue = new DeliveryQueue(resources.budget());
        this.inFlight = new InFlightWindow(resources.budget());
        this.stored = stored;
        this.pressure = pressure;
        if (stored != null) {
            stored.flow(this, inFlight);
        }
    }

    void attach(PacketSink newSink, @Nullable DeliveryCheck newCheck) {
        sink = newSink;
        check = newCheck;
        outstanding = 0;
        resendNext = inFlight.head();
        resendEnd = inFlight.tail();
        if (stored != null) {
            stored.attach();
        }
    }

    void detach() {
        sink = null;
        inFlight.trim();
        releasePublishers();
        if (stored != null) {
            stored.detach();
        }
    }

    /** The client has other rights from now on. */
    void check(@Nullable DeliveryCheck newCheck) {
        check = newCheck;
    }

    @AnyThread
    int inFlightCount() {
        return inFlight.size();
    }

    @AnyThread
    int queuedCount() {
        return stored == null ? queue.size() : queue.size() + stored.count();
    }

    long queuedBytes() {
        return stored == null ? queue.bytes() : queue.bytes() + stored.bytes();
    }

    /** Takes a routed message. */
    void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        QoS qos = message.qos().atMost(subscription.maximumQos()); // [MQTT-3.8.4-8]
        PacketSink current = sink;
        if (subscription.shareName() != null && current != null && pressure == null) {
            deliverShared(current, message, subscription, qos, ticket);
        } else if (stored != null && qos != QoS.AT_MOST_ONCE) {
            deliverStored(stored, message, subscription, qos, ticket);
        } else if (current == null) {
            deliverOffline(message, subscription, qos, ticket);
        } else if (check != null && !check.mayReceive(message.topic())) {
            drop(DropReason.NOT_AUTHORIZED, ticket);
        } else if (qos == QoS.AT_MOST_ONCE && mayPassQueue()) {
            sendAtMostOnce(current, message, subscription, ticket);
        } else if (qos != QoS.AT_MOST_ONCE && queue.isEmpty() && resendNext == resendEnd && mayAdd(current)) {
            sendNew(current, message, subscription, qos, ticket);
        } else {
            enqueue(message, subscription, qos, ticket);
        }
    }

    private void drop(DropReason reason, RouteTicket ticket) {
        observer.messageDropped(reason, 1);
        ticket.dropped(reason);
        if (pressure != null) {
            pressure.dropped(reason);
        }
    }

    private LimitsConfig limits() {
        return pressure == null ? resources.limits() : pressure.limits();
    }

    /** Whether a message is taken though the queue is full: its publisher waits. */
    private boolean slowsPublisher(QoS qos) {
        return pressure != null && sink != null && qos != QoS.AT_MOST_ONCE && pressure.takesMore();
    }

    /** Whether a publisher waits though the queue has room: all queues together are nearly full. */
    private boolean holdsEarly(QoS qos) {
        return pressure != null && sink != null && qos != QoS.AT_MOST_ONCE && pressure.holdsEarly();
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
        return queue.isEmpty() || !resources.config().queueQos0();
    }

    private void deliverOffline(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        if (qos != QoS.AT_MOST_ONCE || resources.config().queueQos0()) {
            enqueue(message, subscription, qos, ticket);
        } else {
            drop(DropReason.OFFLINE, ticket);
        }
    }

    private void sendAtMostOnce(
            PacketSink current, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (!current.isWritable()) {
            drop(DropReason.SLOW_CONSUMER, ticket);
        } else if (isExpired(message)) {
            drop(DropReason.EXPIRED, ticket);
        } else if (!write(current, message, subscription, QoS.AT_MOST_ONCE, 0, false)) {
            ticket.dropped(DropReason.PACKET_TOO_LARGE);
        }
    }

    private boolean mayAdd(PacketSink current) {
        return outstanding < current.sendMaximum() // [MQTT-3.3.4-9]
                && inFlight.hasIdentifier()
                && mayHold()
                && current.isWritable();
    }

    /** While all queues are full a window takes little more: what it holds is acknowledged first, which moves on what waits. */
    private boolean mayHold() {
        long bytes = inFlight.bytes();
        return bytes < InFlightWindow.STEP_BYTES
                || (bytes < limits().maxQueuedBytes() && !resources.budget().isExhausted());
    }

    private void sendNew(
            PacketSink current, ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        if (isExpired(message)) { // [MQTT-3.3.2-5]
            drop(DropReason.EXPIRED, ticket);
            return;
        }
        long sequence = addSent(message, subscription, qos);
        if (!write(current, message, subscription, qos, InFlightWindow.packetId(sequence), false)) {
            removeSent(sequence);
            ticket.dropped(DropReason.PACKET_TOO_LARGE);
        }
    }

    private boolean write(
            PacketSink current,
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            int packetId,
            boolean duplicate) {
        boolean retain = message.retain() && subscription.retainAsPublished(); // [MQTT-3.3.1-12] [MQTT-3.3.1-13]
        boolean written = current.publish(message, subscription, qos, retain, packetId, duplicate);
        if (duplicate) { // it was delivered once
            if (!written) {
                observer.messageAbandoned(DropReason.PACKET_TOO_LARGE, 1);
            }
        } else if (written) {
            observer.messageDelivered(qos, message.payload().size());
            if (message.isTimed()) {
                observer.deliveryTimed(resources.ticker().nanoTime() - message.acceptedAtNanos());
            }
        } else {
            observer.messageDropped(DropReason.PACKET_TOO_LARGE, 1);
        }
        return written;
    }

    private void enqueue(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        int footprint = message.footprintBytes();
        LimitsConfig limits = limits();
        DropReason full = queue.refusal(footprint, limits);
        while (full != null && !queue.isEmpty() && isExpired(queue.message())) {
            queue.remove();
            observer.messageDropped(DropReason.EXPIRED, 1);
            full = queue.refusal(footprint, limits);
        }
        boolean slows = full != null && slowsPublisher(qos);
        boolean fitsAlone = footprint <= limits.maxQueuedBytes();
        if (full != null
                && full != DropReason.TOTAL_QUEUE_BYTES // this queue's oldest would not make room among all
                && !slows
                && fitsAlone
                && resources.config().dropPolicy() == DropPolicy.OLDEST) {
            while (full != null && !queue.isEmpty()) {
                queue.remove();
                observer.messageDropped(full, 1);
                full = queue.refusal(footprint, limits);
            }
        }
        if (full != null && !slows) {
            drop(full, ticket);
            return;
        }
        queue.add(message, subscription);
        observer.messageQueued(qos, footprint);
        ticket.queued();
        if (slows || holdsEarly(qos)) {
            holdPublisher(ticket, footprint);
        }
    }

    // --- stored messages

    private void deliverStored(
            DurableQueue durable, ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        PacketSink current = sink;
        if (current == null) {
            enqueueStored(durable, message, subscription, qos, ticket);
        } else if (check != null && !check.mayReceive(message.topic())) {
            drop(DropReason.NOT_AUTHORIZED, ticket);
        } else if (durable.isEmpty() && mayKeep(current)) {
            sendStored(current, durable, message, subscription, qos, ticket);
        } else {
            enqueueStored(durable, message, subscription, qos, ticket);
            pumpStored(current, durable);
        }
    }

    /** Whether the window takes one more stored message, which is sent when its turn comes. */
    private boolean mayKeep(PacketSink current) {
        return inFlight.size() < current.sendMaximum() // [MQTT-3.3.4-9]
                && inFlight.hasIdentifier()
                && mayHold()
                && current.isWritable();
    }

    private void sendStored(
            PacketSink current,
            DurableQueue durable,
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            RouteTicket ticket) {
        if (isExpired(message)) { // [MQTT-3.3.2-5]
            drop(DropReason.EXPIRED, ticket);
            return;
        }
        long sequence = keep(message, subscription, qos);
        inFlight.number(sequence, durable.append(message, subscription, qos, sequence, ticket));
        resend(current);
    }

    /** Gives a stored message its place and packet identifier. It is sent at once, or at QoS 2 when both are safe. */
    private long keep(ApplicationMessage message, Subscription subscription, QoS qos) {
        long sequence = inFlight.add(message, subscription, qos);
        inFlight.set(sequence, InFlightWindow.UNSENT);
        if (qos == QoS.EXACTLY_ONCE) {
            inFlight.set(sequence, InFlightWindow.UNSAFE);
        }
        resendEnd = inFlight.tail();
        return sequence;
    }

    private void enqueueStored(
            DurableQueue durable, ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        int footprint = message.footprintBytes();
        DropReason full = durable.refusal(footprint, limits());
        boolean slows = full != null && slowsPublisher(qos);
        if (full != null && !slows && !durable.makeRoom(footprint, limits())) {
            drop(full, ticket);
            return;
        }
        durable.enqueue(message, subscription, qos, ticket);
        observer.messageQueued(qos, footprint);
        ticket.queued();
        if (slows) {
            holdPublisher(ticket, footprint);
        }
    }

    /** Moves stored messages into the window as far as there is room, and sends them. */
    private void pumpStored(PacketSink current, DurableQueue durable) {
        DurableQueue.Ready next = durable.peek();
        while (next != null && mayKeep(current) && place(durable, next)) {
            resend(current);
            next = durable.peek();
        }
        durable.fetch();
    }

    /** Moves a message into the window; returns false if its packet identifier cannot be used yet. */
    private boolean place(DurableQueue durable, DurableQueue.Ready next) {
        StoredDelivery delivery = next.delivery();
        if (delivery.state() == StoredDelivery.State.WAITING) {
            durable.poll();
            placeWaiting(durable, next);
            return true;
        }
        if (!inFlight.reach(delivery.packetId())) {
            return false;
        }
        durable.poll();
        long sequence = inFlight.add(next.message(), next.subscription(), next.qos());
        inFlight.number(sequence, next.number());
        if (delivery.state() == StoredDelivery.State.RECEIVED) {
            inFlight.received(sequence);
        }
        observer.messageElsewhere(Elsewhere.SENT_BEFORE, 1); // it waited as long as it was only in the store
        resendEnd = inFlight.tail();
        return true;
    }

    private void placeWaiting(DurableQueue durable, DurableQueue.Ready next) {
        ApplicationMessage message = next.message();
        leftQueue(message);
        if (check != null && !check.mayReceive(message.topic())) {
            observer.messageDropped(DropReason.NOT_AUTHORIZED, 1);
            durable.remove(next.number());
        } else if (isExpired(message)) {
            observer.messageDropped(DropReason.EXPIRED, 1);
            durable.remove(next.number());
        } else {
            long sequence = keep(message, next.subscription(), next.qos());
            inFlight.number(sequence, next.number());
            durable.sent(next.number(), next.qos(), sequence);
        }
    }

    /** What became of a step of a message in the window. Returns true if it is to be written again. */
    boolean stored(long sequence, QueueStep step, boolean kept) {
        if (!inFlight.holds(sequence)) {
            return false;
        }
        if (!kept) {
            if (step != QueueStep.SENT_APPENDED) {
                return true;
            }
            removeUnsent(sequence);
            pump();
            return false;
        }
        if (step == QueueStep.SENT_APPENDED) {
            takeLent(sequence); // it has left the group
        }
        inFlight.clear(sequence, InFlightWindow.UNSAFE);
        PacketSink current = sink;
        if (current != null && step == QueueStep.RECEIVED_WRITTEN && sequence < resendNext) {
            current.pubRel(InFlightWindow.packetId(sequence));
        }
        pump();
        if (current == null) {
            session.stayedAway(); // when it was not safe the message had to stay
        } else {
            session.gatherMore();
        }
        return false;
    }

    /** Nothing waits for the store: a message may be sent at once. */
    void safe(long sequence) {
        inFlight.clear(sequence, InFlightWindow.UNSAFE);
    }

    /** The store has not taken a message that could not be sent before. One of a group is there as it was. */
    private void removeUnsent(long sequence) {
        GroupMessage entry = takeLent(sequence);
        inFlight.remove(sequence);
        if (entry == null) {
            observer.messageDropped(DropReason.FAILED, 1);
        } else {
            session.member().pause(Objects.requireNonNull(resources.stores()).of(session.owner()));
            entry.queue().giveBack(List.of(entry));
        }
    }

    /** Writes a step again that could not be stored. */
    void storeAgain(long sequence, QueueStep step) {
        if (stored == null || !inFlight.holds(sequence)) {
            return;
        }
        long number = inFlight.number(sequence);
        if (inFlight.state(sequence) == InFlightWindow.AWAITING_PUBCOMP) {
            stored.received(number, sequence);
        } else if (step == QueueStep.SENT_WRITTEN) {
            boolean exactlyOnce = inFlight.state(sequence) == InFlightWindow.AWAITING_PUBREC;
            stored.sent(number, exactlyOnce ? QoS.EXACTLY_ONCE : QoS.AT_LEAST_ONCE, sequence);
        }
    }

    /** A stored message was lost before it was sent. Returns false if it was sent: then it goes its way. */
    boolean lost(long number) {
        for (long sequence = inFlight.head(); sequence < inFlight.tail(); sequence = inFlight.from(sequence + 1)) {
            if (inFlight.holds(sequence)
                    && inFlight.number(sequence) == number
                    && inFlight.is(sequence, InFlightWindow.UNSENT)) {
                inFlight.remove(sequence);
                return true;
            }
        }
        return false;
    }

    private void remove(long sequence) {
        boolean unwritten = stored != null && stored.wasUnwritten(sequence);
        GroupMessage entry = takeLent(sequence);
        long number = stored == null ? 0 : inFlight.number(sequence);
        if (number != 0 && stored != null && !unwritten) {
            stored.remove(number);
        } else if (entry != null && number == 0) {
            settle(entry);
        }
        inFlight.remove(sequence);
    }

    // --- messages of shared subscriptions

    /** Takes a message that the router has chosen this member for. What it has no room for waits in the group's queue. */
    private void deliverShared(
            PacketSink current, ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        if (check != null && !check.mayReceive(message.topic())) {
            drop(DropReason.NOT_AUTHORIZED, ticket);
        } else if (qos == QoS.AT_MOST_ONCE) {
            sendAtMostOnce(current, message, subscription, ticket);
        } else if (mayTakeShared(current)) {
            sendShared(current, message, subscription, qos, ticket);
        } else if (stored == null && queue.size() * 2L < limits().maxQueuedMessages() && fitsHalf(message)) {
            queue.add(message, subscription);
            observer.messageQueued(qos, message.footprintBytes());
            ticket.queued();
        } else {
            session.groups().add(session.owner(), message, subscription, ticket);
        }
    }

    private boolean fitsHalf(ApplicationMessage message) {
        int footprint = message.footprintBytes();
        return (queue.bytes() + footprint) * 2 <= limits().maxQueuedBytes()
                && queue.refusal(footprint, limits()) == null;
    }

    /** Whether nothing waits here, and the window takes one more. */
    private boolean mayTakeShared(PacketSink current) {
        if (!queue.isEmpty()) {
            return false;
        }
        return stored == null ? resendNext == resendEnd && mayAdd(current) : stored.isEmpty() && mayKeep(current);
    }

    /** For how many messages of shared groups there is room. */
    int sharedRoom() {
        PacketSink current = sink;
        if (current == null || !mayTakeShared(current)) {
            return 0;
        }
        int taken = stored == null ? outstanding : inFlight.size();
        return Math.min(DurableQueue.PAGE_MESSAGES, current.sendMaximum() - taken);
    }

    private void sendShared(
            PacketSink current, ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        if (stored == null) {
            sendNew(current, message, subscription, qos, ticket);
        } else if (qos == QoS.EXACTLY_ONCE) {
            sendStored(current, stored, message, subscription, qos, ticket);
        } else if (isExpired(message)) { // [MQTT-3.3.2-5]
            drop(DropReason.EXPIRED, ticket);
        } else {
            long sequence = keep(message, subscription, qos);
            inFlight.number(sequence, 0); // the session has no number for it
            stored.holdBack(message, subscription, sequence, ticket);
            resend(current);
        }
    }

    /** Takes a message of a group's queue; returns false if there is no room. */
    boolean takeShared(GroupMessage entry, Subscription subscription) {
        PacketSink current = sink;
        ApplicationMessage message = entry.message();
        QoS qos = message.qos().atMost(subscription.maximumQos());
        if (current == null || !current.isWritable() || (qos != QoS.AT_MOST_ONCE && !mayTakeShared(current))) {
            return false;
        }
        if (check != null && !check.mayReceive(message.topic())) {
            drop(DropReason.NOT_AUTHORIZED, RouteTicket.NONE);
            settle(entry);
        } else if (qos == QoS.AT_MOST_ONCE) {
            sendAtMostOnce(current, message, subscription, RouteTicket.NONE);
            settle(entry);
        } else if (isExpired(message)) {
            drop(DropReason.EXPIRED, RouteTicket.NONE);
            settle(entry);
        } else if (stored == null) {
            long sequence = addSent(message, subscription, qos);
            lend(sequence, entry);
            if (!write(current, message, subscription, qos, InFlightWindow.packetId(sequence), false)) {
                removeSent(sequence);
            }
        } else {
            long sequence = keep(message, subscription, qos);
            lend(sequence, entry); // at QoS 2 until it is safe here
            inFlight.number(sequence, qos == QoS.EXACTLY_ONCE ? stored.takeOver(entry, subscription, sequence) : 0);
            resend(current);
        }
        return true;
    }

    private long addSent(ApplicationMessage message, Subscription subscription, QoS qos) {
        long sequence = inFlight.add(message, subscription, qos);
        if (stored != null) {
            inFlight.number(sequence, 0);
        }
        resendNext = inFlight.tail();
        resendEnd = resendNext;
        outstanding++; // before writing, which may empty the socket and call back
        return sequence;
    }

    private void removeSent(long sequence) {
        outstanding--;
        remove(sequence);
    }

    private void lend(long sequence, GroupMessage entry) {
        LongObjectHashMap<GroupMessage> all = lent;
        if (all == null) {
            all = new LongObjectHashMap<>();
            lent = all;
        }
        all.put(sequence, entry);
    }

    private @Nullable GroupMessage takeLent(long sequence) {
        return lent == null ? null : lent.remove(sequence);
    }

    /** The group may forget a message. */
    private void settle(GroupMessage entry) {
        Stores stores = resources.stores();
        if (entry.isStored() && stores != null) {
            GroupRecord.settle(stores.of(session.owner()), entry);
        }
    }

    /** Stores a QoS 1 message that was sent and not acknowledged in time, with its group. */
    void storeShared(
            StoreLoop loop, ApplicationMessage message, Subscription subscription, long sequence, RouteTicket ticket) {
        GroupQueue group = groupOf(subscription);
        if (group != null) {
            lend(sequence, group.record().store(loop, message));
        } else if (!keepSent(message, subscription, sequence)) {
            return;
        }
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
    }

    /** Stores a QoS 1 message in flight with the session, since its group is no more. Returns false if others wait before it. */
    private boolean keepSent(ApplicationMessage message, Subscription subscription, long sequence) {
        boolean keeps = stored != null && stored.isEmpty();
        if (keeps && stored != null) {
            inFlight.number(sequence, stored.keepSent(message, subscription, sequence));
        }
        return keeps;
    }

    /** A group has ended, and its messages in the store: those in flight here are the session's from now on. */
    void keepLent(GroupQueue ended) {
        for (long sequence = inFlight.head();
                lent != null && sequence < inFlight.tail();
                sequence = inFlight.from(sequence + 1)) {
            GroupMessage entry = lent.get(sequence);
            Subscription subscription = inFlight.subscription(sequence);
            if (entry != null
                    && entry.queue() == ended
                    && subscription != null
                    && inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK
                    && keepSent(entry.message(), subscription, sequence)) {
                lent.remove(sequence);
            }
        }
    }

    /**
     * Gives messages of shared subscriptions back to their groups (MQTT 5.0, section 4.8.2): all that were never sent, and
     * QoS 1 messages in flight. QoS 2 messages in flight stay with their session [MQTT-4.8.2-4].
     *
     * @param inFlightToo whether messages of a subscription go that were sent
     * @param ends whether the session is about to end: also what the store is just taking goes
     */
    void giveBackShared(Predicate<Subscription> inFlightToo, boolean ends) {
        Map<GroupQueue, List<GroupMessage>> batches = new LinkedHashMap<>();
        for (long sequence = inFlight.head(); sequence < inFlight.tail(); sequence = inFlight.from(sequence + 1)) {
            Subscription subscription = inFlight.subscription(sequence);
            ApplicationMessage message = inFlight.message(sequence);
            GroupQueue group = subscription == null || message == null ? null : groupOf(subscription);
            if (message != null && subscription != null && group != null && mayGoBack(sequence, ends)) {
                boolean sent = !inFlight.is(sequence, InFlightWindow.UNSENT);
                if (!sent || inFlightToo.test(subscription)) {
                    takeBack(group, message, sequence, batches);
                    if (sent) {
                        observer.deliveriesAdded(DeliverySource.REDISPATCHED, 1);
                    }
                }
            }
        }
        for (int i = queue.size(); i > 0; i--) {
            ApplicationMessage message = queue.message();
            Subscription subscription = queue.subscription();
            GroupQueue group = groupOf(subscription);
            queue.remove();
            if (group == null) {
                queue.add(message, subscription);
            } else {
                batches.computeIfAbsent(group, queueOf -> new ArrayList<>()).add(group.inMemory(message));
            }
        }
        Stores stores = resources.stores();
        if (stores != null && !batches.isEmpty()) {
            stores.of(session.owner()).flush(); // before what other event loops write of these
        }
        batches.forEach(GroupQueue::giveBack);
    }

    private @Nullable GroupQueue groupOf(Subscription subscription) {
        GroupQueue group =
                subscription.shareName() == null ? null : session.member().queueOf(subscription);
        return group == null || group.hasEnded() ? null : group;
    }

    /** QoS 1 messages, and QoS 2 messages that were never sent. */
    private boolean mayGoBack(long sequence, boolean ends) {
        boolean unsent = inFlight.is(sequence, InFlightWindow.UNSENT);
        boolean safe = !inFlight.is(sequence, InFlightWindow.UNSAFE) || (ends && isLent(sequence));
        return inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK || (unsent && safe);
    }

    private boolean isLent(long sequence) {
        return lent != null && lent.containsKey(sequence);
    }

    private void takeBack(
            GroupQueue group, ApplicationMessage message, long sequence, Map<GroupQueue, List<GroupMessage>> batches) {
        GroupMessage entry = takeLent(sequence);
        long number = stored == null ? 0 : inFlight.number(sequence);
        inFlight.remove(sequence);
        if (number != 0 && stored != null) {
            stored.giveBack(group, message, number);
            return;
        }
        if (entry == null) {
            entry = group.inMemory(message);
        } else if (entry.queue() != group) { // it was lent by the group of this name that was there before
            entry = group.isStored()
                    ? group.record()
                            .store(Objects.requireNonNull(resources.stores()).of(session.owner()), message)
                    : group.inMemory(message);
        }
        batches.computeIfAbsent(group, queueOf -> new ArrayList<>()).add(entry);
    }

    /** What groups have stored of messages that this client alone may finish is forgotten. */
    private void settleLent() {
        LongObjectHashMap<GroupMessage> all = lent;
        lent = null;
        if (all != null) {
            all.values().forEach(this::settle);
        }
    }

    // --- what waits

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
        PacketSink current = sink;
        if (current == null) {
            return;
        }
        resend(current);
        if (stored != null) {
            pumpStored(current, stored);
        }
        while (!queue.isEmpty() && mayAdd(current) && resendNext == resendEnd) {
            sendQueued(current);
        }
        boolean goesOn = true;
        while (goesOn
                && retained != null
                && queue.isEmpty()
                && resendNext == resendEnd
                && mayAdd(current)
                && (stored == null || stored.isEmpty())) {
            goesOn = sendRetained(current, retained);
        }
        makeWay();
    }

    /**
     * Sends again what was in flight when the connection was lost, in the old order [MQTT-4.4.0-1] [MQTT-4.6.0-1]. A QoS 1
     * message whose Message Expiry Interval has passed is given up instead: nobody wants it any more, and no half of an
     * exchange is left behind. At QoS 2 the standard forbids that.
     */
    private void resend(PacketSink current) {
        while (resendNext < resendEnd && outstanding < current.sendMaximum() && current.isWritable()) {
            long sequence = inFlight.from(resendNext);
            if (sequence >= resendEnd) {
                resendNext = resendEnd;
                return;
            }
            if (inFlight.is(sequence, InFlightWindow.UNSAFE)) {
                return; // goes on when the store has it
            }
            resendNext = sequence + 1;
            switch (inFlight.state(sequence)) {
                case InFlightWindow.AWAITING_PUBACK -> resendPublish(current, sequence, QoS.AT_LEAST_ONCE);
                case InFlightWindow.AWAITING_PUBREC -> resendPublish(current, sequence, QoS.EXACTLY_ONCE);
                case InFlightWindow.AWAITING_PUBCOMP -> {
                    outstanding++;
                    current.pubRel(InFlightWindow.packetId(sequence));
                }
                default -> { // acknowledged meanwhile
                }
            }
        }
    }

    private void resendPublish(PacketSink current, long sequence, QoS qos) {
        ApplicationMessage message = inFlight.message(sequence);
        Subscription subscription = inFlight.subscription(sequence);
        if (message == null || subscription == null) {
            throw new IllegalStateException("a message in flight has no content");
        }
        boolean first = inFlight.is(sequence, InFlightWindow.UNSENT);
        if (check != null && !check.mayReceive(message.topic())) {
            giveUp(current, sequence, first, DropReason.NOT_AUTHORIZED);
            return;
        }
        if ((first || qos == QoS.AT_LEAST_ONCE) && isExpired(message)) { // not at QoS 2 once it was sent [MQTT-4.3.3-7]
            giveUp(current, sequence, first, DropReason.EXPIRED);
            return;
        }
        inFlight.clear(sequence, InFlightWindow.UNSENT);
        outstanding++;
        if (!write(current, message, subscription, qos, InFlightWindow.packetId(sequence), !first)) {
            outstanding--;
            endWithoutContent(current, sequence, first);
        }
    }

    private void giveUp(PacketSink current, long sequence, boolean first, DropReason reason) {
        if (first) {
            observer.messageDropped(reason, 1);
        } else {
            observer.messageAbandoned(reason, 1);
        }
        endWithoutContent(current, sequence, first);
    }

    /**
     * Ends a message that cannot be sent, or not again: its client may not have it any more, it has expired, or the client
     * does not take packets of its size. At QoS 1, and if it was never sent, its identifier is free at once. At QoS 2 the
     * client may have it, and would take the next message with this identifier for a repetition; so the exchange goes on
     * without the content: the PUBREL lets a client forget the identifier that knows it, others answer that they do not,
     * which is no error when a session is resumed (MQTT 5.0, section 3.7.2.1). After the PUBREL it is never sent again
     * [MQTT-4.3.3-6].
     */
    private void endWithoutContent(PacketSink current, long sequence, boolean first) {
        if (first || inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK) {
            remove(sequence);
            return;
        }
        outstanding++;
        release(current, sequence);
    }

    /** Only the PUBREL and its PUBCOMP are left of a message. In a stored session that has to be safe first. */
    private void release(@Nullable PacketSink current, long sequence) {
        inFlight.received(sequence);
        if (stored != null) {
            stored.received(inFlight.number(sequence), sequence);
            if (stored.waits()) {
                inFlight.set(sequence, InFlightWindow.UNSAFE);
                return;
            }
        }
        if (current != null) {
            current.pubRel(InFlightWindow.packetId(sequence));
        }
    }

    private void sendQueued(PacketSink current) {
        ApplicationMessage message = queue.message();
        Subscription subscription = queue.subscription();
        queue.remove();
        leftQueue(message);
        QoS qos = message.qos().atMost(subscription.maximumQos());
        if (check != null && !check.mayReceive(message.topic())) {
            observer.messageDropped(DropReason.NOT_AUTHORIZED, 1);
        } else if (qos == QoS.AT_MOST_ONCE) {
            sendAtMostOnce(current, message, subscription, RouteTicket.NONE);
        } else {
            sendNew(current, message, subscription, qos, RouteTicket.NONE);
        }
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
        } else if (stored != null) {
            sendStored(current, stored, message, subscription, qos, RouteTicket.NONE);
        } else {
            sendNew(current, message, subscription, qos, RouteTicket.NONE);
        }
        return true;
    }

    private boolean isFor(ApplicationMessage retainedMessage, Subscription subscription) {
        boolean own = subscription.noLocal() // [MQTT-3.8.3-3]
                && subscription.subscriber().id().equals(retainedMessage.publisherId());
        return !own && (check == null || check.mayReceive(retainedMessage.topic()));
    }

    private boolean isExpired(ApplicationMessage message) {
        return message.expiryIntervalSeconds() != ApplicationMessage.NEVER
                && message.isExpired(resources.ticker().nanoTime());
    }

    /** A PUBACK. */
    AcknowledgementOutcome acknowledged(int packetId, ReasonCode reason) {
        long sequence = inFlight.find(packetId);
        if (sequence < 0 || inFlight.state(sequence) != InFlightWindow.AWAITING_PUBACK) {
            return unexpected(sequence);
        }
        if (reason.isError()) {
            observer.messageAbandoned(DropReason.REFUSED_BY_CLIENT, 1);
        }
        finish(sequence);
        return AcknowledgementOutcome.EXPECTED;
    }

    /** A PUBREC; after one that was not an error the PUBREL follows, also when it is repeated. */
    AcknowledgementOutcome received(int packetId, ReasonCode reason) {
        long sequence = inFlight.find(packetId);
        if (sequence < 0 || inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK) {
            return unexpected(sequence);
        }
        if (reason.isError()) { // [MQTT-4.3.3-4]: no PUBREL after an error
            if (inFlight.message(sequence) != null) {
                observer.messageAbandoned(DropReason.REFUSED_BY_CLIENT, 1);
            }
            finish(sequence);
            return AcknowledgementOutcome.EXPECTED;
        }
        if (inFlight.state(sequence) == InFlightWindow.AWAITING_PUBREC) {
            release(sink, sequence);
        } else if (sink != null
                && !inFlight.is(sequence, InFlightWindow.UNSAFE)) { // or else it leaves when that is safe
            sink.pubRel(packetId);
        }
        return AcknowledgementOutcome.EXPECTED;
    }

    /** A PUBCOMP. */
    AcknowledgementOutcome completed(int packetId) {
        long sequence = inFlight.find(packetId);
        if (sequence < 0 || inFlight.state(sequence) != InFlightWindow.AWAITING_PUBCOMP) {
            return unexpected(sequence);
        }
        finish(sequence);
        return AcknowledgementOutcome.EXPECTED;
    }

    /**
     * What an acknowledgement is that its delivery does not await. What was sent over an earlier connection alone may
     * have another state here than the client remembers: only what left over this one must be answered in step.
     */
    private AcknowledgementOutcome unexpected(long sequence) {
        return sequence >= 0 && sequence < resendNext
                ? AcknowledgementOutcome.WRONG_STEP
                : AcknowledgementOutcome.UNKNOWN;
    }

    private void finish(long sequence) {
        remove(sequence);
        if (sequence < resendNext && outstanding > 0) {
            outstanding--;
        }
        if (!queue.isEmpty() || retained != null || resendNext != resendEnd || (stored != null && !stored.isEmpty())) {
            pump();
        }
    }

    /**
     * Removes messages in memory that have expired while they waited.
     *
     * @return seconds until the next one expires, or {@link ApplicationMessage#NEVER}
     */
    long removeExpired() {
        long now = resources.ticker().nanoTime();
        long soonest = Long.MAX_VALUE;
        int expired = 0;
        for (int i = queue.size(); i > 0; i--) {
            ApplicationMessage message = queue.message();
            Subscription subscription = queue.subscription();
            queue.remove();
            if (message.isExpired(now)) {
                expired++;
            } else {
                queue.add(message, subscription);
                if (message.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
                    soonest = Math.min(soonest, message.remainingExpirySeconds(now));
                }
            }
        }
        if (expired > 0) {
            observer.messageDropped(DropReason.EXPIRED, expired);
        }
        return soonest == Long.MAX_VALUE ? ApplicationMessage.NEVER : soonest;
    }

    // --- between nodes

    /** What is in memory alone, in order: in flight and waiting, or of a stored session what waits at QoS 0. */
    List<StoredMessage> snapshot() {
        List<StoredMessage> all = new ArrayList<>();
        for (long sequence = inFlight.head();
                stored == null && sequence < inFlight.tail();
                sequence = inFlight.from(sequence + 1)) {
            if (inFlight.holds(sequence)) {
                all.add(inFlight.snapshot(sequence, all.size() + 1));
            }
        }
        for (int i = queue.size(); i > 0; i--) {
            ApplicationMessage message = queue.message();
            Subscription subscription = queue.subscription();
            queue.remove();
            queue.add(message, subscription);
            all.add(DurableQueue.stored(
                    all.size() + 1,
                    message,
                    subscription,
                    message.qos().atMost(subscription.maximumQos()),
                    StoredDelivery.WAITING));
        }
        return all;
    }

    /** How many deliveries have come about and not ended: what waits, and what was never sent. */
    int pendingCount() {
        return queuedCount() + inFlight.unsent();
    }

    /** A message of a session in memory has come from another node: it takes its old place. */
    void restore(StoredMessage message, Subscription subscription) {
        StoredDelivery delivery = message.delivery();
        boolean waits = delivery.state() == StoredDelivery.State.WAITING;
        if (waits || !inFlight.reach(delivery.packetId())) {
            queue.add(message.message(), subscription);
            if (waits) {
                observer.deliveriesAdded(DeliverySource.MOVED_HERE, 1);
            } else {
                observer.deliveriesAdded(DeliverySource.REPEATED, 1);
            }
            return;
        }
        long sequence = inFlight.add(message.message(), subscription, message.qos());
        if (delivery.state() == StoredDelivery.State.RECEIVED) {
            inFlight.received(sequence);
        }
    }

    /** Lets go of all messages: the session lives on another node. */
    void forget() {
        releasePublishers();
        while (!queue.isEmpty()) {
            queue.remove();
        }
        inFlight.clear();
        settleLent();
        retained = null;
    }

    /** Drops all that waits, when the session ends. */
    void end() {
        releasePublishers();
        int dropped = queue.size() + inFlight.unsent();
        while (!queue.isEmpty()) {
            queue.remove();
        }
        if (dropped > 0) {
            observer.messageDropped(DropReason.SESSION_ENDED, dropped);
        }
        int abandoned = inFlight.undelivered() - inFlight.unsent();
        if (abandoned > 0) {
            observer.messageAbandoned(DropReason.SESSION_ENDED, abandoned);
        }
        inFlight.clear();
        settleLent();
        retained = null;
    }
}
