// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;

/**
 * A session as a member of shared groups: what it offers to other members while its client is away, and what it takes
 * from them while its client is there; {@link GroupBacklog} goes between them. Owns whether the session is to ask for
 * more. There is none in a session that never had a shared subscription. On the session's event loop.
 */
final class SharedMember {

    private final Session session;
    private final GroupBacklog groups;
    private boolean awaitsGroup;

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
        }
        if (awaitsGroup) {
            awaitsGroup = false;
            session.forEachSubscription(this::passOn);
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

    boolean offer(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        return groups.offer(session, message, subscription, ticket);
    }

    /** Another member of a group is there: what waits here for nobody goes to it. */
    void handOver() {
        if (!session.isOnline() && !session.hasEnded() && !session.isDeparting() && session.mayHaveQueued()) {
            session.outbound().drainShared(this::offer);
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
            groups.gather(session, subscription, false);
        }
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
        if (awaitsGroup && session.queuedCount() == 0) {
            awaitsGroup = false;
            session.forEachSubscription(subscription -> {
                if (subscription.shareName() != null) {
                    groups.gather(session, subscription, true);
                }
            });
        }
    }
}
