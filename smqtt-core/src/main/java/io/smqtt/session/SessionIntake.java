// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.Elsewhere;
import io.smqtt.thread.OnEventLoop;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of messages that are routed to a session while it moves, and for a while after: they are held back, or were taken already
 * by another node. A session has one only as long as that is so.
 */
@OnEventLoop
final class SessionIntake {

    private final Session session;

    /** Those that are held back last; null if nothing is held back. */
    private @Nullable HeldMessages held;

    /** Deliveries that came by another node, and may come here as well: {@link TakenMessages#idOf}. */
    private @Nullable Set<Long> cameElsewhere;

    SessionIntake(Session session) {
        this.session = session;
    }

    /** Whether messages are taken at once, whatever they are. */
    boolean isIdle() {
        return held == null && cameElsewhere == null;
    }

    /** A message was routed to the session. */
    void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (!isKnown(message, subscription)) {
            passOn(held, message, subscription, ticket);
        }
    }

    /** A message was routed to the event loop that had the session before. */
    void deliverPassedOn(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        HeldMessages moving = held; // what comes now is older
        passOn(moving == null ? null : moving.before(), message, subscription, ticket);
    }

    private void passOn(
            @Nullable HeldMessages to, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (to == null) {
            take(message, subscription, ticket);
        } else {
            to.hold(message, subscription, ticket);
        }
    }

    /** The session takes a message, unless another node has. */
    void take(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (!isKnown(message, subscription)) {
            session.take(message, subscription, ticket);
        }
    }

    // --- held back

    /** Holds back what comes from now on. */
    void holdBack(HeldMessages messages) {
        messages.follow(held);
        held = messages;
    }

    /** Ends {@link #holdBack}; what was held back goes on. */
    void letGo(HeldMessages messages) {
        stopHolding(messages);
        HeldMessages before = messages.before();
        messages.letGo((message, subscription, ticket) -> passOn(before, message, subscription, ticket));
    }

    /** Ends {@link #holdBack}; what was held back stays where it is. */
    void stopHolding(HeldMessages messages) {
        HeldMessages after = null;
        HeldMessages at = held;
        while (at != null && at != messages) {
            after = at;
            at = at.before();
        }
        if (after == null) {
            held = messages.before();
        } else {
            after.follow(messages.before());
        }
        session.intakeChanged();
    }

    // --- taken by another node

    private boolean isKnown(ApplicationMessage message, Subscription subscription) {
        boolean known = cameElsewhere != null && cameElsewhere.remove(TakenMessages.idOf(message, subscription));
        if (known) {
            session.resources().observer().messageElsewhere(Elsewhere.DUPLICATE, 1);
        }
        return known;
    }

    /** These deliveries are not taken again. */
    void cameElsewhere(Set<Long> ids) {
        cameElsewhere = ids;
    }

    /** Deliveries that were set before are not looked at any more. */
    void cameElsewhereNoMore(Set<Long> ids) {
        if (cameElsewhere == ids) { // not one of a later move
            cameElsewhere = null;
        }
        session.intakeChanged();
    }
}
