// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.HeapWeight;
import io.smqtt.message.Will;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that a session holds by {@link HeapWeight}, charged to its user in the {@link SessionBudget}, and the checks of
 * their limits.
 */
@OnEventLoop
final class SessionCharge {

    private final Session session;

    /** Written by the event loop alone. */
    private volatile int bytes;

    private volatile short user;

    /** The part that is charged while the client is offline. */
    private int flowBytes;

    SessionCharge(Session session) {
        this.session = session;
    }

    private SessionBudget budget() {
        return session.resources().sessionBudget();
    }

    /** The charged bytes. */
    @AnyThread
    int bytes() {
        return bytes;
    }

    /** The user who is charged. */
    @AnyThread
    short user() {
        return user;
    }

    // --- charges

    /** The weight of the session without its subscriptions. */
    int weight() {
        return weight(session.client()) + HeapWeight.will(session.absence().will());
    }

    private int weight(ClientIdentity client) {
        return HeapWeight.session(session.id(), client.userName(), client.roles(), session.isStored());
    }

    /** Changes the charge. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written by the event loop alone
    void add(int change) {
        if (session.hasEnded()) {
            return; // the charge was released
        }
        if (bytes == 0) {
            user = budget().user(session.client().userName());
        }
        bytes += change;
        budget().add(change, user);
    }

    /** Releases the whole charge. Before the session has ended. */
    void release() {
        add(-bytes);
    }

    /**
     * Charges the memory for messages while the client is offline: when it disconnects, and when the first message arrives
     * after that. While it is connected, other limits cover this small part of its connection.
     */
    void addFlows() {
        InboundFlow inbound = session.inboundOrNull();
        int room = inbound == null ? 0 : inbound.room();
        boolean away = !session.isOnline() && !session.hasEnded();
        int weight = away ? HeapWeight.flows(session.outboundOrNull() != null, room) : 0;
        if (weight != flowBytes) {
            add(weight - flowBytes);
            flowBytes = weight;
        }
    }

    /** Moves the charge to another client, perhaps of another user. */
    void clientChanged(ClientIdentity before, ClientIdentity now) {
        if (!Objects.equals(before.userName(), now.userName())
                || !before.roles().equals(now.roles())) {
            short charged = budget().user(now.userName());
            budget().move(bytes, user, charged);
            user = charged;
            add(weight(now) - weight(before));
        }
    }

    // --- the limits

    /** Returns the limit that a new session exceeds, perhaps in place of another one; null if none. */
    @Nullable
    String refusal(long weight, @Nullable Session replaced) {
        boolean shared = isShared(session.expirySeconds());
        return refusal(budget(), replaced, weight, session.client().userName(), shared);
    }

    /** Returns the limit that a recovered session exceeds, which was admitted before; null if none. */
    @Nullable
    String refusalOfStored(long weight) {
        return refusal(budget(), null, weight, session.client().userName(), false);
    }

    /** Returns the limit that a recovered session exceeds with more bytes; null if none. */
    @Nullable
    String refusalOfRest(int more) {
        return refusal(budget(), session, bytes + (long) more, session.client().userName(), false);
    }

    /** Returns the limit that one more subscription exceeds; null if none. */
    @Nullable
    String refusalOfSubscription(int more) {
        return refusal(bytes + (long) more, session);
    }

    /** Returns the limit that the session exceeds with a new connection and its will; null if none. */
    @Nullable
    String refusal(ClientIdentity next, long expirySeconds, @Nullable Will will) {
        long weight = bytes - (long) flowBytes - weight() + weight(next) + HeapWeight.will(will);
        return refusal(budget(), session, weight, next.userName(), isShared(expirySeconds));
    }

    /**
     * Returns the limit that a user's session exceeds in place of another one; null if none.
     *
     * @param replaced the charge of the replaced session, or of this one before the change; null for none
     */
    @AnyThread
    static @Nullable String refusal(
            SessionBudget budget, @Nullable Session replaced, long weight, @Nullable String userName, boolean shared) {
        short user = budget.user(userName);
        if (replaced == null) {
            return budget.refusal(0, user, weight, user, shared);
        }
        SessionCharge present = replaced.charge();
        return budget.refusal(present.bytes, present.user, weight, user, shared);
    }

    /** Whether the limits that protect clients from each other apply: for a session that outlives its connection. */
    private boolean isShared(long expirySeconds) {
        return expirySeconds > 0 && session.pressure() == null;
    }
}
