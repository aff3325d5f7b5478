// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.collection.LongObjectHashMap;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Messages of shared subscriptions between their groups and the in-flight window of one member (MQTT 5.0, section 4.8.2).
 * The member takes messages while it has room, and gives back those that it cannot finish. Created with the first such
 * message.
 */
@OnEventLoop
final class SharedDeliveries {

    private final SessionContext session;
    private final SessionResources resources;
    private final BrokerObserver observer;
    private final OutboundFlow flow;
    private final SendWindow window;
    private final InFlightWindow inFlight;
    private final DeliveryJournal journal;

    /** Messages in flight that are stored under the number of their group, by sequence number. */
    private @Nullable LongObjectHashMap<GroupMessage> lent;

    SharedDeliveries(
            SessionContext session,
            SessionResources resources,
            OutboundFlow flow,
            InFlightWindow inFlight,
            DeliveryJournal journal) {
        this.session = session;
        this.resources = resources;
        this.observer = resources.observer();
        this.flow = flow;
        this.window = flow.window();
        this.inFlight = inFlight;
        this.journal = journal;
    }

    // --- from the group

    /** Delivers a message that the router has assigned to this member. If there is no room, it waits in the group's queue. */
    void deliver(PacketSink sink, ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        int footprint = message.footprintBytes();
        if (qos == QoS.AT_MOST_ONCE) {
            flow.sendAtMostOnce(sink, message, subscription, ticket);
        } else if (flow.isFree(sink)) {
            flow.send(sink, message, subscription, qos, ticket);
        } else if (flow.backlog(qos).takesShared(footprint, flow.limits())) {
            flow.backlog(qos).append(message, subscription, qos, ticket);
            observer.messageQueued(qos, footprint);
            ticket.queued();
        } else {
            session.queueInGroup(message, subscription, ticket);
        }
    }

    /** The number of messages that there is room for. */
    int room() {
        PacketSink sink = window.sink();
        return sink == null || !flow.isFree(sink)
                ? 0
                : Math.min(Stores.PAGE_MESSAGES, sink.sendMaximum() - inFlight.size());
    }

    /** Takes a message from a group's queue; returns false if there is no room. */
    boolean take(GroupMessage entry, Subscription subscription) {
        PacketSink sink = window.sink();
        ApplicationMessage message = entry.message();
        QoS qos = message.qos().atMost(subscription.maximumQos());
        if (sink == null || !sink.isWritable() || (qos != QoS.AT_MOST_ONCE && !flow.isFree(sink))) {
            return false;
        }
        if (!window.mayReceive(message)) {
            flow.drop(message, subscription, DropReason.NOT_AUTHORIZED, RouteTicket.NONE);
            settle(entry);
        } else if (qos == QoS.AT_MOST_ONCE) {
            flow.sendAtMostOnce(sink, message, subscription, RouteTicket.NONE);
            settle(entry);
        } else if (window.isExpired(message)) {
            flow.drop(message, subscription, DropReason.EXPIRED, RouteTicket.NONE);
            settle(entry);
        } else {
            long sequence = window.place(message, subscription, qos);
            lend(sequence, entry); // at QoS 2 in a stored session until it is committed here
            boolean mayLeave = journal.takeOver(sequence, entry, qos);
            window.leave(sink, sequence, mayLeave, message, subscription, qos, RouteTicket.NONE);
        }
        return true;
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

    private @Nullable MessageGroup groupOf(@Nullable Subscription subscription) {
        MessageGroup group =
                subscription == null || subscription.shareName() == null ? null : session.groupOf(subscription);
        return group == null || group.hasEnded() ? null : group;
    }

    // --- store

    /**
     * Stores a QoS 1 message that was not acknowledged in time: with its group, or with the session if the group has ended.
     * Returns false if earlier messages wait.
     */
    boolean store(long sequence, StoreLoop loop) {
        ApplicationMessage message = inFlight.message(sequence);
        MessageGroup group = groupOf(inFlight.subscription(sequence));
        if (group == null || message == null) {
            return journal.keep(sequence);
        }
        lend(sequence, group.store(loop, message));
        return true;
    }

    /** Records that the session has stored a QoS 2 message, which its group no longer has. */
    void stored(long sequence) {
        takeLent(sequence);
    }

    /** Handles a QoS 2 message that the store has rejected. Returns whether its group still has it. */
    boolean returnUnstored(long sequence) {
        GroupMessage entry = takeLent(sequence);
        if (entry != null) {
            session.pausePulls(Objects.requireNonNull(resources.stores()).of(session.owner()));
            entry.group().giveBack(List.of(entry));
        }
        return entry != null;
    }

    /**
     * Records that a message is about to leave the window.
     *
     * @param isOfSession whether the session had stored it
     */
    void ended(long sequence, boolean isOfSession) {
        GroupMessage entry = takeLent(sequence);
        if (entry != null && !isOfSession) {
            settle(entry);
        }
    }

    /** Allows the group to remove a message. */
    private void settle(GroupMessage entry) {
        Stores stores = resources.stores();
        if (entry.isStored() && stores != null) {
            entry.settle(stores.of(session.owner()));
        }
    }

    /** Stores messages in flight with the session: their group has ended, and its stored messages with it. */
    void keep(MessageGroup ended) {
        for (long sequence = inFlight.head(); sequence < inFlight.tail(); sequence = inFlight.from(sequence + 1)) {
            GroupMessage entry = lent == null ? null : lent.get(sequence);
            if (entry != null
                    && entry.group() == ended
                    && inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK
                    && journal.keep(sequence)) {
                takeLent(sequence);
            }
        }
    }

    /** Removes messages of groups that only this client may finish from the store. */
    void clear() {
        LongObjectHashMap<GroupMessage> all = lent;
        lent = null;
        if (all != null) {
            all.values().forEach(this::settle);
        }
    }

    // --- back to the group

    /**
     * Returns messages to their groups: all that were never sent, and QoS 1 messages in flight. QoS 2 messages in flight
     * stay with their session [MQTT-4.8.2-4].
     *
     * @param waiting the messages that wait in memory
     * @param inFlightToo whether sent messages of a subscription are returned
     * @param ends whether the session is about to end; then messages whose write is pending are returned too
     */
    void giveBack(DeliveryQueue waiting, Predicate<Subscription> inFlightToo, boolean ends) {
        Map<MessageGroup, List<GroupMessage>> batches = new LinkedHashMap<>();
        for (long sequence = inFlight.head(); sequence < inFlight.tail(); sequence = inFlight.from(sequence + 1)) {
            Subscription subscription = inFlight.subscription(sequence);
            ApplicationMessage message = inFlight.message(sequence);
            MessageGroup group = groupOf(subscription);
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
        waiting.removeIf((message, subscription) -> {
            MessageGroup group = groupOf(subscription);
            if (group != null) {
                batches.computeIfAbsent(group, queueOf -> new ArrayList<>()).add(group.inMemory(message));
            }
            return group != null;
        });
        Stores stores = resources.stores();
        if (stores != null && !batches.isEmpty()) {
            stores.of(session.owner()).flush(); // before other event loops write these
        }
        batches.forEach(MessageGroup::giveBack);
    }

    /** Whether a message may be returned: at QoS 1, or at QoS 2 if it was never sent. */
    private boolean mayGoBack(long sequence, boolean ends) {
        boolean unsent = inFlight.is(sequence, InFlightWindow.UNSENT);
        boolean isLent = lent != null && lent.containsKey(sequence);
        boolean safe = !inFlight.is(sequence, InFlightWindow.UNSAFE) || (ends && isLent);
        return inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK || (unsent && safe);
    }

    private void takeBack(
            MessageGroup group,
            ApplicationMessage message,
            long sequence,
            Map<MessageGroup, List<GroupMessage>> batches) {
        GroupMessage entry = takeLent(sequence);
        boolean isOfSession = journal.giveBack(sequence, message, group);
        inFlight.remove(sequence);
        if (isOfSession) {
            return;
        }
        if (entry == null) {
            entry = group.inMemory(message);
        } else if (entry.group() != group) { // it belongs to an earlier group of this name
            entry = group.isStored()
                    ? group.store(Objects.requireNonNull(resources.stores()).of(session.owner()), message)
                    : group.inMemory(message);
        }
        batches.computeIfAbsent(group, queueOf -> new ArrayList<>()).add(entry);
    }
}
