// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a stored session. All of them are in the store, numbered in their order, but for those that are {@link
 * WriteBehindWindow}. Those in flight are in the {@link InFlightWindow} as well, and while a client is connected some of those that
 * follow wait here to be sent; of the others only their number and their bytes are in memory. They are read page by page as
 * the window has room, so that the numbers of what is in flight, of what is at hand and of what is only in the store always
 * follow each other.
 */
@OnEventLoop
final class DurableQueue {

    /** What is read, or removed, at a time. */
    static final int PAGE_MESSAGES = 256;

    static final int PAGE_BYTES = 256 * 1024;

    private static final int FEW = 64;

    private final Session session;
    private final SessionRecord record;
    private final SessionResources resources;
    private final QueueSweep sweep;
    private @Nullable OutboundFlow flow;
    private @Nullable InFlightWindow window;

    private long next;
    private long unreadFrom;
    private int waiting;
    private long bytes;

    /** Numbers of the last messages in a row that the store did not take: there is nothing to remove. */
    private long unstoredFrom;

    private long unstoredEnd;

    /** Joint messages that wait and are not safe yet, in order. */
    private @Nullable ArrayDeque<Joint> joint;

    /** How many joint messages were sent at once and are not safe yet. */
    private int unsafeSent;

    // valid for the connection
    private @Nullable WriteBehindWindow unwritten;
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
        this.sweep = new QueueSweep(session, this, resources, waiting > 0); // nobody has read them yet
    }

    void flow(OutboundFlow newFlow, InFlightWindow newWindow) {
        flow = newFlow;
        window = newWindow;
    }

    void attach() {
        connected = true;
        interrupt();
    }

    /** What is under way is for the connection, or its absence, that was until now. */
    private void interrupt() {
        epoch++;
        reading = false;
        sweep.interrupt();
    }

    /** What is at hand is only in the store again. */
    void detach() {
        writeUnwritten();
        unwritten = null;
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

    /** Whether something waits, and no client is there. */
    boolean waitsForNobody() {
        return !connected && waiting > 0;
    }

    @AnyThread
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

    /** Why the oldest has to go, or null if it may stay. */
    @Nullable
    DropReason excess(LimitsConfig limits) {
        if (waiting > limits.maxQueuedMessages()) {
            return DropReason.QUEUE_COUNT;
        }
        return bytes > limits.maxQueuedBytes() ? DropReason.QUEUE_BYTES : null;
    }

    // --- what is written

    /**
     * Stores a message that is about to be sent, at QoS 1 only if it is not acknowledged at once; nothing must wait.
     *
     * @param sequence its place in the window
     * @return its number
     */
    long append(ApplicationMessage message, Subscription subscription, QoS qos, long sequence, RouteTicket ticket) {
        long number = next++;
        unreadFrom = next;
        if (qos == QoS.AT_LEAST_ONCE) {
            if (!unwritten().add(sequence, ticket)) {
                write(number, message, subscription, sequence, ticket);
            }
            return number;
        }
        writeUnwritten();
        StoredDelivery delivery = new StoredDelivery(StoredDelivery.State.SENT, InFlightWindow.packetId(sequence));
        StoredMessage stored = stored(number, message, subscription, qos, delivery);
        if (ticket.join(new Joint(stored, sequence))) {
            unsafeSent++;
            return number;
        }
        StoreLoop loop = record.loop();
        loop.writer().putMessage(record.number(), stored);
        awaitSafety(loop, sequence, QueueStep.SENT_APPENDED);
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        return number;
    }

    private WriteBehindWindow unwritten() {
        WriteBehindWindow present = unwritten;
        if (present == null) {
            present = new WriteBehindWindow(Objects.requireNonNull(window), this::write, record.loop());
            unwritten = present;
        }
        return present;
    }

    private void writeUnwritten() {
        if (unwritten != null) {
            unwritten.writeAll();
        }
    }

    /** Whether a message that is done with was held back until now: there is nothing to {@link #remove}. */
    boolean wasUnwritten(long sequence) {
        return unwritten != null && unwritten.remove(sequence);
    }

    /** Writes a message that is sent at QoS 1. */
    private void write(
            long number, ApplicationMessage message, Subscription subscription, long sequence, RouteTicket ticket) {
        StoreLoop loop = record.loop();
        if (subscription.shareName() != null && number == 0 && flow != null) {
            flow.storeShared(loop, message, subscription, sequence, ticket);
            return;
        }
        StoredDelivery delivery = new StoredDelivery(StoredDelivery.State.SENT, InFlightWindow.packetId(sequence));
        loop.writer().putMessage(record.number(), stored(number, message, subscription, QoS.AT_LEAST_ONCE, delivery));
        loop.watch(this, QueueStep.APPENDED, number, 0);
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
    }

    /** Stores a message that has to wait. */
    void enqueue(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        writeUnwritten();
        long number = next++;
        int footprint = message.footprintBytes();
        waiting++;
        bytes += footprint;
        sweep.enqueued(message);
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
        loop.watch(this, QueueStep.WAITING_APPENDED, number, footprint);
        if (connected && unreadFrom == number && readyCount() < PAGE_MESSAGES) {
            unreadFrom = next;
            addReady(new Ready(number, message, subscription, qos, StoredDelivery.WAITING));
        }
    }

    static StoredMessage stored(
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
            awaitSafety(loop, sequence, QueueStep.SENT_WRITTEN);
        } else {
            loop.watch(this, QueueStep.SENT_WRITTEN, sequence, 0);
        }
    }

    /** A QoS 2 message leaves only when it is safe, if anything waits for the store. */
    private void awaitSafety(StoreLoop loop, long sequence, QueueStep step) {
        if (waits()) {
            loop.await(this, step, sequence);
        } else {
            loop.watch(this, step, sequence, 0);
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
            loop.await(this, QueueStep.RECEIVED_WRITTEN, sequence);
        } else {
            loop.watch(this, QueueStep.RECEIVED_WRITTEN, sequence, 0);
        }
    }

    /** A message is done with. */
    void remove(long number) {
        StoreLoop loop = record.loop();
        loop.writer().removeMessage(record.number(), number);
        loop.watch(this, QueueStep.REMOVED, number, 0);
    }

    // --- messages of shared groups

    /** A QoS 1 message of a shared group is sent: its group stores it if it is not acknowledged at once. */
    void holdBack(ApplicationMessage message, Subscription subscription, long sequence, RouteTicket ticket) {
        if (!unwritten().add(sequence, ticket)) {
            write(0, message, subscription, sequence, ticket);
        }
    }

    /** Stores a QoS 1 message in flight whose group is no more. Nothing must wait. */
    long keepSent(ApplicationMessage message, Subscription subscription, long sequence) {
        long number = next++;
        unreadFrom = next;
        StoredDelivery delivery = new StoredDelivery(StoredDelivery.State.SENT, InFlightWindow.packetId(sequence));
        StoreLoop loop = record.loop();
        loop.writer().putMessage(record.number(), stored(number, message, subscription, QoS.AT_LEAST_ONCE, delivery));
        loop.watch(this, QueueStep.APPENDED, number, 0);
        return number;
    }

    /** Stores a QoS 2 message of a shared group that is about to be sent; the group has it no more. Nothing must wait. */
    long takeOver(GroupMessage entry, Subscription subscription, long sequence) {
        writeUnwritten();
        long number = next++;
        unreadFrom = next;
        StoredDelivery delivery = new StoredDelivery(StoredDelivery.State.SENT, InFlightWindow.packetId(sequence));
        StoreLoop loop = record.loop();
        StoreWriter writer = loop.writer();
        writer.putMessage(record.number(), stored(number, entry.message(), subscription, QoS.EXACTLY_ONCE, delivery));
        if (entry.isStored()) {
            writer.removeHandedOver(entry.record(), entry.number());
        }
        awaitSafety(loop, sequence, QueueStep.SENT_APPENDED);
        return number;
    }

    /** Gives a QoS 2 message back to its group that was never sent. */
    void giveBack(GroupQueue group, ApplicationMessage message, long number) {
        group.record().takeOver(record.loop(), message, record.number(), number);
    }

    // --- what others do for it

    /** Makes room for a message; see {@link QueueSweep#makeRoom}. */
    boolean makeRoom(int footprintBytes, LimitsConfig limits) {
        return sweep.makeRoom(footprintBytes, limits);
    }

    /** Removes what has expired; see {@link QueueSweep#removeExpired}. */
    void removeExpired(LongConsumer next) {
        sweep.removeExpired(next);
    }

    // --- what became of it

    /** An operation is complete; one that is of interest only if it failed, has failed. Returns true if it is to be submitted again. */
    boolean completed(QueueStep step, long value, int footprint, boolean kept) {
        if (session.isHere()) {
            return completedHere(step, value, footprint, kept);
        }
        session.execute(() -> {
            if (completedHere(step, value, footprint, kept)) {
                retry(step, value);
            }
        });
        return false;
    }

    private boolean completedHere(QueueStep step, long value, int footprint, boolean kept) {
        if (session.hasEnded()) {
            return false;
        }
        switch (step) {
            case WAITING_APPENDED -> {
                unstored(value);
                lost(value, footprint);
                return false;
            }
            case APPENDED -> {
                unstored(value);
                return false;
            }
            case REMOVED -> {
                return value < unstoredFrom || value >= unstoredEnd;
            }
            case SENT_APPENDED, SENT_WRITTEN, RECEIVED_WRITTEN -> {
                return flow != null && flow.stored(value, step, kept);
            }
        }
        throw new AssertionError(step);
    }

    /** Submits an operation again that failed. */
    void retry(QueueStep step, long value) {
        if (!session.isHere()) {
            session.execute(() -> retry(step, value));
        } else if (!session.hasEnded()) {
            if (step == QueueStep.REMOVED) {
                remove(value);
            } else if (flow != null) {
                flow.storeAgain(value, step);
            }
        }
    }

    private void fetchAgain() {
        if (!session.isHere()) {
            session.execute(this::fetchAgain);
        } else if (!session.hasEnded()) {
            fetch();
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

    /** A message waits no more. */
    void forget(int footprint) {
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
            if (sequence >= 0) {
                unsafeSent--;
            }
            if (session.hasEnded()) {
                if (kept && SharedFilter.isShared(stored.clientFilter())) { // it was never sent: others may have it
                    resources.observer().deliveriesAdded(DeliverySource.REPEATED, 1);
                    SharedFilter group = SharedFilter.of(stored.clientFilter());
                    session.groups().requeue(session.owner(), group, stored.message(), RouteTicket.NONE);
                }
                if (kept) {
                    record.writer().removeMessage(record.number(), stored.sequence()); // came behind the session's end
                }
            } else if (sequence >= 0) {
                if (flow != null) {
                    flow.stored(sequence, QueueStep.SENT_APPENDED, kept);
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
            return; // goes on when that is safe
        }
        reading = true;
        long end = next;
        readPage(unreadFrom, page -> read(page, end));
    }

    /** Reads a page, and logs a failure. There is no reply if a client comes or goes meanwhile. */
    void readPage(long from, Consumer<StoredPage> reply) {
        record.loop().flush(); // what is submitted is seen
        RoutingLoop here = session.owner();
        int asked = epoch;
        Consumer<StoredPage> now = page -> {
            if (asked == epoch) {
                Throwable failure = page.failure();
                if (failure != null) {
                    record.loop().readFailed(failure);
                }
                reply.accept(page);
            }
        };
        Consumer<StoredPage> there = page -> {
            if (session.owner() == here) {
                now.accept(page);
            } else { // it has moved since
                session.execute(() -> now.accept(page));
            }
        };
        record.stores().store().read(record.number(), from, PAGE_MESSAGES, PAGE_BYTES, here.executor(), there);
    }

    private void read(StoredPage page, long end) {
        if (session.hasEnded()) {
            return;
        }
        reading = false;
        if (page.failure() != null) {
            record.loop().later(this::fetchAgain);
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

    boolean isReading() {
        return reading;
    }

    /** Keeps others from reading, unless somebody does; the reader ends that, or the connection or its absence. */
    boolean claimReading() {
        boolean free = !reading;
        reading = true;
        return free;
    }

    void endReading() {
        reading = false;
    }

    /** The first message that is only in the store. */
    long unreadFrom() {
        return unreadFrom;
    }

    /** The number of the message that comes next. */
    long next() {
        return next;
    }

    /** The first message in the store is done with. */
    void skip(StoredMessage first) {
        unreadFrom = first.sequence() + 1;
        forget(first.message().footprintBytes());
    }

    void pump() {
        if (flow != null) {
            flow.pump();
        }
    }

    /** The first message that the store does not show yet, or {@link Long#MAX_VALUE}. */
    long barrier() {
        return joint == null ? Long.MAX_VALUE : joint.element().stored.sequence();
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

    /** A message as it is sent, or offered to others. */
    Ready ready(StoredMessage message) {
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

    // --- the end of the session

    /** The session ends: what waits is dropped. */
    void end() {
        detach();
        joint = null;
        if (waiting > 0) {
            resources.observer().messageDropped(DropReason.SESSION_ENDED, waiting);
        }
        waiting = 0;
        bytes = 0;
    }

    /** Whether all messages can be read from the store: none is on its way into it. */
    boolean isQuiet() {
        return joint == null && unsafeSent == 0;
    }

    /** The session lives on another node: what waits is forgotten, and was not dropped. */
    void forgetMoved() {
        detach();
        joint = null;
        waiting = 0;
        bytes = 0;
    }
}
