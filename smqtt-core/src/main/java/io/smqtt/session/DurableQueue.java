// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The backlog of a stored session, at QoS 1 and 2. All of its messages are in the store, numbered in order together with
 * those in flight. While a client is connected, the head of the queue is loaded; of the other messages only their number
 * and total bytes are in memory. They are read page by page as the window has room. The numbers of messages in flight, of
 * loaded messages and of messages that are only in the store always follow each other.
 */
@OnEventLoop
final class DurableQueue extends Backlog {

    private static final int FEW = 64;

    private final SessionContext session;
    private final SessionRows rows;
    private final QueueSweep sweep;
    private @Nullable OutboundFlow flow;
    private @Nullable StoredJournal journal;
    private @Nullable JointMessages joint;

    private long next;
    private long unreadFrom;

    /** Numbers of the last consecutive messages that the store has rejected: they need no removal. */
    private long unstoredFrom;

    private long unstoredEnd;

    // valid for the connection
    private @Nullable ArrayDeque<Ready> ready;
    private boolean connected;
    private boolean reading;
    private int epoch;
    private @Nullable StoredMessage last;
    private @Nullable Subscription lastSubscription;

    /** A loaded message, which can be sent when the window has room. */
    record Ready(long number, ApplicationMessage message, Subscription subscription, StoredDelivery delivery) {}

    DurableQueue(SessionContext session, SessionRows rows, SessionResources resources, StoredQueue stored) {
        super(resources);
        this.session = session;
        this.rows = rows;
        this.next = stored.nextSequence();
        this.unreadFrom = stored.firstSequence();
        this.size = stored.messages();
        this.bytes = stored.bytes();
        this.sweep = new QueueSweep(session, this, resources, size > 0); // not read yet
    }

    @Override
    DeliveryJournal open(OutboundFlow newFlow, InFlightWindow window) {
        StoredJournal opened = new StoredJournal(rows, this, newFlow, window);
        flow = newFlow;
        journal = opened;
        return opened;
    }

    @Override
    void attach() {
        connected = true;
        interrupt();
    }

    /** Abandons pending work of the connection, or of the absence, that has ended. */
    private void interrupt() {
        epoch++;
        reading = false;
        sweep.interrupt();
    }

    /** Unloads all messages; they remain in the store. */
    @Override
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

    @Override
    boolean isEmpty() {
        return size == 0 && unreadFrom == next;
    }

    /** Whether messages wait and no client is connected. */
    boolean waitsOffline() {
        return !connected && size > 0;
    }

    @Override
    boolean isInMemory() {
        return false;
    }

    @Override
    @Nullable
    DropReason makeRoom(int footprintBytes, LimitsConfig limits, boolean slows) {
        DropReason full = refusal(footprintBytes, limits);
        return full == null || slows || !sweep.makeRoom(footprintBytes, limits) ? full : null;
    }

    @Override
    boolean takesShared(int footprintBytes, LimitsConfig limits) {
        return false; // the group stores it
    }

    /** Returns why the oldest message must be dropped, or null if it may stay. */
    @Nullable
    DropReason excess(LimitsConfig limits) {
        return refusal(size - 1, bytes, limits.maxQueuedMessages(), limits.maxQueuedBytes(), null);
    }

    // --- writes

    /** Allocates the number of a message that is sent at once. The queue must be empty. */
    long nextNumber() {
        long number = next++;
        unreadFrom = next;
        return number;
    }

    /** Messages that the publisher's event loop stores. */
    JointMessages joint() {
        JointMessages present = joint;
        if (present == null) {
            present = new JointMessages(session, rows, resources, this);
            joint = present;
        }
        return present;
    }

    /** Submits messages that were sent a moment ago and not written yet. */
    void writeUnwritten() {
        if (journal != null) {
            journal.writeUnwritten();
        }
    }

    @Override
    void append(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        writeUnwritten();
        long number = next++;
        int footprint = message.footprintBytes();
        size++;
        bytes += footprint;
        sweep.enqueued(message);
        StoredMessage stored = subscription.stored(number, message, qos, StoredDelivery.WAITING);
        if (qos == QoS.EXACTLY_ONCE && !rows.isAdopted() && joint().offer(stored, -1, ticket)) {
            return;
        }
        StoreLoop loop = rows.loop();
        loop.writer().putMessage(rows.number(), stored);
        if (qos == QoS.EXACTLY_ONCE && (rows.isAdopted() || ticket.mayComeAgain())) {
            rows.took(stored);
        }
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        loop.watch(this, QueueStep.WAITING_APPENDED, number, footprint);
        if (connected && unreadFrom == number && readyCount() < Stores.PAGE_MESSAGES) {
            unreadFrom = next;
            addReady(new Ready(number, message, subscription, StoredDelivery.WAITING));
        }
    }

    /** Removes a message from the store. */
    void delete(long number) {
        StoreLoop loop = rows.loop();
        loop.writer().removeMessage(rows.number(), number);
        loop.watch(this, QueueStep.REMOVED, number, 0);
    }

    /** Removes expired messages; see {@link QueueSweep#removeExpired}. */
    void removeExpired(LongConsumer next) {
        sweep.removeExpired(next);
    }

    // --- completions

    /** Completes an operation, or reports the failure of one that is only watched. Returns true if it must be submitted again. */
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
                appendFailed(value, footprint);
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
                return completedInFlight(step, value, kept);
            }
        }
        throw new AssertionError(step);
    }

    /** Completes an operation on a message in flight. Returns true if it must be submitted again. */
    boolean completedInFlight(QueueStep step, long sequence, boolean kept) {
        return journal != null && journal.completed(step, sequence, kept);
    }

    /** Submits a failed operation again. */
    void retry(QueueStep step, long value) {
        if (!session.isHere()) {
            session.execute(() -> retry(step, value));
        } else if (!session.hasEnded()) {
            if (step == QueueStep.REMOVED) {
                delete(value);
            } else if (journal != null) {
                journal.retry(step, value);
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

    /** Handles a waiting message that could not be stored. */
    private void appendFailed(long number, int footprint) {
        if (number >= unreadFrom) {
            forget(footprint);
        } else if (ready != null && ready.removeIf(entry -> entry.number == number)) {
            resources.budget().add(-footprint);
            forget(footprint);
        } else if (journal == null || !journal.appendFailed(number)) {
            return; // it has been sent since
        }
        dropped++;
        resources.observer().messageDropped(DropReason.FAILED, 1);
    }

    /** Uncounts a waiting message. */
    void forget(int footprint) {
        size = Math.max(0, size - 1);
        bytes = size == 0 ? 0 : Math.max(0, bytes - footprint);
    }

    // --- reads

    @Override
    boolean hasNext() {
        return ready != null && !ready.isEmpty();
    }

    private Ready first() {
        return Objects.requireNonNull(ready).element();
    }

    @Override
    ApplicationMessage message() {
        return first().message;
    }

    @Override
    Subscription subscription() {
        return first().subscription;
    }

    @Override
    boolean wasSent() {
        return first().delivery.state() != StoredDelivery.State.WAITING;
    }

    @Override
    StoredDelivery delivery() {
        return first().delivery;
    }

    @Override
    long number() {
        return first().number;
    }

    @Override
    void remove() {
        int footprint = Objects.requireNonNull(ready).remove().message.footprintBytes();
        resources.budget().add(-footprint);
        forget(footprint);
    }

    @Override
    void drop(DropReason reason) {
        long number = number();
        super.drop(reason);
        delete(number);
    }

    @Override
    void list(int most, List<WaitingMessage> target) {
        if (ready != null) {
            ready.stream()
                    .limit(most)
                    .forEach(entry -> target.add(WaitingMessage.of(entry.message, entry.subscription, 0)));
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

    /** Reads a page if few messages are loaded. */
    @Override
    void fetch() {
        if (reading || !connected || unreadFrom == next || readyCount() >= FEW) {
            return;
        }
        long end = visibleEnd();
        if (end <= unreadFrom) {
            return; // resumes when they are committed
        }
        reading = true;
        readPage(unreadFrom, page -> read(page, end));
    }

    /** Reads a page, and logs a failure. There is no reply if a client connects or disconnects in between. */
    void readPage(long from, Consumer<StoredPage> reply) {
        rows.loop().flush(); // makes submitted writes visible to the read
        RoutingLoop here = session.owner();
        int asked = epoch;
        Consumer<StoredPage> now = page -> {
            if (asked == epoch) {
                Throwable failure = page.failure();
                if (failure != null) {
                    rows.loop().readFailed(failure);
                }
                reply.accept(page);
            }
        };
        Consumer<StoredPage> there = page -> {
            if (session.owner() == here) {
                now.accept(page);
            } else { // the session has moved since
                session.execute(() -> now.accept(page));
            }
        };
        rows.store().read(rows.number(), from, Stores.PAGE_MESSAGES, Stores.PAGE_BYTES, here.executor(), there);
    }

    /**
     * Takes the messages of a page.
     *
     * @param end what was the {@link #visibleEnd} when the page was requested
     */
    private void read(StoredPage page, long end) {
        if (session.hasEnded()) {
            return;
        }
        reading = false;
        if (page.failure() != null) {
            rows.loop().later(this::fetchAgain);
            return;
        }
        boolean found = false;
        for (StoredMessage message : page.messages()) {
            if (message.sequence() >= end) {
                break;
            }
            if (message.sequence() >= unreadFrom) {
                found = true;
                unreadFrom = message.sequence() + 1;
                addReady(ready(message));
            }
        }
        if (!found) {
            skipMissing(end);
        }
        if (flow != null) {
            flow.pump();
            session.deliveriesChanged();
        }
    }

    boolean isReading() {
        return reading;
    }

    /** Claims the right to read, unless a read is pending. The reader releases it, or the end of the connection or absence does. */
    boolean claimReading() {
        boolean free = !reading;
        reading = true;
        return free;
    }

    void endReading() {
        reading = false;
    }

    /** The number of the first message that is only in the store. */
    long unreadFrom() {
        return unreadFrom;
    }

    /** The number of the next message to be added. */
    long next() {
        return next;
    }

    /** Skips the first message in the store, which is finished. */
    void skip(StoredMessage first) {
        unreadFrom = first.sequence() + 1;
        forget(first.message().footprintBytes());
    }

    void pump() {
        if (flow != null) {
            flow.pump();
        }
    }

    /** The number of the first message that the store does not show yet, or {@link Long#MAX_VALUE}. */
    long barrier() {
        return joint == null ? Long.MAX_VALUE : joint.barrier();
    }

    /**
     * The end of the messages that a page which is requested now has, unless they have ended. The page is read later, and several event loops write. So it can
     * have a message behind that end, and not yet one before it: such a message is left for the next page.
     */
    long visibleEnd() {
        return Math.min(next, barrier());
    }

    /** Handles a range without messages up to a number: those that were counted were not stored, or have ended. */
    private void skipMissing(long end) {
        unreadFrom = Math.max(unreadFrom, end);
        if (unreadFrom == next) {
            size = readyCount();
            if (size == 0) {
                bytes = 0;
            }
        }
    }

    /** Converts a stored message to one that can be sent or offered. */
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
        return new Ready(message.sequence(), message.message(), subscription, message.delivery());
    }

    // --- the end of the session

    /** Ends the queue with its session: waiting messages are dropped. */
    void end() {
        int dropped = size;
        forgetMoved();
        if (dropped > 0) {
            resources.observer().messageDropped(DropReason.SESSION_ENDED, dropped);
        }
    }

    /** Whether all messages can be read from the store: no write is pending. */
    boolean isQuiet() {
        return joint == null || joint.isEmpty();
    }

    /** Forgets the waiting messages without counting them as dropped: the session has moved to another node. */
    void forgetMoved() {
        if (journal != null) {
            journal.detach();
        }
        detach();
        if (joint != null) {
            joint.clear();
        }
        size = 0;
        bytes = 0;
    }
}
