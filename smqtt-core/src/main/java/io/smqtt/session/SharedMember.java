// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.thread.OnEventLoop;

/**
 * A session as a member of shared groups: what it offers to other members while its client is away, and what it takes from
 * them while its client is there; {@link GroupBacklog} goes between them. Owns whether the session is to ask for more.
 * There is none in a session that never had a shared subscription.
 */
@OnEventLoop
final class SharedMember {

    private final Session session;
    private final GroupBacklog groups;
    private boolean awaitsGroup;

    /** Messages in memory that are on their way to other nodes. */
    private int crossings;

    SharedMember(Session session, GroupBacklog groups) {
        this.session = session;
        this.groups = groups;
    }

    // --- while the client is away

    /** The connection is gone: what waits goes to other members, and so does the duty to ask for more. */
    void detached() {
        OutboundFlow flow = session.outboundOrNull();
        if (flow != null) {
            flow.drainShared(this::offer);
            session.forEachSubscription(this::held);
        }
        if (awaitsGroup) {
            awaitsGroup = false;
            session.forEachSubscription(this::passOn);
        }
    }

    private void held(Subscription subscription) {
        if (subscription.shareName() != null && session.mayHoldMessages()) {
            groups.held(subscription);
        }
    }

    /** A subscription is gone. */
    void unsubscribed(Subscription removed) {
        if (awaitsGroup) {
            passOn(removed);
        }
    }

    private void passOn(Subscription subscription) {
        if (subscription.shareName() != null) {
            groups.passOn(session, subscription);
        }
    }

    private boolean offer(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        return groups.offer(session, message, subscription, ticket);
    }

    /** Another member of a group is there: what waits here for nobody goes to it. */
    void handOver() {
        if (!session.isOnline() && !session.hasEnded() && !session.isDeparting() && session.mayHaveQueued()) {
            session.outbound().drainShared(this::offer);
        }
    }

    /** Members on another node can take more: what waits here for nobody goes there, as far as the round allows. */
    void handOver(HandOverRound round) {
        if (!session.isOnline() && !session.hasEnded() && !session.isDeparting() && session.mayHaveQueued()) {
            session.outbound().drainShared(new OutboundFlow.SharedReturn() {
                @Override
                public boolean offer(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
                    return SharedMember.this.offer(round, message, subscription, ticket);
                }

                @Override
                public boolean isBounded() {
                    return true;
                }

                @Override
                public boolean isSatisfied() {
                    return round.isOver();
                }
            });
        }
    }

    private boolean offer(
            HandOverRound round, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (!round.includes(subscription)) {
            return false;
        }
        boolean inMemory = ticket == RouteTicket.NONE;
        RouteTicket way = inMemory ? new Crossing(session, message, subscription) : ticket;
        boolean goes = groups.offerTo(round.node(), session, message, subscription, way);
        if (goes) {
            round.add(message);
            crossings += inMemory ? 1 : 0;
        }
        return goes;
    }

    /** Whether messages that no store has are on their way to other nodes, and may come back. */
    boolean hasCrossings() {
        return crossings > 0;
    }

    /** A message in memory is safe on another node, or it is not and waits here again. */
    void crossed(ApplicationMessage message, Subscription subscription, boolean safe) {
        crossings--;
        if (!safe) {
            groups.repeated(); // whoever did not keep it has counted the end of this delivery
            takeBack(message, subscription, RouteTicket.NONE);
        }
    }

    /** The member that was offered a message is gone. */
    private void offerAgain(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (session.hasEnded() || !(ticket instanceof Departure departure)) {
            session.take(message, subscription, ticket);
        } else if (session.isOnline() || !offer(message, subscription, ticket)) {
            departure.left();
        }
    }

    /** The member that was offered a message is full. */
    private void takeBack(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (ticket instanceof Departure departure) {
            departure.refused();
        } else if (session.hasEnded()) {
            groups.takeAfterEnd(session, message, subscription, ticket);
        } else {
            session.outbound().takeBack(message, subscription, ticket);
            session.awaitExpiryOf(message);
        }
    }

    /** Whether there are other members of the session's groups. */
    boolean hasPeers(boolean online) {
        boolean[] found = {false};
        session.forEachSubscription(
                subscription -> found[0] = found[0] || groups.hasOthers(session, subscription, online));
        return found[0];
    }

    // --- while the client is there

    /** A subscription was made, or its client has come: what waits for absent members goes to it. */
    void gather(Subscription subscription) {
        if (subscription.shareName() != null) {
            awaitsGroup |= session.hasBacklog(); // other nodes are asked when there is room
            groups.gather(session, subscription, false);
        }
    }

    /** A message has come that was asked for: there may be more. */
    void tookAskedFor() {
        awaitsGroup = true;
    }

    /**
     * An absent member offers a message: it is taken if it can be kept, or else goes back.
     *
     * @param ticket is held on the way, and given up here or there
     */
    void takeOffered(
            ApplicationMessage message,
            Subscription subscription,
            Session from,
            Subscription itsOwn,
            RouteTicket ticket) {
        if (session.hasEnded() || !session.isOnline()) {
            from.execute(() -> {
                from.member().offerAgain(message, itsOwn, ticket);
                ticket.release(true);
            });
        } else if (session.outbound().hasRoom(message)) {
            session.outbound().deliver(message, subscription, ticket);
            ticket.release(true);
        } else {
            awaitsGroup = true;
            from.execute(() -> {
                from.member().takeBack(message, itsOwn, ticket);
                ticket.release(true);
            });
        }
    }

    /** Absent members have more messages, which are asked for when nothing waits here. */
    void awaitGroup() {
        awaitsGroup = session.isOnline();
        gatherMore();
    }

    /** Asks for what absent members have when nothing waits here, if there is more. */
    void gatherMore() {
        if (awaitsGroup && !session.hasBacklog()) {
            awaitsGroup = false;
            session.forEachSubscription(subscription -> {
                if (subscription.shareName() != null) {
                    groups.gather(session, subscription, true);
                }
            });
        }
    }
}
