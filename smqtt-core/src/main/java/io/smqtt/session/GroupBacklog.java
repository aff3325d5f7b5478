// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import java.lang.invoke.VarHandle;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the members of a shared group stand in for each other (MQTT 5.0, section 4.8.2): what waits for an absent member
 * goes to one that is there. A member that has as much as it can hold gives back what it is offered, so that nothing is
 * lost by being handed over; it asks for the rest when its queue is empty ({@link SharedMember#awaitGroup()}). A ticket is held
 * until the message is safe with somebody.
 */
final class GroupBacklog {

    private static final Logger LOG = LoggerFactory.getLogger(GroupBacklog.class);

    /** How often a message goes to another node in search of a member that is there. */
    private static final int MAXIMUM_CROSSINGS = 4;

    private final Router router;
    private final BrokerObserver observer;

    GroupBacklog(Router router, BrokerObserver observer) {
        this.router = router;
        this.observer = observer;
    }

    private @Nullable SharedGroup groupOf(Subscription subscription) {
        return router.index().group(subscription);
    }

    /** Takes a message for a member that is away: another one gets it if one is there. On the absent member's loop. */
    void take(Session absent, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        SharedGroup group = groupOf(subscription);
        if (group != null && hasTaker(group, absent, message)) {
            if (message.crossings() > 0) {
                takeForwarded(absent, message, subscription, ticket, group);
                return;
            }
            if (offer(absent, message, subscription, ticket, group)) {
                return;
            }
        }
        absent.park(message, subscription, ticket);
        VarHandle.fullFence(); // a member that comes at this moment sees the message, or is seen: gather()
        if (group != null && hasTaker(group, absent, message)) {
            absent.member().handOver();
        }
    }

    /**
     * Takes a message that another node waits for, and other members are there. That node must not wait for nodes in its turn: each
     * takes over messages in their order, so two could wait for each other without end.
     */
    private void takeForwarded(
            Session absent,
            ApplicationMessage message,
            Subscription subscription,
            RouteTicket ticket,
            SharedGroup group) {
        Predicate<Subscriber> notHere = member -> member == absent || !member.isLocal();
        if (group.hasOnlineMember(notHere) && offer(absent, message, subscription, ticket, group, notHere)) {
            return;
        }
        Predicate<Subscriber> excluded = member -> isExcluded(member, absent, message);
        if (absent.outbound().hasRoom(message)) {
            absent.parkAndOffer(message, subscription, ticket);
        } else if (!offer(absent, message, subscription, RouteTicket.NONE, group, excluded)) {
            absent.park(message, subscription, ticket);
        }
    }

    /**
     * Offers a message to another member that is there. On the loop of the session that has it.
     *
     * @return false if there is none: the message stays
     */
    boolean offer(Session absent, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        SharedGroup group = groupOf(subscription);
        return group != null && hasTaker(group, absent, message) && offer(absent, message, subscription, ticket, group);
    }

    private static boolean hasTaker(SharedGroup group, Session absent, ApplicationMessage message) {
        return group.hasOnlineMember(subscriber -> isExcluded(subscriber, absent, message));
    }

    /**
     * Another node counts as there, whoever of its members is. So a message that has crossed nodes often enough stays where it is:
     * it would go to and fro without end where nobody is there.
     */
    private static boolean isExcluded(Subscriber member, Session absent, ApplicationMessage message) {
        return member == absent || (message.crossings() >= MAXIMUM_CROSSINGS && !member.isLocal());
    }

    /**
     * Whether a session is not alone in a group.
     *
     * @param online whether only members count that are there
     */
    boolean hasOthers(Session session, Subscription subscription, boolean online) {
        SharedGroup group = subscription.shareName() == null ? null : groupOf(subscription);
        if (group == null) {
            return false;
        }
        if (online) {
            return group.hasOnlineMember(member -> member == session);
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
        return offer(absent, message, subscription, ticket, group, member -> isExcluded(member, absent, message));
    }

    private boolean offer(
            Session absent,
            ApplicationMessage message,
            Subscription subscription,
            RouteTicket ticket,
            SharedGroup group,
            Predicate<? super Subscriber> excluded) {
        Subscription other = group.selectExcept(message, member -> excluded.test(member.subscriber()));
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
        } else {
            redispatch(absent, message, subscription, ticket);
        }
        return true;
    }

    /**
     * Leaves a message of a session that has ended to the other members, also to absent ones. On the session's loop.
     *
     * @return false if nobody takes it
     */
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
