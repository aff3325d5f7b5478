// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.HeapWeight;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a session holds by {@link HeapWeight}, as it is charged to its user in the {@link SessionBudget}, and the limits against more. */
@OnEventLoop
final class SessionCharge {

    private final Session session;

    /** Written by the event loop alone. */
    private volatile int bytes;

    private volatile short user;

    /** The part that is counted while the client is away. */
    private int flowBytes;

    SessionCharge(Session session) {
        this.session = session;
    }

    private SessionBudget budget() {
        return session.resources().sessionBudget();
    }

    /** What was charged. */
    @AnyThread
    int bytes() {
        return bytes;
    }

    /** The user that is charged. */
    @AnyThread
    short user() {
        return user;
    }

    // --- what is counted

    /** What the session takes without its subscriptions. */
    int weight() {
        return weight(session.client()) + HeapWeight.will(session.absence().will());
    }

    private int weight(ClientIdentity client) {
        return HeapWeight.session(session.id(), client.userName(), client.roles(), session.isStored());
    }

    /** Counts what the session holds more, or less. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written by the event loop alone
    void add(int change) {
        if (session.hasEnded()) {
            return; // everything was given back
        }
        if (bytes == 0) {
            user = budget().user(session.client().userName());
        }
        bytes += change;
        budget().add(change, user);
    }

    /** Counts nothing any more. Before the session has ended. */
    void release() {
        add(-bytes);
    }

    /**
     * Counts what is kept for messages while the client is away: when it leaves, and when the first message comes after that.
     * While it is connected that is a small part of its connection, which other limits are for.
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

    /** The session is of another client, maybe of another user, from now on. */
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

    /** The limit that stands against the session when it begins, maybe in the place of another one; null if none does. */
    @Nullable
    String refusal(long weight, @Nullable Session replaced) {
        boolean shared = isShared(session.expirySeconds());
        return refusal(budget(), replaced, weight, session.client().userName(), shared);
    }

    /** The same for a session that was found in the store, and was let in before. */
    @Nullable
    String refusalOfStored(long weight) {
        return refusal(budget(), null, weight, session.client().userName(), false);
    }

    /** The limit that stands against so many bytes more of a session that was found in the store; null if none does. */
    @Nullable
    String refusalOfRest(int more) {
        return refusal(budget(), session, bytes + (long) more, session.client().userName(), false);
    }

    /** The limit that stands against one more subscription; null if none does. */
    @Nullable
    String refusalOfSubscription(int more) {
        return refusal(bytes + (long) more, session);
    }

    /** The limit that stands against the client of a request, with its will in the place of the present one; null if none does. */
    @Nullable
    String refusal(SessionRequest request) {
        ClientIdentity next = request.client();
        long weight = bytes - (long) flowBytes - weight() + weight(next) + HeapWeight.will(request.will());
        return refusal(budget(), session, weight, next.userName(), isShared(request.expirySeconds()));
    }

    /**
     * The limit that stands against a session of a user in the place of another one; null if none does.
     *
     * @param replaced what goes, which may be the session itself as it is; null for nothing
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

    /** Whether limits hold that keep clients from each other: for a client that leaves something behind. */
    private boolean isShared(long expirySeconds) {
        return expirySeconds > 0 && session.pressure() == null;
    }
}
