// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages of a stored session. All of them are in the store, numbered in their order. Those in flight are in the
 * {@link InFlightWindow} as well, and while a client is connected some of those that follow wait here to be sent; of the
 * others only their number and their bytes are in memory. They are read page by page as the window has room, so that the
 * numbers of what is in flight, of what is at hand and of what is only in the store always follow each other. On the
 * session's event loop.
 */
final class DurableQueue implements StoreWaiter {

    /** What a commit is about; the footprint of a message stands above it in the detail. */
    static final int WAITING_APPENDED = 0;

    static final int SENT_APPENDED = 1;
    static final int SENT_WRITTEN = 2;
    static final int RECEIVED_WRITTEN = 3;
    static final int REMOVED = 4;
    static final int READ = 5;
    static final int OFFERED = 6;
    static final int APPENDED = 7;

    private static final Logger LOG = LoggerFactory.getLogger(DurableQueue.class);
    private static final int KIND_BITS = 3;
    private static final int PAGE_MESSAGES = 256;
    private static final int PAGE_BYTES = 256 * 1024;
    private static final int FEW = 64;
    private static final long EXPIRY_LOOK_NANOS = 1_000_000_000L;

    private final Session session;
    private final SessionRecord record;
    private final SessionResources resources;
    private @Nullable OutboundFlow flow;

    private long next;
    private long unreadFrom;
    private int waiting;
    private long bytes;

    /** Whether a message of a shared subscription may be among those that wait. */
    private boolean mayHoldShared;

    /** Who is offered what waits by shared subscriptions, while that goes on. */
    private OutboundFlow.@Nullable SharedReturn drainTarget;

    private boolean drainReading;
    private boolean drainAgain;

    /** Messages that were not safe yet could not be offered. */
    private boolean drainJoint;

    /**
     * The numbers of messages that were offered to other members, in flight or waiting; the next page is offered, and what
     * follows them is read for the client, when all of them have arrived or come back.
     */
    private @Nullable TreeSet<Long> departing;

    private long drainNext;
    private boolean cameBack;
    private boolean offersLater;

    /** Numbers of the last messages in a row that the store did not take: there is nothing to remove. */
    private long unstoredFrom;

    private long unstoredEnd;

    /** What follows when the session has ended and left its messages to others, and who gets them. */
    private @Nullable Runnable whenLeft;

    private OutboundFlow.@Nullable SharedReturn heirs;
    private boolean trimming;

    /** Whether a message that waits may have an expiry interval, and whether that is being looked for. */
    private boolean mayExpire;

    private boolean sweeping;
    private int drains;
    private long expiryLookNanos = Long.MIN_VALUE;

    /** Joint messages that wait and are not safe yet, in order. */
    private @Nullable ArrayDeque<Joint> joint;

    // valid for the connection
    private @Nullable ArrayDeque<Ready> ready;
    private boolean connected;
    private boolean reading;
    private int epoch;
    private @Nullable StoredMessage last;
    private @Nullable Subscription lastSubscription;

    /** A message that can be sent when the window has room. */
    record Ready(
            long number, ApplicationMessage message, Subscription subscription, QoS qos, StoredDelivery delivery) {}

    DurableQueue(Session session, SessionRecord record, SessionResources resources, StoredQueue stored) {
        this.session = session;
        this.record = record;
        this.resources = resources;
        this.next = stored.nextSequence();
        this.unreadFrom = stored.firstSequence();
        this.waiting = stored.messages();
        this.bytes = stored.bytes();
        this.mayExpire = waiting > 0; // nobody has read them yet
    }

    /** The session was found in the store and is in a shared group. */
    void recoveredShared() {
        mayHoldShared = waiting > 0;
    }

    void flow(OutboundFlow newFlow) {
        flow = newFlow;
    }

    void attach() {
        connected = true;
        interrupt();
    }

    /** What is under way is for the connection, or its absence, that was until now. */
    private void interrupt() {
        epoch++;
        reading = false;
        trimming = false;
        mayExpire |= sweeping; // not all of it was looked at
        sweeping = false;
        drainReading = false;
        mayHoldShared |= drainTarget != null; // not all of it was offered
        drainTarget = null;
    }

    /** What is at hand is only in the store again. */
    void detach() {
        connected = false;
        interrupt();
        if (ready != null && !ready.isEmpty()) {
            unreadFrom = ready.element().number;
            ready.forEach(entry -> resources.budget().add(-entry.message.footprintBytes()));
        }
        ready = null;
        last = null;
        lastSubscription = null;
    }

    /** Whether nothing waits: what comes may be sent at once. */
    boolean isEmpty() {
        return waiting == 0 && unreadFrom == next;
    }

    int count() {
        return waiting;
    }

    long bytes() {
        return bytes;
    }

    boolean waits() {
        return record.waits();
    }

    /** Why one more message does not fit, or null if it does. */
    @Nullable
    DropReason refusal(int footprintBytes, LimitsConfig limits) {
        if (waiting >= limits.maxQueuedMessages()) {
            return DropReason.QUEUE_COUNT;
        }
        return bytes + footprintBytes > limits.maxQueuedBytes() ? DropReason.QUEUE_BYTES : null;
    }

    // --- what is written

    /**
     * Stores a message that is about to be sent; nothing must wait.
     *
     * @param sequence its place in the window
     * @return its number
     */
    long append(ApplicationMessage message, Subscription subscription, QoS qos, long sequence, RouteTicket ticket) {
        long number = next++;
        unreadFrom = next;
        StoredDelivery delivery = new StoredDelivery(StoredDelivery.State.SENT, InFlightWindow.packetId(sequence));
        StoredMessage stored = stored(number, message, subscription, qos, delivery);
        if (qos == QoS.EXACTLY_ONCE && ticket.join(new Joint(stored, sequence))) {
            return number;
        }
        StoreLoop loop = record.loop();
        loop.writer().putMessage(record.number(), stored);
        if (qos == QoS.EXACTLY_ONCE) {
            awaitSafety(loop, sequence, SENT_APPENDED);
        } else {
            loop.watch(this, number, APPENDED);
        }
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        return number;
    }

    /** Stores a message that has to wait. */
    void enqueue(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        long number = next++;
        int footprint = message.footprintBytes();
        waiting++;
        bytes += footprint;
        mayHoldShared |= subscription.shareName() != null;
        mayExpire |= message.expiryIntervalSeconds() != ApplicationMessage.NEVER;
        StoredMessage stored = stored(number, message, subscription, qos, StoredDelivery.WAITING);
        if (qos == QoS.EXACTLY_ONCE) {
            Joint part = new Joint(stored, -1);
            if (ticket.join(part)) {
                if (joint == null) {
                    joint = new ArrayDeque<>();
                }
                joint.add(part);
                return;
            }
        }
        StoreLoop loop = record.loop();
        loop.writer().putMessage(record.number(), stored);
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        loop.watch(this, number, footprint << KIND_BITS | WAITING_APPENDED);
        if (connected && unreadFrom == number && readyCount() < PAGE_MESSAGES) {
            unreadFrom = next;
            addReady(new Ready(number, message, subscription, qos, StoredDelivery.WAITING));
        }
    }

    private static StoredMessage stored(
            long number, ApplicationMessage message, Subscription subscription, QoS qos, StoredDelivery delivery) {
        return new StoredMessage(
                number,
                message,
                subscription.clientFilter(),
                qos,
                message.retain() && subscription.retainAsPublished(),
                subscription.identifiers(),
                delivery);
    }

    /** A message that waited is about to be sent. */
    void sent(long number, QoS qos, long sequence) {
        StoreLoop loop = record.loop();
        loop.writer()
                .putDelivery(
                        record.number(),
                        number,
                        new StoredDelivery(StoredDelivery.State.SENT, InFlightWindow.packetId(sequence)));
        if (qos == QoS.EXACTLY_ONCE) {
            awaitSafety(loop, sequence, SENT_WRITTEN);
        } else {
            loop.watch(this, sequence, SENT_WRITTEN);
        }
    }

    /** A QoS 2 message leaves only when it is safe, if anything waits for the store. */
    private void awaitSafety(StoreLoop loop, long sequence, int kind) {
        if (waits()) {
            loop.await(this, sequence, kind);
        } else {
            loop.watch(this, sequence, kind);
            if (flow != null) {
                flow.safe(sequence);
            }
        }
    }

    /** A PUBREC has come. */
    void received(long number, long sequence) {
        StoreLoop loop = record.loop();
        loop.writer()
                .putDelivery(
                        record.number(),
                        number,
                        new StoredDelivery(StoredDelivery.State.RECEIVED, InFlightWindow.packetId(sequence)));
        if (waits()) {
            loop.await(this, sequence, RECEIVED_WRITTEN);
        } else {
            loop.watch(this, sequence, RECEIVED_WRITTEN);
        }
    }

    /** A message is done with. */
    void remove(long number) {
        StoreLoop loop = record.loop();
        loop.writer().removeMessage(record.number(), number);
        loop.watch(this, number, REMOVED);
    }

    /**
     * Offers a message of a shared subscription to another member. It stays in the store until it is safe there.
     *
     * @param sequence its place in the window, or -1 if it waits
     * @return false if there is no other member
     */
    boolean depart(
            OutboundFlow.SharedReturn target,
            ApplicationMessage message,
            Subscription subscription,
            long number,
            long sequence) {
        if (!target.offer(message, subscription, new Departure(session, this, message, number, sequence))) {
            return false;
        }
        if (departing == null) {
            departing = new TreeSet<>();
        }
        departing.add(number);
        return true;
    }

    /** Another member has room for a QoS 2 message: it goes there and from here at once, or stays. */
    void move(JointOperation part, ApplicationMessage message, long number, long sequence) {
        StoreLoop loop = record.loop();
        StoreWriter writer = loop.writer();
        part.submit(writer);
        writer.removeHandedOver(record.number(), number);
        loop.await(
                (value, detail, kept) -> {
                    part.settled(kept);
                    if (session.isHere()) {
                        moved(message, number, sequence, kept);
                    } else {
                        session.execute(() -> moved(message, number, sequence, kept));
                    }
                    return false;
                },
                number,
                OFFERED);
    }

    private void moved(ApplicationMessage message, long number, long sequence, boolean kept) {
        if (!kept) {
            cameBack(message, number, sequence, true, false);
            return;
        }
        if (sequence >= 0 && flow != null) {
            flow.departed(sequence);
        }
        arrived(number, false);
    }

    /** A message is safe with another member. */
    void departed(long number, long sequence) {
        if (sequence < 0 || session.hasEnded()) {
            remove(number);
        } else if (flow != null) {
            flow.departed(sequence);
        }
        arrived(number, false);
    }

    /**
     * A message was not kept by another member: it is in its old place.
     *
     * @param failed whether the store did not take it: it is offered again later
     * @param left whether that member was gone: it is offered to others
     */
    void cameBack(ApplicationMessage message, long number, long sequence, boolean failed, boolean left) {
        if (sequence < 0) {
            waiting++;
            bytes += message.footprintBytes();
        } else if (session.hasEnded()) {
            waiting++;
            unreadFrom = Math.min(unreadFrom, number);
        } else if (flow != null) {
            flow.cameBack(sequence);
        }
        cameBack = true;
        mayHoldShared = true;
        if (failed && !offersLater) {
            offersLater = true;
            record.loop().later(this, 0, OFFERED);
        }
        arrived(number, !failed && (left || heirs != null));
    }

    private void arrived(long number, boolean offerAgain) {
        if (departing != null) {
            departing.remove(number);
            if (departing.isEmpty()) {
                departing = null;
            }
        }
        if (offerAgain) {
            offerAgain();
        }
        if (departing == null) {
            if (connected && flow != null) {
                flow.pump();
            }
            goOnDraining();
            left();
        }
    }

    private void offerAgain() {
        if (heirs != null) {
            drainShared(heirs);
        } else {
            session.handOver();
        }
        left();
    }

    /** Not before the store takes operations: members that are connected would get the messages again and again. */
    private void offerLater() {
        if (record.stores().store().isHealthy()) {
            offersLater = false;
            offerAgain();
        } else {
            record.loop().later(this, 0, OFFERED);
        }
    }

    // --- what became of it

    @Override
    public boolean settled(long value, int detail, boolean kept) {
        int kind = detail & (1 << KIND_BITS) - 1;
        if (kept && (kind == WAITING_APPENDED || kind == REMOVED || kind == APPENDED)) {
            return false;
        }
        if (session.isHere()) {
            return settledHere(value, detail, kept);
        }
        session.execute(() -> {
            if (settledHere(value, detail, kept)) {
                again(value, detail);
            }
        });
        return false;
    }

    private boolean settledHere(long value, int detail, boolean kept) {
        if (session.hasEnded()) {
            return false;
        }
        int kind = detail & (1 << KIND_BITS) - 1;
        switch (kind) {
            case WAITING_APPENDED -> {
                unstored(value);
                lost(value, detail >>> KIND_BITS);
            }
            case APPENDED -> unstored(value);
            case REMOVED -> {
                return value < unstoredFrom || value >= unstoredEnd;
            }
            case READ, OFFERED -> {
                return true;
            }
            default -> {
                return flow != null && flow.stored(value, kind, kept);
            }
        }
        return false;
    }

    @Override
    public void again(long value, int detail) {
        if (!session.isHere()) {
            session.execute(() -> again(value, detail));
        } else if (!session.hasEnded() || whenLeft != null) {
            int kind = detail & (1 << KIND_BITS) - 1;
            switch (kind) {
                case REMOVED -> remove(value);
                case READ -> fetch();
                case OFFERED -> offerLater();
                default -> {
                    if (flow != null) {
                        flow.storeAgain(value, kind);
                    }
                }
            }
        }
    }

    private void unstored(long number) {
        if (number != unstoredEnd) {
            unstoredFrom = number;
        }
        unstoredEnd = number + 1;
    }

    /** A message that waited could not be stored. */
    private void lost(long number, int footprint) {
        if (number >= unreadFrom) {
            forget(footprint);
        } else if (ready != null && ready.removeIf(entry -> entry.number == number)) {
            resources.budget().add(-footprint);
            forget(footprint);
        } else if (flow == null || !flow.lost(number)) {
            return; // it was sent meanwhile
        }
        resources.observer().messageDropped(DropReason.FAILED, 1);
    }

    private void forget(int footprint) {
        waiting = Math.max(0, waiting - 1);
        bytes = waiting == 0 ? 0 : Math.max(0, bytes - footprint);
    }

    /** A message that is stored by the publisher's event loop. */
    private final class Joint implements JointOperation {

        private final StoredMessage stored;
        private final long sequence;
        private boolean isSettled;

        Joint(StoredMessage stored, long sequence) {
            this.stored = stored;
            this.sequence = sequence;
        }

        @Override
        public void submit(StoreWriter writer) {
            writer.putMessage(record.number(), stored);
        }

        @Override
        public void settled(boolean kept) {
            if (session.isHere()) {
                settledHere(kept);
            } else {
                session.execute(() -> settledHere(kept));
            }
        }

        private void settledHere(boolean kept) {
            if (session.hasEnded() && whenLeft == null) {
                if (kept) {
                    record.writer().removeMessage(record.number(), stored.sequence()); // came behind the session's end
                }
            } else if (sequence >= 0) {
                if (flow != null) {
                    flow.stored(sequence, SENT_APPENDED, kept);
                }
            } else {
                isSettled = true;
                if (!kept) {
                    forget(stored.message().footprintBytes());
                    resources.observer().messageDropped(DropReason.FAILED, 1);
                }
                jointSettled();
            }
        }
    }

    private void jointSettled() {
        ArrayDeque<Joint> parts = joint;
        while (parts != null && !parts.isEmpty() && parts.element().isSettled) {
            parts.remove();
        }
        if (parts != null && parts.isEmpty()) {
            joint = null;
            if (drainJoint) {
                drainJoint = false;
                mayHoldShared = true;
                offerAgain();
            }
        }
        fetch();
    }

    // --- what is read

    @Nullable
    Ready peek() {
        return ready == null ? null : ready.peek();
    }

    /** Takes off what {@link #peek()} gave. */
    void poll() {
        if (ready != null) {
            int footprint = ready.remove().message.footprintBytes();
            resources.budget().add(-footprint);
            forget(footprint);
        }
    }

    private int readyCount() {
        return ready == null ? 0 : ready.size();
    }

    private void addReady(Ready entry) {
        if (ready == null) {
            ready = new ArrayDeque<>();
        }
        ready.add(entry);
        resources.budget().add(entry.message.footprintBytes());
    }

    /** Reads a page if little is left at hand. */
    void fetch() {
        if (reading || !connected || unreadFrom == next || readyCount() >= FEW) {
            return;
        }
        if (barrier() <= unreadFrom) {
            return; // goes on when that is safe, or has departed
        }
        reading = true;
        int asked = epoch;
        long end = next;
        readPage(unreadFrom, page -> read(page, asked, end));
    }

    private void readPage(long from, Consumer<StoredPage> reply) {
        record.loop().flush(); // what is submitted is seen
        RoutingLoop here = session.owner();
        Consumer<StoredPage> there = page -> {
            if (session.owner() == here) {
                reply.accept(page);
            } else { // it has moved since
                session.execute(() -> reply.accept(page));
            }
        };
        record.stores().store().read(record.number(), from, PAGE_MESSAGES, PAGE_BYTES, here.executor(), there);
    }

    private void read(StoredPage page, int asked, long end) {
        if (asked != epoch || session.hasEnded()) {
            return;
        }
        reading = false;
        if (page.failure() != null) {
            LOG.warn("messages of a session cannot be read; trying again", page.failure());
            record.loop().later(this, 0, READ);
            return;
        }
        long barrier = barrier();
        boolean found = false;
        for (StoredMessage message : page.messages()) {
            if (message.sequence() >= barrier) {
                break;
            }
            if (message.sequence() >= unreadFrom) {
                found = true;
                unreadFrom = message.sequence() + 1;
                addReady(ready(message));
            }
        }
        if (!found) {
            nothingUpTo(Math.min(end, barrier));
        }
        if (flow != null) {
            flow.pump();
            session.gatherMore();
        }
    }

    /** The first message that the store does not show yet. */
    private long unsafeFrom() {
        return joint == null ? Long.MAX_VALUE : joint.element().stored.sequence();
    }

    /** The first message that must not be read for the client yet: another member may have it. */
    private long barrier() {
        return departing == null ? unsafeFrom() : Math.min(departing.first(), unsafeFrom());
    }

    /** There is nothing up to a number: what was counted and is not there, was lost or done with. */
    private void nothingUpTo(long end) {
        unreadFrom = Math.max(unreadFrom, end);
        if (unreadFrom == next) {
            waiting = readyCount();
            if (waiting == 0) {
                bytes = 0;
            }
        }
    }

    private Ready ready(StoredMessage message) {
        Subscription subscription = lastSubscription;
        StoredMessage like = last;
        boolean same = like != null
                && like.qos() == message.qos()
                && like.retain() == message.retain()
                && like.clientFilter().equals(message.clientFilter())
                && Arrays.equals(like.identifiers(), message.identifiers());
        if (subscription == null || !same) {
            subscription = Subscription.ofDelivery(
                    session, message.clientFilter(), message.qos(), message.retain(), message.identifiers());
            lastSubscription = subscription;
            last = message;
        }
        return new Ready(message.sequence(), message.message(), subscription, message.qos(), message.delivery());
    }

    // --- what has no room

    /**
     * Makes room for a message. What is only in the store goes a moment later; until then a few messages more may wait.
     *
     * @return false if there is no room: the message itself is dropped
     */
    boolean makeRoom(int footprintBytes, LimitsConfig limits) {
        long now = resources.ticker().nanoTime();
        boolean oldest =
                resources.config().dropPolicy() == DropPolicy.OLDEST && footprintBytes <= limits.maxQueuedBytes();
        DropReason full = refusal(footprintBytes, limits);
        Ready first = peek();
        while (full != null && first != null && first.delivery.state() == StoredDelivery.State.WAITING) {
            boolean expired = first.message.isExpired(now);
            if (!expired && !oldest) {
                return false;
            }
            poll();
            drop(first.number, expired ? DropReason.EXPIRED : full);
            full = refusal(footprintBytes, limits);
            first = peek();
        }
        if (full == null) {
            return true;
        }
        if (first != null || unreadFrom == next) {
            return false;
        }
        if (oldest) {
            trim();
            return waiting < limits.maxQueuedMessages() + PAGE_MESSAGES
                    && bytes + footprintBytes <= limits.maxQueuedBytes() + PAGE_BYTES;
        }
        if (now - expiryLookNanos >= EXPIRY_LOOK_NANOS || expiryLookNanos == Long.MIN_VALUE) {
            expiryLookNanos = now;
            trim();
        }
        return false;
    }

    /** Why the oldest has to go, or null if it may stay. */
    private @Nullable DropReason excess(LimitsConfig limits) {
        if (waiting > limits.maxQueuedMessages()) {
            return DropReason.QUEUE_COUNT;
        }
        return bytes > limits.maxQueuedBytes() ? DropReason.QUEUE_BYTES : null;
    }

    private void drop(long number, DropReason reason) {
        resources.observer().messageDropped(reason, 1);
        remove(number);
    }

    /** Looks at the oldest messages in the store, and drops those that have expired or must go. */
    private void trim() {
        if (trimming || reading) {
            return;
        }
        trimming = true;
        reading = true;
        int asked = epoch;
        readPage(unreadFrom, page -> trim(page, asked));
    }

    private void trim(StoredPage page, int asked) {
        if (asked != epoch || session.hasEnded()) {
            return;
        }
        trimming = false;
        reading = false;
        long now = resources.ticker().nanoTime();
        boolean goesOn = !page.messages().isEmpty();
        for (StoredMessage message : page.messages()) {
            goesOn = goesOn && trim(message, now);
        }
        if (goesOn) {
            trim();
        } else if (flow != null) {
            flow.pump();
        }
    }

    /** Drops a message if it is the oldest and has to go. */
    private boolean trim(StoredMessage message, long now) {
        if (message.sequence() < unreadFrom) {
            return true;
        }
        boolean expired = message.message().isExpired(now);
        DropReason full = excess(resources.limits());
        boolean goes = expired || (full != null && resources.config().dropPolicy() == DropPolicy.OLDEST);
        if (!goes || message.sequence() >= barrier() || message.delivery().state() != StoredDelivery.State.WAITING) {
            return false;
        }
        unreadFrom = message.sequence() + 1;
        forget(message.message().footprintBytes());
        drop(message.sequence(), expired || full == null ? DropReason.EXPIRED : full);
        return true;
    }

    // --- what has expired while the client is away

    /**
     * Removes what has expired, wherever it stands, page by page. While no client is connected.
     *
     * @param next is told when to look again, in seconds or {@link ApplicationMessage#NEVER}; not if a client comes
     */
    void removeExpired(LongConsumer next) {
        if (connected || waiting == 0 || !mayExpire) {
            return;
        }
        if (reading || trimming || drainTarget != null || departing != null) {
            next.accept(0);
            return;
        }
        mayExpire = false;
        sweeping = true;
        trimming = true;
        sweepFrom(unreadFrom, Long.MAX_VALUE, next);
    }

    private void sweepFrom(long from, long soonest, LongConsumer next) {
        int asked = epoch;
        int before = drains;
        readPage(from, page -> {
            if (asked == epoch && !session.hasEnded()) {
                sweep(page, before == drains, soonest, next);
            }
        });
    }

    private void sweep(StoredPage page, boolean valid, long soonestBefore, LongConsumer next) {
        List<StoredMessage> messages = page.messages();
        long now = resources.ticker().nanoTime();
        long soonest = soonestBefore;
        boolean stopped = page.failure() != null || !valid;
        for (StoredMessage message : messages) {
            stopped = stopped || message.sequence() >= barrier();
            soonest = stopped ? soonest : Math.min(soonest, sweep(message, now));
        }
        if (!stopped && !messages.isEmpty()) {
            sweepFrom(messages.get(messages.size() - 1).sequence() + 1, soonest, next);
            return;
        }
        sweeping = false;
        trimming = false;
        mayExpire |= stopped || soonest != Long.MAX_VALUE;
        if (mayExpire) {
            next.accept(stopped ? 0 : soonest);
        }
    }

    /** Drops a message if it has expired; else tells how many seconds it has, or many. */
    private long sweep(StoredMessage stored, long now) {
        ApplicationMessage message = stored.message();
        if (stored.sequence() < unreadFrom
                || stored.delivery().state() != StoredDelivery.State.WAITING
                || message.expiryIntervalSeconds() == ApplicationMessage.NEVER) {
            return Long.MAX_VALUE;
        }
        if (!message.isExpired(now)) {
            return message.remainingExpirySeconds(now);
        }
        if (stored.sequence() == unreadFrom) {
            unreadFrom++;
        }
        forget(message.footprintBytes());
        drop(stored.sequence(), DropReason.EXPIRED);
        return Long.MAX_VALUE;
    }

    // --- shared subscriptions

    /** Offers what waits by shared subscriptions to other members, page by page, while the client is away. */
    void drainShared(OutboundFlow.SharedReturn target) {
        if (drainTarget != null) {
            drainAgain = true;
        } else if (!connected && waiting > 0 && mayHoldShared && (whenLeft != null || session.hasPeers(true))) {
            drainTarget = target;
            drainFrom(unreadFrom);
        }
    }

    private void drainFrom(long from) {
        if (from == unreadFrom) {
            mayHoldShared = false;
            drainAgain = false;
        }
        cameBack = false;
        drains++;
        drainReading = true;
        int asked = epoch;
        readPage(from, page -> drain(page, asked));
    }

    private void drain(StoredPage page, int asked) {
        OutboundFlow.SharedReturn target = drainTarget;
        if (asked != epoch || target == null) {
            return;
        }
        drainReading = false;
        if (page.failure() != null) {
            LOG.warn("messages of a session cannot be read; trying again", page.failure());
            drainTarget = null;
            mayHoldShared = true;
            if (!offersLater) {
                offersLater = true;
                record.loop().later(this, 0, OFFERED);
            }
            return;
        }
        drainNext = next;
        drainJoint = joint != null;
        for (StoredMessage message : page.messages()) {
            drainNext = message.sequence() + 1;
            if (mayDepart(message) && !depart(message, target)) {
                mayHoldShared = true;
            }
        }
        goOnDraining();
    }

    /** What waits may go, and what was sent at QoS 1; QoS 2 messages in flight stay [MQTT-4.8.2-4]. */
    private boolean mayDepart(StoredMessage message) {
        long number = message.sequence();
        StoredDelivery.State state = message.delivery().state();
        boolean goes = state == StoredDelivery.State.WAITING
                || (state == StoredDelivery.State.SENT && message.qos() == QoS.AT_LEAST_ONCE);
        return goes
                && number >= unreadFrom
                && number < unsafeFrom()
                && (departing == null || !departing.contains(number))
                && SharedFilter.isShared(message.clientFilter());
    }

    private boolean depart(StoredMessage message, OutboundFlow.SharedReturn target) {
        Ready entry = ready(message);
        if (!depart(target, entry.message, entry.subscription, entry.number, -1)) {
            return false;
        }
        forget(entry.message.footprintBytes());
        return true;
    }

    /** The next page, unless the other members have all that they can hold: they ask for more. */
    private void goOnDraining() {
        if (drainTarget == null || drainReading || departing != null) {
            return;
        }
        boolean isLast = cameBack || drainNext >= next;
        if (!isLast) {
            drainFrom(drainNext);
        } else if (drainAgain) {
            drainFrom(unreadFrom);
        } else {
            mayHoldShared |= drainNext < next;
            drainTarget = null;
            left();
        }
    }

    // --- the end of the session

    /**
     * The session ends: leaves what waits by shared subscriptions to the other members, and forgets the rest.
     *
     * @param others takes the messages; null if there is nobody who could
     * @param then what follows when that is done
     * @return whether it takes time
     */
    boolean leave(OutboundFlow.@Nullable SharedReturn others, Runnable then) {
        detach();
        whenLeft = then;
        heirs = others;
        if (others != null) {
            drainShared(others);
        }
        left();
        return whenLeft != null;
    }

    private void left() {
        Runnable then = whenLeft;
        boolean goesOn = drainTarget != null || departing != null || drainJoint || offersLater;
        if (then == null || goesOn) {
            return;
        }
        whenLeft = null;
        heirs = null;
        joint = null;
        if (waiting > 0) {
            resources.observer().messageDropped(DropReason.SESSION_ENDED, waiting);
        }
        waiting = 0;
        bytes = 0;
        then.run();
    }
}
