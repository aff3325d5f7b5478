// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DropPolicy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.GroupBacklog;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a shared group on this node (MQTT 5.0, section 4.8.2): messages that no member can take now. Members pull
 * when they have room. A message that a member could not finish returns to the head of the queue.
 *
 * <p>With a store, messages are stored while the group has a stored member, or members on other nodes. They are stored under a
 * number of the group's own, in the form of a session. QoS 1 messages stay in the store until the member has acknowledged
 * them. A QoS 2 message moves from the group to the member in one write. At most one page of the stored messages is in
 * memory; the rest is read as members pull.
 */
@OnEventLoop
final class GroupQueue implements Subscriber, GroupBacklog, MessageGroup, GroupPulls.Source {

    private final SharedFilter name;
    private final SessionResources resources;
    private final BrokerObserver observer;
    private final GroupQueues groups;
    private final RoutingLoop owner;
    private final Subscription subscription;
    private final GroupMembers members;
    private final GroupRecord record;
    private final long key = TakenMessages.newKey();
    private final GroupTail tail;
    private final GroupHead head;
    private final GroupPulls pulls;
    private final GroupExpiry expiry;
    private long next = GroupRecord.FIRST_WAITING;

    // read by any thread
    private volatile int waiting;
    private volatile long bytes;
    private volatile long waitingSinceNanos;
    private volatile boolean ended;
    private volatile boolean waitsElsewhere;

    GroupQueue(SharedFilter name, SessionResources resources, GroupQueues groups, RoutingLoop owner) {
        this.name = name;
        this.resources = resources;
        this.observer = resources.observer();
        this.groups = groups;
        this.owner = owner;
        this.members =
                new GroupMembers(name, resources.limits(), resources.router().index());
        this.record = new GroupRecord(this, name, owner, resources.stores());
        this.tail = new GroupTail(this, record);
        this.head = new GroupHead(resources.budget());
        this.pulls = new GroupPulls(this);
        this.expiry = new GroupExpiry(resources.wheels().get(owner.index()), resources.ticker(), this::removeExpired);
        this.subscription = new Subscription(
                this, name.filter(), name.shareName(), QoS.EXACTLY_ONCE, false, true, Subscription.NO_IDENTIFIER);
    }

    /** Restores the queue from the store. At the start. */
    @AnyThread
    void recovered(long number, long first, long following, int messages, long size) {
        record.recovered(number);
        next = Math.max(GroupRecord.FIRST_WAITING, following);
        tail.recovered(first, messages);
        waitingSinceNanos = resources.ticker().nanoTime();
        waiting = messages;
        bytes = size;
    }

    /** Schedules the first search for expired messages. */
    @AnyThread
    void recovered() {
        owner.executor().execute(() -> expiry.await(1));
    }

    // --- the router's view

    @Override
    @AnyThread
    public String id() {
        return GroupRecord.id(name);
    }

    @Override
    @AnyThread
    public RoutingLoop owner() {
        return owner;
    }

    @Override
    @AnyThread
    public boolean isOnline() {
        return false;
    }

    @Override
    @AnyThread
    public int inFlightCount() {
        return 0;
    }

    @Override
    @AnyThread
    public boolean mayHold() {
        return resources.stores() != null;
    }

    @AnyThread
    SharedFilter name() {
        return name;
    }

    @Override
    @AnyThread
    public Subscription subscription() {
        return subscription;
    }

    @Override
    @AnyThread
    public int waiting() {
        return waiting;
    }

    @Override
    @AnyThread
    public long bytes() {
        return bytes;
    }

    @Override
    @AnyThread
    public long waitingSinceNanos() {
        return waitingSinceNanos;
    }

    @Override
    @AnyThread
    public boolean hasEnded() {
        return ended;
    }

    /** Whether the queue is less than half full. The answer may be out of date. */
    @Override
    @AnyThread
    public boolean hasRoom() {
        return !ended && waiting * 2L < members.maximumMessages();
    }

    @Override
    @AnyThread
    public boolean isStored() {
        return resources.stores() != null
                && (record.exists() || members.hasStored() || groups.hasMembersElsewhere(name));
    }

    @AnyThread
    StoreLoop loop() {
        return Objects.requireNonNull(resources.stores()).of(owner);
    }

    // --- incoming messages

    /** Adds a message that no member can take. */
    @Override
    public void deliver(ApplicationMessage message, Subscription ofQueue, RouteTicket ticket) {
        deliver(message, ticket, message.qos() == QoS.EXACTLY_ONCE);
    }

    /** Adds a message of an adopted store. Members get it when the operation is settled that has joined the ticket. */
    void move(ApplicationMessage message, RouteTicket ticket) {
        deliver(message, ticket, true);
    }

    private void deliver(ApplicationMessage message, RouteTicket ticket, boolean jointly) {
        assert owner.executor().inEventLoop();
        if (members.isEmpty() && !ended) {
            groups.endIfUnused(this);
        }
        if (ended) {
            groups.requeue(owner, name, message, ticket);
            return;
        }
        DropReason full = refusal(message.footprintBytes());
        if (full != null && !makeRoom(message.footprintBytes())) {
            observer.messageDropped(full, 1);
            TracedQueue.dropped(this, message, full);
            ticket.dropped(full);
            return;
        }
        append(message, ticket, jointly);
        observer.messageQueued(message.qos(), message.footprintBytes());
        TracedQueue.queued(message, subscription, message.qos());
        ticket.queued();
        serve();
        groups.held(this);
    }

    /** Whether a delivery is known to have come to this queue, see {@link TakenMessages#idOf}. */
    @AnyThread
    boolean hasTaken(long deliveryId) {
        DeliveryHistory history = groups.history();
        return (history.knows(key, deliveryId) && !record.hasLost(history, deliveryId))
                || record.tookBefore(deliveryId);
    }

    /** Returns why one more message does not fit, or null if it fits. */
    private @Nullable DropReason refusal(int footprint) {
        return Backlog.refusal(
                waiting,
                bytes + footprint,
                members.maximumMessages(),
                members.maximumBytes(),
                isStored() ? null : resources.budget());
    }

    /** Drops expired messages, or the oldest ones if the drop policy says so. */
    private boolean makeRoom(int footprint) {
        long now = resources.ticker().nanoTime();
        boolean oldest = resources.config().dropPolicy() == DropPolicy.OLDEST && footprint <= members.maximumBytes();
        DropReason full = refusal(footprint);
        GroupMessage first = head.first();
        while (full != null && full != DropReason.TOTAL_QUEUE_BYTES && first != null) {
            boolean expired = first.message().isExpired(now);
            if (!expired && !oldest) {
                break;
            }
            drop(first, expired ? DropReason.EXPIRED : full);
            full = refusal(footprint);
            first = head.first();
        }
        if (first == null) {
            tail.read(); // for the next message
        }
        return full == null;
    }

    private void append(ApplicationMessage message, RouteTicket ticket, boolean jointly) {
        boolean stored = isStored();
        StoreLoop loop = stored ? loop() : null;
        long number = next++;
        GroupMessage entry = new GroupMessage(this, message, number, loop == null ? 0 : record.number(loop));
        boolean inMemory = tail.isEmpty() && (loop == null || head.inOrder() < Stores.PAGE_MESSAGES);
        if (inMemory) {
            tail.beginsAt(next);
        } else {
            tail.add();
        }
        count(1, entry.bytes());
        expiry.await(message);
        if (loop == null) {
            head.add(entry);
            return;
        }
        if (jointly) {
            JointGroupMessage part = new JointGroupMessage(this, entry, inMemory);
            if (ticket.join(part)) {
                if (!inMemory) {
                    tail.unsettled(number);
                }
                return;
            }
        }
        record.put(loop.writer(), entry);
        if (message.qos() == QoS.EXACTLY_ONCE && ticket.mayComeAgain() && message.id() != ApplicationMessage.NO_ID) {
            long id = TakenMessages.idOf(message, name);
            loop.took(TakenNotes.delivery(entry.record(), id));
            groups.history().took(owner, key, id);
        }
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        loop.watch(this, GroupStep.APPENDED, number, entry.bytes());
        if (inMemory) {
            head.add(entry);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by the event loop alone
    private void count(int messages, long change) {
        if (waiting == 0) {
            waitingSinceNanos = resources.ticker().nanoTime();
        }
        waiting += messages;
        bytes = waiting == 0 ? 0 : bytes + change;
    }

    /**
     * Completes the write of a QoS 2 message that the publisher's event loop stored: it can be pulled, or is dropped if the
     * write failed.
     */
    void appendCompleted(GroupMessage entry, boolean inMemory, boolean kept) {
        if (ended) {
            return;
        }
        if (!inMemory) {
            tail.appendCompleted(entry.number(), kept);
        }
        if (!kept) {
            count(-1, -entry.bytes());
            observer.messageDropped(DropReason.FAILED, 1);
        } else if (inMemory) {
            head.putBack(entry);
        }
        serve();
        groups.held(this); // other nodes that have asked before got nothing
    }

    /** Handles a waiting message that could not be stored; its publisher is notified. */
    void appendFailed(long number, int footprint) {
        if (!head.remove(number) && !tail.appendFailed(number)) {
            return; // assigned to a member
        }
        count(-1, -footprint);
        observer.messageDropped(DropReason.FAILED, 1);
    }

    /** Handles a returned message that could not be stored: it waits in memory. */
    void notStored(long number) {
        head.notStored(number);
    }

    /** The part of the group that is in the store. */
    @AnyThread
    GroupRecord record() {
        return record;
    }

    /** The members of the group on this node. */
    @AnyThread
    GroupMembers members() {
        return members;
    }

    // --- returned messages

    @Override
    @AnyThread
    public void giveBack(List<GroupMessage> entries) {
        owner.executor().execute(() -> takeBack(entries));
    }

    private void takeBack(List<GroupMessage> entries) {
        putBack(entries);
        handOut();
    }

    private void putBack(List<GroupMessage> entries) {
        for (GroupMessage entry : entries) {
            if (ended) {
                groups.requeue(owner, name, entry.message(), RouteTicket.NONE);
            } else {
                count(1, entry.bytes());
                head.putBack(stored(entry));
                expiry.await(entry.message());
            }
        }
        serve();
        groups.held(this);
    }

    /** Stores a message that only the member's memory had, if the group is stored. */
    private GroupMessage stored(GroupMessage entry) {
        if (entry.isStored() || !isStored()) {
            return entry;
        }
        StoreLoop loop = loop();
        GroupMessage kept = new GroupMessage(this, entry.message(), entry.number(), record.number(loop));
        record.put(loop.writer(), kept);
        loop.watch(this, GroupStep.RETURNED, kept.number(), 0);
        return kept;
    }

    @Override
    @AnyThread
    public GroupMessage inMemory(ApplicationMessage message) {
        return new GroupMessage(this, message, record.nextSentAtOnce(), 0);
    }

    @Override
    public GroupMessage store(StoreLoop loop, ApplicationMessage message) {
        return record.store(loop, message);
    }

    @Override
    public void takeOver(StoreLoop loop, ApplicationMessage message, long session, long ofSession) {
        record.takeOver(loop, message, session, ofSession);
    }

    // --- pulls

    /** The pending pull requests. */
    @AnyThread
    GroupPulls pulls() {
        return pulls;
    }

    /** Serves the pending pull requests. */
    void serve() {
        pulls.serve();
    }

    @Override
    public boolean hasNext() {
        boolean found = head.first() != null;
        if (!found) {
            tail.read(); // resumes when the page is loaded
        }
        return found;
    }

    @Override
    public boolean isReading() {
        return tail.isReading();
    }

    @Override
    public List<GroupMessage> take(int most, long mostBytes) {
        long now = resources.ticker().nanoTime();
        List<GroupMessage> batch = new ArrayList<>(Math.min(most, waiting));
        long size = 0;
        boolean stored = false;
        GroupMessage entry = head.first();
        while (entry != null && batch.size() < most && size < mostBytes) {
            if (entry.message().isExpired(now)) { // [MQTT-3.3.2-5]
                drop(entry, DropReason.EXPIRED);
            } else {
                removeFirst(entry);
                batch.add(entry);
                size += entry.bytes();
                stored |= entry.isStored();
                if (entry.message().isTimed()) {
                    observer.queueTimed(now - entry.message().acceptedAtNanos());
                }
            }
            entry = head.first();
        }
        if (stored) {
            loop().flush(); // before the member's event loop writes them
        }
        return batch;
    }

    private void removeFirst(GroupMessage entry) {
        head.removeFirst();
        count(-1, -entry.bytes());
    }

    private void drop(GroupMessage entry, DropReason reason) {
        removeFirst(entry);
        dropped(entry, reason);
    }

    private void dropped(GroupMessage entry, DropReason reason) {
        observer.messageDropped(reason, 1);
        TracedQueue.dropped(this, entry.message(), reason);
        if (entry.isStored()) {
            entry.settle(loop());
        }
    }

    /** Adds a message that was loaded from the store. */
    void addLoaded(GroupMessage entry) {
        head.add(entry);
        expiry.await(entry.message());
    }

    /** Uncounts messages that are not in the store. */
    void uncountMissing(int messages) {
        count(-messages, 0);
    }

    /** The number of the next message to be added. */
    long next() {
        return next;
    }

    // --- expiry

    private void removeExpired() {
        long now = resources.ticker().nanoTime();
        head.removeIf(entry -> removeIfExpired(entry, now));
        boolean looksAtTail = tail.sweep(entry -> {
            if (entry.message().isExpired(now)) {
                tail.removed();
                count(-1, -entry.bytes());
                dropped(entry, DropReason.EXPIRED);
            } else {
                expiry.await(entry.message());
            }
        });
        if (!looksAtTail) {
            expiry.await(1);
        }
    }

    /** Ends a search of the stored messages; false if it is incomplete. */
    void sweepCompleted(boolean all) {
        if (!all) {
            expiry.await(1);
        }
        serve();
    }

    private boolean removeIfExpired(GroupMessage entry, long now) {
        boolean expired = entry.message().isExpired(now);
        if (expired) {
            count(-1, -entry.bytes());
            dropped(entry, DropReason.EXPIRED);
        } else {
            expiry.await(entry.message());
        }
        return expired;
    }

    // --- members

    /** Sets whether messages may wait on other nodes. */
    @AnyThread
    void waitsElsewhere(boolean value) {
        waitsElsewhere = value;
    }

    @AnyThread
    boolean waitsElsewhere() {
        return waitsElsewhere;
    }

    /** Hands out waiting messages to members that do not pull, if no other member is connected: this node may be about to stop. */
    private void handOut() {
        SharedGroup group = groups.group(name);
        if (group != null
                && group.hasOnlineMember(member -> !(member instanceof GroupMember))
                && !group.hasOnlineMember(member -> member instanceof GroupMember)) {
            pulls.handOut(handOverTo(member -> !(member instanceof GroupMember)));
        }
    }

    /** Hands messages to the members that a condition selects. */
    @AnyThread
    GroupHandOver handOverTo(Predicate<? super Subscriber> to) {
        return new GroupHandOver(resources.router(), owner, name, to, this::handedOver);
    }

    private void handedOver(GroupMessage entry, boolean success, boolean last) {
        if (!success) {
            observer.deliveriesAdded(DeliverySource.REPEATED, 1); // the delivery that ended there continues here
            putBack(List.of(entry));
        } else if (entry.isStored() && !ended) {
            entry.settle(loop());
        }
        if (last && waiting > 0) {
            groups.held(this); // that node may have more room
        }
    }

    // --- the end

    /** Ends the queue: the group has no members any more. */
    @AnyThread
    void end() {
        ended = true;
        owner.executor().execute(this::dropAll);
    }

    private void dropAll() {
        expiry.cancel();
        head.clear();
        if (waiting > 0) {
            observer.messageDropped(DropReason.NO_SHARED_MEMBER, waiting);
        }
        tail.clear();
        pulls.clear();
        count(-waiting, 0);
        record.remove();
    }

    @Override
    @AnyThread
    public String toString() {
        return "GroupQueue[" + name + ']';
    }
}
