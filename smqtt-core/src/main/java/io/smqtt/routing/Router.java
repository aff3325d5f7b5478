// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Brings an application message to its subscribers. It knows subscribers only by their interface: sessions, peers and
 * in-process consumers are the same to it.
 */
public final class Router {

    private final SubscriptionIndex index;
    private final RetainedMessages retained;
    private final BrokerObserver observer;
    private final List<RoutingLoop> loops;
    private volatile boolean holdsTickets;
    private Function<? super SharedGroup, ? extends GroupBacklog> backlogs = group -> null;

    /**
     * Creates a router.
     *
     * @param executors the event loops of the broker
     * @param index where subscriptions are found
     * @param retained where retained messages are kept
     * @param observer what is told of routed messages
     */
    public Router(
            Iterable<? extends EventExecutor> executors,
            SubscriptionIndex index,
            RetainedMessages retained,
            BrokerObserver observer) {
        this.index = index;
        this.retained = retained;
        this.observer = observer;
        List<EventExecutor> all = new ArrayList<>();
        executors.forEach(all::add);
        List<RoutingLoop> created = new ArrayList<>();
        for (EventExecutor executor : all) {
            created.add(new RoutingLoop(executor, created.size(), all.size(), observer));
        }
        this.loops = List.copyOf(created);
    }

    /**
     * Lets messages of shared groups wait that no member can take. Before anything is routed.
     *
     * @param byGroup gives the backlog of a group
     */
    public void backlogs(Function<? super SharedGroup, ? extends GroupBacklog> byGroup) {
        backlogs = byGroup;
    }

    /**
     * The loops.
     *
     * @return one for each event loop
     */
    public List<RoutingLoop> loops() {
        return loops;
    }

    /**
     * The routing state of an event loop.
     *
     * @param executor an event loop of this broker
     * @return its routing state
     * @throws IllegalArgumentException if the loop belongs to somebody else
     */
    public RoutingLoop loopOf(EventExecutor executor) {
        for (RoutingLoop loop : loops) {
            if (loop.executor() == executor) {
                return loop;
            }
        }
        throw new IllegalArgumentException("not an event loop of this broker");
    }

    /**
     * From now on there are subscribers that hold tickets ({@link Subscriber#mayHold()}). Before the first of them
     * subscribes.
     */
    @AnyThread
    public void ticketsAreHeld() {
        holdsTickets = true;
    }

    /**
     * Tells whether there may be subscribers that hold tickets.
     *
     * @return false as long as {@link #ticketsAreHeld} was not called
     */
    @AnyThread
    public boolean holdsTickets() {
        return holdsTickets;
    }

    /**
     * The subscriptions.
     *
     * @return the index
     */
    public SubscriptionIndex index() {
        return index;
    }

    /**
     * The retained messages.
     *
     * @return the tree
     */
    public RetainedMessages retained() {
        return retained;
    }

    /**
     * Routes a message to all its subscribers and keeps it if it is to be retained. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param ticket what the publisher's acknowledgement waits for
     * @return how many subscribers it was handed to
     */
    public int route(RoutingLoop loop, ApplicationMessage message, RouteTicket ticket) {
        if (!message.isTimed()) {
            return routeToAll(loop, message, ticket);
        }
        long began = System.nanoTime();
        int count = routeToAll(loop, message, ticket);
        observer.messageRouted(System.nanoTime() - began);
        return count;
    }

    private int routeToAll(RoutingLoop loop, ApplicationMessage message, RouteTicket ticket) {
        Matches matches = loop.borrowMatches();
        index.match(message.topic(), matches);
        matches.mergeOverlaps(message.publisherId());
        int count = matches.size();
        for (int i = 0; i < count; i++) {
            hand(loop, message, matches.get(i), ticket);
        }
        for (int i = 0; i < matches.sharedSize(); i++) {
            if (routeToGroup(loop, message, matches.shared(i), ticket)) {
                count++;
            }
        }
        int deliveries = matches.size() + matches.sharedSize();
        loop.returnMatches(matches);
        observer.messageReceived(message.qos(), message.payload().size(), deliveries);
        return count;
    }

    /**
     * Routes a message of somebody who wants to know what becomes of each delivery: all subscribers get the ticket, also
     * those that never hold it, and it is held until the message has arrived on all event loops. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param ticket is told of deliveries that are queued or dropped
     * @param taker is told who gets the message, during this call
     * @return how many subscribers it was handed to
     */
    public int routeTold(
            RoutingLoop loop, ApplicationMessage message, RouteTicket ticket, Consumer<? super Subscriber> taker) {
        Matches matches = loop.borrowMatches();
        index.match(message.topic(), matches);
        matches.mergeOverlaps(message.publisherId());
        int count = matches.size();
        for (int i = 0; i < count; i++) {
            Subscription subscription = matches.get(i);
            taker.accept(subscription.subscriber());
            send(loop, message, subscription, ticket, ticket);
        }
        for (int i = 0; i < matches.sharedSize(); i++) {
            Subscription member = member(message, matches.shared(i), null);
            if (member == null) {
                observer.messageDropped(DropReason.NO_SHARED_MEMBER, 1);
                ticket.dropped(DropReason.NO_SHARED_MEMBER);
            } else {
                taker.accept(member.subscriber());
                send(loop, message, member, ticket, ticket);
                count++;
            }
        }
        int deliveries = matches.size() + matches.sharedSize();
        loop.returnMatches(matches);
        observer.messageReceived(message.qos(), message.payload().size(), deliveries);
        return count;
    }

    /**
     * Routes a message that another node has routed already: to subscribers of this node only. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param toAll whether it goes to all matching subscribers of this node that are not shared
     * @param groups the groups of shared subscriptions that are to take it here, by one member each
     * @param ticket what the other node's publisher waits for
     * @param refused is told the groups that have no member here any more, during this call
     * @return how many subscribers it was handed to
     */
    public int routeForwarded(
            RoutingLoop loop,
            ApplicationMessage message,
            boolean toAll,
            List<SharedFilter> groups,
            RouteTicket ticket,
            Consumer<? super SharedFilter> refused) {
        int count = toAll ? routeLocally(loop, message, ticket) : 0;
        for (SharedFilter wanted : groups) {
            SharedGroup group = index.group(wanted.shareName(), wanted.filter());
            if (group != null && hasRoom(group) && handToMember(loop, message, group, Subscriber::isLocal, ticket)) {
                count++;
            } else {
                refused.accept(wanted);
            }
        }
        observer.messageReceived(message.qos(), message.payload().size(), count);
        return count;
    }

    /** Whether a message of another node is of use here; if not, it waits there. */
    private static boolean hasRoom(SharedGroup group) {
        GroupBacklog backlog = group.backlog();
        return group.hasOnlineMember(member -> !member.isLocal())
                && (backlog == null || backlog.subscription().subscriber().hasRoom());
    }

    private int routeLocally(RoutingLoop loop, ApplicationMessage message, RouteTicket ticket) {
        Matches matches = loop.borrowMatches();
        index.match(message.topic(), matches);
        matches.mergeOverlaps(message.publisherId());
        int count = 0;
        for (int i = 0; i < matches.size(); i++) {
            Subscription subscription = matches.get(i);
            if (subscription.subscriber().isLocal()) {
                hand(loop, message, subscription, ticket);
                count++;
            }
        }
        loop.returnMatches(matches);
        return count;
    }

    /**
     * Gives a message that a node or a member of this one could not take to a local member, or keeps it until one can. On an
     * event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param wanted the group
     * @param ticket what the publisher waits for
     * @return false if the group has no members: the message is counted as dropped
     */
    public boolean redispatch(RoutingLoop loop, ApplicationMessage message, SharedFilter wanted, RouteTicket ticket) {
        SharedGroup group = index.group(wanted.shareName(), wanted.filter());
        boolean handed = group != null && handToMember(loop, message, group, Subscriber::isLocal, ticket);
        if (!handed) {
            observer.messageDropped(DropReason.NO_SHARED_MEMBER, 1);
        }
        return handed;
    }

    /**
     * Gives a message that waited to a member of its group. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param wanted the group
     * @param among who may get it
     * @param ticket is held until the message is safe there
     * @return false if none of them is there
     */
    public boolean handTo(
            RoutingLoop loop,
            ApplicationMessage message,
            SharedFilter wanted,
            Predicate<? super Subscriber> among,
            RouteTicket ticket) {
        SharedGroup group = index.group(wanted.shareName(), wanted.filter());
        Subscription member = group == null ? null : group.select(message, among);
        if (member != null) {
            hand(loop, message, member, ticket);
        }
        return member != null;
    }

    /**
     * Keeps or clears a retained message [MQTT-3.3.1-5], [MQTT-3.3.1-6].
     *
     * @param message a message with the retain flag
     * @return what became of it
     */
    public RetainedMessages.Outcome retain(ApplicationMessage message) {
        RetainedMessages.Outcome outcome = retained.store(message);
        if (outcome.isRefusal()) {
            observer.retainedRefused(retained.count(), retained.bytes());
        } else {
            observer.retainedChanged(retained.count(), retained.bytes());
        }
        return outcome;
    }

    private boolean routeToGroup(RoutingLoop loop, ApplicationMessage message, SharedGroup group, RouteTicket ticket) {
        boolean handed = handToMember(loop, message, group, null, ticket);
        if (!handed) {
            observer.messageDropped(DropReason.NO_SHARED_MEMBER, 1);
        }
        return handed;
    }

    private boolean handToMember(
            RoutingLoop loop,
            ApplicationMessage message,
            SharedGroup group,
            @Nullable Predicate<? super Subscriber> among,
            RouteTicket ticket) {
        Subscription member = member(message, group, among);
        if (member == null) {
            return false;
        }
        hand(loop, message, member, ticket);
        return true;
    }

    /** The member that gets a message now, or the group's queue; null if there is nobody. */
    private @Nullable Subscription member(
            ApplicationMessage message, SharedGroup group, @Nullable Predicate<? super Subscriber> among) {
        Subscription online = group.select(message, among);
        boolean first =
                online != null && !(group.hasBacklog() && online.subscriber().isLocal());
        if (first || message.qos() == QoS.AT_MOST_ONCE) {
            return online;
        }
        GroupBacklog backlog = group.mayQueue() ? group.backlog() : null;
        if (backlog == null && group.mayQueue()) {
            backlog = backlogs.apply(group);
        }
        return backlog == null ? online : backlog.subscription();
    }

    private static void hand(
            RoutingLoop loop, ApplicationMessage message, Subscription subscription, RouteTicket offered) {
        Subscriber subscriber = subscription.subscriber();
        boolean holds = offered != RouteTicket.NONE && subscriber.mayHold();
        send(loop, message, subscription, offered, holds ? offered.claim() : RouteTicket.NONE);
    }

    /**
     * Lets a subscriber take a message on its event loop.
     *
     * @param offered fails if the subscriber does
     * @param ticket what the subscriber gets to hold
     */
    private static void send(
            RoutingLoop loop,
            ApplicationMessage message,
            Subscription subscription,
            RouteTicket offered,
            RouteTicket ticket) {
        RoutingLoop owner = subscription.subscriber().owner();
        if (owner == loop || owner == null) {
            if (!loop.deliver(message, subscription, ticket, false)) {
                RouteTicket failed = offered.claim();
                failed.hold();
                failed.release(false);
            }
        } else {
            ticket.hold();
            loop.send(owner, message, subscription, ticket, false);
        }
    }

    /**
     * Lets all deliveries that loops have under way to one loop arrive there, then runs a task on another: what the task
     * does comes after them. Used when a session moves between loops.
     *
     * @param from the loop that owned the session
     * @param to the loop that owns it now, where the task runs
     * @param task what comes after the deliveries
     */
    public void afterDeliveriesVia(RoutingLoop from, RoutingLoop to, Runnable task) {
        AtomicInteger missing = new AtomicInteger(loops.size());
        for (RoutingLoop loop : loops) {
            loop.executor().execute(() -> {
                loop.flush();
                from.executor().execute(() -> {
                    from.flush();
                    if (missing.decrementAndGet() == 0) {
                        to.executor().execute(task);
                    }
                });
            });
        }
    }
}
