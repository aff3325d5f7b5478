// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
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
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands messages over between the members of a shared group (MQTT 5.0, section 4.8.2): messages that wait for an absent
 * member go to a connected one. A member that has as much as it can hold gives back what it is offered, so that nothing is
 * lost by being handed over; it asks for the rest when its queue is empty ({@link SharedMember#awaitGroup()}). A ticket is
 * held until the message is safe with somebody.
 */
final class GroupBacklog {

    private static final Logger LOG = LoggerFactory.getLogger(GroupBacklog.class);

    private final Router router;
    private final BrokerObserver observer;
    private final LimitsConfig limits;
    private volatile @Nullable GroupWatch watch;

    GroupBacklog(Router router, BrokerObserver observer, LimitsConfig limits) {
        this.router = router;
        this.observer = observer;
        this.limits = limits;
    }

    /** Has somebody told of members that can take more from now on. */
    @AnyThread
    void watch(GroupWatch told) {
        watch = told;
    }

    private @Nullable SharedGroup groupOf(Subscription subscription) {
        return router.index().group(subscription);
    }

    /** Takes a message for a member that is away: another one gets it if one is there. On the absent member's loop. */
    void take(Session absent, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        SharedGroup group = groupOf(subscription);
        if (group != null && hasTaker(group, absent) && offer(absent, message, subscription, ticket, group)) {
            return;
        }
        absent.park(message, subscription, ticket);
        VarHandle.fullFence(); // a member that comes at this moment sees the message, or is seen: gather()
        if (group != null && hasTaker(group, absent)) {
            absent.member().handOver();
        }
        held(group);
    }

    /** Messages wait for an absent member: other nodes may ask for them. */
    void held(Subscription subscription) {
        held(groupOf(subscription));
    }

    private void held(@Nullable SharedGroup group) {
        GroupWatch told = watch;
        if (told != null && group != null) {
            told.held(new SharedFilter(group.shareName(), group.filter()), group.hasOnlineMember(Subscriber::isLocal));
        }
    }

    /**
     * Offers a message to another member that is there. On the loop of the session that has it.
     *
     * @return false if there is none: the message stays
     */
    boolean offer(Session absent, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        SharedGroup group = groupOf(subscription);
        return group != null && hasTaker(group, absent) && offer(absent, message, subscription, ticket, group);
    }

    private static boolean hasTaker(SharedGroup group, Session absent) {
        return group.hasOnlineMember(subscriber -> isExcluded(subscriber, absent));
    }

    /** Members on other nodes are offered nothing: it is not known here whether they are there, and those that are ask. */
    private static boolean isExcluded(Subscriber member, Session absent) {
        return member == absent || !member.isLocal();
    }

    /**
     * Whether a session is not alone in a group.
     *
     * @param online whether only members count that are there, and on this node
     */
    boolean hasOthers(Session session, Subscription subscription, boolean online) {
        SharedGroup group = subscription.shareName() == null ? null : groupOf(subscription);
        if (group == null) {
            return false;
        }
        if (online) {
            return hasTaker(group, session);
        }
        boolean[] found = {false};
        group.forEachMember(member -> found[0] |= member != session);
        return found[0];
    }

    private boolean offer(
            Session absent,
            ApplicationMessage message,
            Subscription subscription,
            RouteTicket ticket,
            SharedGroup group) {
        Subscription other = group.selectExcept(message, member -> isExcluded(member.subscriber(), absent));
        if (other == null || !other.subscriber().isOnline()) {
            return false;
        }
        if (other.subscriber() instanceof Session present) {
            ticket.hold();
            present.execute(() -> {
                try {
                    present.member().takeOffered(message, other, absent, subscription, ticket);
                } catch (RuntimeException e) { // who waits for it must not wait for ever
                    LOG.error("a message could not be handed over", e);
                    ticket.release(false);
                }
            });
        } else { // no session: it takes what it is given
            redispatch(absent, message, subscription, ticket);
        }
        return true;
    }

    /**
     * Offers a message to the members that are on one node, of which one has asked for it. It stays there whoever is there by then. On the
     * absent member's loop.
     *
     * @param ticket is held until the message is safe there; fails if it is not
     * @return false if that node has no members or cannot be reached: the message stays
     */
    boolean offerTo(
            String node, Session absent, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        SharedGroup group = groupOf(subscription);
        if (group == null || !group.hasOnlineMember(member -> !node.equals(member.node()))) {
            return false;
        }
        ApplicationMessage moved = message.withProperties(message.properties()); // other queues may hold this one, too
        moved.crossed(Router.MAXIMUM_CROSSINGS);
        SharedFilter wanted = new SharedFilter(group.shareName(), group.filter());
        RoutingLoop loop = absent.owner();
        ticket.hold();
        loop.executor()
                .execute(() -> ticket.release(router.redispatch(
                        loop,
                        moved,
                        wanted,
                        member -> !node.equals(member.subscriber().node()),
                        ticket)));
        return true;
    }

    /** Whether a member of this node, which has room, can take what waits on other nodes. */
    @AnyThread
    boolean hasTaker(SharedFilter wanted) {
        SharedGroup group = router.index().group(wanted.shareName(), wanted.filter());
        return group != null && group.hasOnlineMember(member -> !member.isLocal() || !member.hasRoom());
    }

    /**
     * Members on another node can take more: what waits here for absent ones goes there, up to a quarter of what a queue
     * may hold.
     */
    @AnyThread
    void handOver(SharedFilter wanted, String node) {
        SharedGroup group = router.index().group(wanted.shareName(), wanted.filter());
        if (group == null) {
            return;
        }
        HandOverRound round = new HandOverRound(wanted, node, limits);
        group.forEachMember(member -> {
            if (member instanceof Session absent && !absent.isOnline() && absent.mayHoldMessages()) {
                absent.execute(() -> absent.member().handOver(round));
            }
        });
    }

    /**
     * Leaves a message of a session that has ended to the other members, also to absent ones.
     *
     * @return false if nobody takes it
     */
    @OnEventLoop
    boolean leave(Session ended, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        SharedGroup group = groupOf(subscription);
        if (group == null || group.select(message, ended) == null) {
            return false;
        }
        redispatch(ended, message, subscription, ticket);
        return true;
    }

    private void redispatch(Session from, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        RoutingLoop loop = from.owner();
        ticket.hold();
        loop.executor().execute(() -> ticket.release(router.redispatch(loop, message, subscription, ticket)));
    }

    /** A delivery that ended elsewhere goes on here. */
    void repeated() {
        observer.deliveriesAdded(DeliverySource.REPEATED, 1);
    }

    /** A message that arrived after its session had ended. */
    void takeAfterEnd(Session ended, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (subscription.shareName() == null || !leave(ended, message, subscription, ticket)) {
            observer.messageDropped(DropReason.SESSION_ENDED, 1);
        }
    }

    /**
     * A member is there, or can take more: what waits for absent members goes to it, or to others like it.
     *
     * @param evenIfEmpty whether also those are asked that seem to have nothing, because something is on its way back
     */
    void gather(Session present, Subscription subscription, boolean evenIfEmpty) {
        SharedGroup group = groupOf(subscription);
        if (group == null) {
            return;
        }
        VarHandle.fullFence(); // see take()
        group.forEachMember(member -> {
            if (member != present
                    && member instanceof Session absent
                    && !absent.isOnline()
                    && (evenIfEmpty || absent.mayHoldMessages())) {
                absent.execute(() -> absent.member().handOver());
            }
        });
        GroupWatch told = watch;
        if (told != null && !present.hasBacklog() && group.hasOnlineMember(Subscriber::isLocal)) {
            told.wanted(new SharedFilter(group.shareName(), group.filter()));
        }
    }

    /** A member that would have asked for more leaves: the others that are there do so. */
    void passOn(Session leaving, Subscription subscription) {
        SharedGroup group = groupOf(subscription);
        if (group == null) {
            return;
        }
        group.forEachMember(member -> {
            if (member != leaving && member instanceof Session present && present.isOnline()) {
                present.execute(() -> present.member().awaitGroup());
            }
        });
    }
}
