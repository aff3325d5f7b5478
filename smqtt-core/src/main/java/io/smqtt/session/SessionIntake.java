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
 * Handles messages that are routed to a session during and shortly after a move: they are held back, or skipped if another
 * node has taken them. A session has an intake only during that time.
 */
@OnEventLoop
final class SessionIntake {

    private final SessionResources resources;
    private final @Nullable ConsumerPressure pressure;
    private final HeldMessages.Taker taker;
    private final Runnable changed;

    /** The newest held messages; null if nothing is held back. */
    private @Nullable HeldMessages held;

    /** Whether messages that come first are awaited: others are held back. */
    private boolean awaitsEarlier;

    /** The messages that are held back meanwhile; null without any. */
    private @Nullable HeldMessages later;

    /** Deliveries that came from another node and may also come here: {@link TakenMessages#idOf}. */
    private @Nullable Set<Long> cameElsewhere;

    /**
     * Creates an idle intake.
     *
     * @param pressure the back-pressure of an in-process consumer; null for a client
     * @param taker takes messages now
     * @param changed called when the intake may be idle again
     */
    SessionIntake(
            SessionResources resources,
            @Nullable ConsumerPressure pressure,
            HeldMessages.Taker taker,
            Runnable changed) {
        this.resources = resources;
        this.pressure = pressure;
        this.taker = taker;
        this.changed = changed;
    }

    /** Whether all messages are taken at once. */
    boolean isIdle() {
        return held == null && cameElsewhere == null && !awaitsEarlier;
    }

    /** Delivers a message that was routed to the session. */
    void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (isKnown(message, subscription)) {
            return;
        }
        boolean first = awaitsEarlier && ticket.comesFirst();
        if (awaitsEarlier && !first && held == null) {
            later = holdBack(true);
        }
        passOn(first && held == later ? null : held, message, subscription, ticket);
    }

    /** Delivers a message that was routed to the session's previous event loop. */
    void deliverPassedOn(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        HeldMessages moving = held; // messages that arrive now are older
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

    /** Takes a message unless another node has taken it. */
    void take(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (!isKnown(message, subscription)) {
            taker.take(message, subscription, ticket);
        }
    }

    // --- held back

    /** Holds back messages from now on, but for those that come first: {@link RouteTicket#comesFirst}. */
    void awaitEarlier() {
        awaitsEarlier = true;
    }

    boolean awaitsEarlier() {
        return awaitsEarlier;
    }

    /** Ends {@link #awaitEarlier}, and passes on what was held back. */
    void takeLater(HeldMessages.Taker first) {
        HeldMessages messages = later;
        awaitsEarlier = false;
        later = null;
        if (messages == null) {
            changed.run();
        } else {
            stopHolding(messages);
            messages.letGo(first);
        }
    }

    /**
     * Holds back messages from now on.
     *
     * @param betweenNodes whether the session moves between nodes. Its publishers are then notified of messages that do not
     *     fit, and messages of shared groups are not held back, since other members can take them
     * @return the held messages
     */
    HeldMessages holdBack(boolean betweenNodes) {
        HeldMessages messages = new HeldMessages(resources, pressure, betweenNodes ? taker : null);
        messages.follow(held);
        held = messages;
        return messages;
    }

    /** Ends {@link #holdBack} and delivers the held messages. */
    void letGo(HeldMessages messages) {
        stopHolding(messages);
        HeldMessages before = messages.before();
        messages.letGo((message, subscription, ticket) -> passOn(before, message, subscription, ticket));
    }

    /** Ends {@link #holdBack} without delivering the held messages. */
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
        changed.run();
    }

    // --- taken by another node

    private boolean isKnown(ApplicationMessage message, Subscription subscription) {
        boolean known = cameElsewhere != null && cameElsewhere.remove(TakenMessages.idOf(message, subscription));
        if (known) {
            resources.observer().messageElsewhere(Elsewhere.DUPLICATE, 1);
        }
        return known;
    }

    /** Sets deliveries that must not be taken again. */
    void cameElsewhere(Set<Long> ids) {
        cameElsewhere = ids;
    }

    /** Resets deliveries that were set before. */
    void clearCameElsewhere(Set<Long> ids) {
        if (cameElsewhere == ids) { // not one of a later move
            cameElsewhere = null;
        }
        changed.run();
    }
}
