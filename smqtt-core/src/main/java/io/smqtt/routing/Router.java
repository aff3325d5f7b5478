// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Elsewhere;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import io.smqtt.trace.RunningTraces;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Routes application messages to their subscribers. It knows subscribers only by their interface: sessions, relays and in-process
 * consumers are treated alike.
 */
public final class Router {

    private final SubscriptionIndex index;
    private final RetainedMessages retained;
    private final BrokerObserver observer;
    private final List<RoutingLoop> loops;

    /** The result of matching on each event loop, reused for each message. */
    private final Matches[] matchesByLoop;

    private final RecentMatches[] recentByLoop;

    private volatile boolean holdsTickets;
    private Function<? super SharedGroup, ? extends GroupBacklog> backlogs = group -> null;
    private @Nullable EarlierDeliveries earlierDeliveries;

    /**
     * Creates a router.
     *
     * @param executors the event loops of the broker
     * @param index the subscriptions
     * @param retained the retained messages
     * @param observer receives events about routed messages
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
        this.matchesByLoop = new Matches[created.size()];
        this.recentByLoop = new RecentMatches[created.size()];
        Arrays.setAll(recentByLoop, i -> new RecentMatches());
        Arrays.setAll(matchesByLoop, i -> new Matches(recentByLoop[i]));
    }

    /**
     * Sets the queues of shared groups, for messages that no member can take. Called before the first message is routed.
     *
     * @param byGroup returns the queue of a group
     */
    public void backlogs(Function<? super SharedGroup, ? extends GroupBacklog> byGroup) {
        backlogs = byGroup;
    }

    /**
     * Sets where to find out whether a group has taken a message that is sent again. Called before the first message is routed.
     *
     * @param deliveries the deliveries of all nodes
     */
    public void earlierDeliveries(EarlierDeliveries deliveries) {
        earlierDeliveries = deliveries;
    }

    /**
     * The routing state of all event loops.
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
     * @throws IllegalArgumentException if the event loop belongs to another broker
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
     * Announces subscribers that hold tickets ({@link Subscriber#mayHold()}). Called before the first of them subscribes.
     */
    @AnyThread
    public void ticketsAreHeld() {
        holdsTickets = true;
    }

    /**
     * Whether there may be subscribers that hold tickets.
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
     * Drops the matches that an event loop remembers of the time before the last change of the index: their subscriptions may have ended. On
     * that event loop.
     *
     * @param loop the current event loop
     */
    public void forgetFormerMatches(RoutingLoop loop) {
        recentMatches(loop).forgetFormer(index.version());
    }

    /** The matches that an event loop remembers. */
    RecentMatches recentMatches(RoutingLoop loop) {
        return recentByLoop[loop.index()];
    }

    /**
     * Routes a message to all its subscribers and stores it if it has the retain flag. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param ticket delays the publisher's acknowledgement
     * @return number of subscribers that get the message
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
        Matches matches = acquire(loop);
        try {
            match(message, matches);
            int count = matches.size();
            for (int i = 0; i < count; i++) {
                dispatch(loop, message, matches.get(i), ticket);
            }
            for (int i = 0; i < matches.sharedSize(); i++) {
                if (message.isRepeated() && earlierDeliveries != null) {
                    SharedGroup group = matches.shared(i);
                    SharedFilter name = new SharedFilter(group.shareName(), group.filter());
                    routeIfNew(loop, message, name, null, ticket, earlierDeliveries);
                    count++;
                } else if (routeToGroup(loop, message, matches.shared(i), null, ticket)) {
                    count++;
                }
            }
            observer.messageReceived(message.qos(), message.payload().size(), matches.size() + matches.sharedSize());
            trace(loop, message, count);
            return count;
        } finally {
            release(loop, matches);
        }
    }

    private static void trace(RoutingLoop loop, ApplicationMessage message, int count) {
        RunningTraces traces = loop.traces();
        if (traces != null) {
            traces.routed(message, count);
        }
    }

    /** The result of this event loop; a route inside of another one gets a new one. */
    private Matches acquire(RoutingLoop loop) {
        return loop.beginMatch() ? matchesByLoop[loop.index()] : new Matches();
    }

    private void match(ApplicationMessage message, Matches into) {
        index.match(message.topic(), into);
        into.mergeOverlaps(message.publisherId());
    }

    private void release(RoutingLoop loop, Matches matches) {
        matches.clear();
        if (matches == matchesByLoop[loop.index()]) {
            loop.endMatch();
        }
    }

    /**
     * Routes a message and reports what happens to each delivery: all subscribers get the ticket, including those that never hold it,
     * and it is held until the message has arrived on all event loops. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param ticket receives reports of queued and dropped deliveries
     * @param taker called with each subscriber that gets the message, during this call
     * @return number of subscribers that get the message
     */
    public int routeAndReport(
            RoutingLoop loop, ApplicationMessage message, RouteTicket ticket, Consumer<? super Subscriber> taker) {
        Matches matches = acquire(loop);
        try {
            match(message, matches);
            int count = matches.size();
            for (int i = 0; i < count; i++) {
                Subscription subscription = matches.get(i);
                taker.accept(subscription.subscriber());
                send(loop, message, subscription, ticket, ticket);
            }
            for (int i = 0; i < matches.sharedSize(); i++) {
                Subscription member = member(message, matches.shared(i), null);
                if (member == null) {
                    droppedByGroup(loop, message, matches.shared(i));
                    ticket.dropped(DropReason.NO_SHARED_MEMBER);
                } else {
                    taker.accept(member.subscriber());
                    send(loop, message, member, ticket, ticket);
                    count++;
                }
            }
            observer.messageReceived(message.qos(), message.payload().size(), matches.size() + matches.sharedSize());
            trace(loop, message, count);
            return count;
        } finally {
            release(loop, matches);
        }
    }

    /**
     * Routes a message to a part of its subscribers, because others get it in another way. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param ticket delays the publisher's acknowledgement
     * @param scope the subscribers that may get it
     * @return number of subscribers that get the message
     */
    public int route(RoutingLoop loop, ApplicationMessage message, RouteTicket ticket, RouteScope scope) {
        int count = scope.unshared() ? routeUnshared(loop, message, scope, ticket) : 0;
        for (SharedFilter wanted : scope.groups()) {
            SharedGroup group = index.group(wanted.shareName(), wanted.filter());
            if (group != null && hasRoom(group, scope) && handToMember(loop, message, group, scope, ticket)) {
                count++;
            } else {
                scope.refused(wanted);
            }
        }
        observer.messageReceived(message.qos(), message.payload().size(), count);
        trace(loop, message, count);
        return count;
    }

    private static boolean hasRoom(SharedGroup group, RouteScope scope) {
        GroupBacklog backlog = group.backlog();
        return group.hasOnlineMember(scope)
                && (backlog == null || backlog.subscription().subscriber().hasRoom());
    }

    private int routeUnshared(RoutingLoop loop, ApplicationMessage message, RouteScope scope, RouteTicket ticket) {
        Matches matches = acquire(loop);
        try {
            match(message, matches);
            int count = 0;
            for (int i = 0; i < matches.size(); i++) {
                Subscription subscription = matches.get(i);
                if (scope.test(subscription.subscriber())) {
                    dispatch(loop, message, subscription, ticket);
                    count++;
                }
            }
            return count;
        } finally {
            release(loop, matches);
        }
    }

    /**
     * Passes a message that a member of a group could not take to another member that is no relay, or queues it. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param wanted the group
     * @param ticket delays the publisher's acknowledgement
     * @return false if the group has no members: the message is counted as dropped
     */
    public boolean redispatch(RoutingLoop loop, ApplicationMessage message, SharedFilter wanted, RouteTicket ticket) {
        SharedGroup group = index.group(wanted.shareName(), wanted.filter());
        return routeToGroup(loop, message, group, Router::isNoRelay, ticket);
    }

    /**
     * Passes a message that a member of a group may have got, but has not acknowledged, to another member that is no relay, or queues it: unless a member on
     * some node, or the queue of the group there, has it. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param wanted the group
     * @param ticket held until that is known, and the message is safe
     */
    public void redispatchIfNew(RoutingLoop loop, ApplicationMessage message, SharedFilter wanted, RouteTicket ticket) {
        EarlierDeliveries deliveries = earlierDeliveries;
        if (deliveries == null) {
            redispatch(loop, message, wanted, ticket);
        } else {
            routeIfNew(loop, message, wanted, Router::isNoRelay, ticket, deliveries);
        }
    }

    private static boolean isNoRelay(Subscriber subscriber) {
        return !subscriber.isRelay();
    }

    /**
     * Passes a queued message to a member of its group. On an event loop.
     *
     * @param loop the current event loop
     * @param message the message
     * @param wanted the group
     * @param among selects the members that may get the message
     * @param ticket held until the member has stored the message
     * @return false if none of them is online
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
            dispatch(loop, message, member, ticket);
        }
        return member != null;
    }

    /**
     * Stores or clears a retained message [MQTT-3.3.1-5], [MQTT-3.3.1-6].
     *
     * @param message a message with the retain flag
     * @return the result
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

    /**
     * Reports a retained message that is refused before it comes to the tree.
     *
     * @param outcome the reason
     * @return the same
     */
    public RetainedMessages.Outcome refuseRetained(RetainedMessages.Outcome outcome) {
        observer.retainedRefused(retained.count(), retained.bytes());
        return outcome;
    }

    private boolean routeToGroup(
            RoutingLoop loop,
            ApplicationMessage message,
            @Nullable SharedGroup group,
            @Nullable Predicate<? super Subscriber> among,
            RouteTicket ticket) {
        boolean handed = group != null && handToMember(loop, message, group, among, ticket);
        if (!handed) {
            droppedByGroup(loop, message, group);
        }
        return handed;
    }

    /** Routes a message that was routed before, unless a member of the group has it. The publisher waits for that. */
    private void routeIfNew(
            RoutingLoop loop,
            ApplicationMessage message,
            SharedFilter name,
            @Nullable Predicate<? super Subscriber> among,
            RouteTicket offered,
            EarlierDeliveries deliveries) {
        ApplicationMessage kept = message.onHeap();
        RouteTicket ticket = offered.claim();
        ticket.hold();
        deliveries.find(
                kept,
                name,
                taken -> loop.executor().execute(() -> {
                    if (taken) {
                        observer.messageElsewhere(Elsewhere.DUPLICATE, 1);
                    } else {
                        routeToGroup(loop, kept, index.group(name.shareName(), name.filter()), among, ticket);
                    }
                    ticket.release(true);
                }));
    }

    private void droppedByGroup(RoutingLoop loop, ApplicationMessage message, @Nullable SharedGroup group) {
        observer.messageDropped(DropReason.NO_SHARED_MEMBER, 1);
        RunningTraces traces = loop.traces();
        if (traces != null) {
            traces.dropped(
                    group == null ? "" : new SharedFilter(group.shareName(), group.filter()).toString(),
                    null,
                    message,
                    DropReason.NO_SHARED_MEMBER);
        }
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
        dispatch(loop, message, member, ticket);
        return true;
    }

    /** The member that gets a message now, or the queue of the group; null if there is neither. */
    private @Nullable Subscription member(
            ApplicationMessage message, SharedGroup group, @Nullable Predicate<? super Subscriber> among) {
        Subscription online = group.select(message, among);
        boolean first = online != null && (online.subscriber().isRelay() || !group.hasBacklog());
        if (first || message.qos() == QoS.AT_MOST_ONCE) {
            return online;
        }
        GroupBacklog backlog = group.mayQueue() ? group.backlog() : null;
        if (backlog == null && group.mayQueue()) {
            backlog = backlogs.apply(group);
        }
        return backlog == null ? online : backlog.subscription();
    }

    private static void dispatch(
            RoutingLoop loop, ApplicationMessage message, Subscription subscription, RouteTicket offered) {
        Subscriber subscriber = subscription.subscriber();
        boolean holds = offered != RouteTicket.NONE && subscriber.mayHold();
        send(loop, message, subscription, offered, holds ? offered.claim() : RouteTicket.NONE);
    }

    /**
     * Delivers a message to a subscriber on its event loop.
     *
     * @param offered failed if the subscriber throws
     * @param ticket the ticket for the subscriber
     */
    private static void send(
            RoutingLoop loop,
            ApplicationMessage message,
            Subscription subscription,
            RouteTicket offered,
            RouteTicket ticket) {
        Subscriber subscriber = subscription.subscriber();
        ApplicationMessage delivered =
                message.payload().isOnHeap() || subscriber.retainsPayloads() ? message : message.onHeap();
        RoutingLoop owner = subscriber.owner();
        if (owner == loop || owner == null) {
            if (!loop.deliver(delivered, subscription, ticket, false)) {
                RouteTicket failed = offered.claim();
                failed.hold();
                failed.release(false);
            }
        } else {
            ticket.hold();
            loop.send(owner, delivered, subscription, ticket, false);
        }
    }

    /**
     * Runs a task on one event loop after all deliveries that are in flight to another one have arrived there. Used when a session
     * moves between event loops.
     *
     * @param from the event loop that owned the session
     * @param to the event loop that owns it now, which runs the task
     * @param task runs after the deliveries
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
