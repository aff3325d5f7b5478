// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.HeapWeight;
import io.smqtt.message.LogText;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims a session that did not fit at the start. The session is read from the store and restored if it fits now. If its
 * client discards it, or it has expired, it ends instead, without restoring its subscriptions and regardless of limits.
 * Further claims of the client wait until then. On the event loop of the claim.
 */
@OnEventLoop
final class LeftOutClaim {

    private static final Logger LOG = LoggerFactory.getLogger(LeftOutClaim.class);

    private final SessionServices services;
    private final SessionResources resources;
    private final SessionTable sessions;
    private final Stores stores;
    private final LeftOut others;
    private final Claimant claimant;
    private long number;

    /**
     * The origin of a claim.
     *
     * @param clientId the client identifier
     * @param userName the user, or null
     * @param discard whether the session is to end
     * @param loop the current event loop
     * @param then runs on that loop when the session is restored, or no longer exists
     * @param refused receives on that loop the reason why the session stays in the store
     */
    record Claimant(
            String clientId,
            @Nullable String userName,
            boolean discard,
            RoutingLoop loop,
            Runnable then,
            Consumer<ReasonCode> refused) {}

    LeftOutClaim(SessionServices services, SessionTable sessions, Stores stores, LeftOut others, Claimant claimant) {
        this.services = services;
        this.resources = services.resources();
        this.sessions = sessions;
        this.stores = stores;
        this.others = others;
        this.claimant = claimant;
    }

    /** Begins to read; returns false if the client has no such session: no callback runs then. */
    boolean begin() {
        RoutingLoop loop = claimant.loop;
        number = others.begin(claimant.clientId, () -> loop.executor().execute(claimant.then));
        if (number > 0) {
            stores.store().find(number, loop.executor(), this::found, this::missing);
        }
        return number != LeftOut.NONE;
    }

    private void missing(@Nullable Throwable failure) {
        if (failure == null) {
            back();
        } else {
            stays(ReasonCode.QUOTA_EXCEEDED);
        }
    }

    private void found(FoundSession found) {
        Runnable next;
        try {
            next = take(found);
        } catch (RuntimeException e) { // waiting claims must not wait for ever
            LOG.error("the stored session of {} cannot be used", LogText.escape(claimant.clientId), e);
            next = () -> stays(ReasonCode.QUOTA_EXCEEDED);
        }
        next.run();
    }

    /** Decides whether the session is restored, ends or stays. Returns the next action. */
    private Runnable take(FoundSession found) {
        StoredSession header = found.session();
        if (!header.clientId().equals(claimant.clientId)) { // hash collision of two client identifiers
            return () -> stays(ReasonCode.QUOTA_EXCEEDED);
        }
        Session session = sessions.found(services, claimant.loop, header, found.waiting());
        boolean expired = header.expiresAtMillis() != StoredSession.CONNECTED
                && header.expiresAtMillis() <= stores.store().clockMillis();
        boolean superseded = sessions.find(claimant.clientId) != null; // by a session of another node
        if (!expired && !superseded && !session.mayBeClaimedBy(claimant.userName)) {
            return () -> stays(ReasonCode.NOT_AUTHORIZED);
        }
        if (expired || superseded || claimant.discard || header.expirySeconds() == 0) {
            end(session, found, expired, superseded);
            // it must not return after a crash; a failing store must not block the client
            return () -> session.afterCommit(kept -> back());
        }
        return fits(session, found) ? this::back : () -> stays(ReasonCode.QUOTA_EXCEEDED);
    }

    /** Ends the session without restoring it. */
    private void end(Session session, FoundSession found, boolean expired, boolean superseded) {
        arrived(found);
        session.charge().add(session.charge().weight());
        if (expired) {
            session.life().expireIfOffline();
        } else if (superseded) { // the will belongs to the client's newer session
            session.life().end(false);
        } else {
            session.life().endConnection(true);
            session.life().end(false);
        }
    }

    /** Restores the session if it fits. */
    private boolean fits(Session session, FoundSession found) {
        long weight = session.charge().weight();
        List<Subscription> subscriptions = subscriptions(session, found);
        for (Subscription subscription : subscriptions) {
            weight += HeapWeight.subscription(subscription.filter().value(), subscription.shareName());
        }
        if (resources.refused(session.charge().refusalOfStored(weight))) {
            return false;
        }
        arrived(found);
        sessions.recovered(session);
        subscriptions.forEach(session.subscriptions()::recover);
        SessionRecord record = session.record();
        if (record != null) {
            record.numbersFound(found.released());
        }
        found.received().forEach(packetId -> session.inbound().received(packetId));
        claimant.loop.executor().execute(() -> session.life().awaitClient()); // if the client does not take it over now
        return true;
    }

    private static List<Subscription> subscriptions(Session session, FoundSession found) {
        List<Subscription> all = new ArrayList<>(found.subscriptions().size());
        for (StoredSubscription stored : found.subscriptions()) {
            all.add(session.subscriptions().of(stored));
        }
        return all;
    }

    /** Adds the waiting messages to the account: they were not counted at the start. */
    private void arrived(FoundSession found) {
        int count = found.waiting().messages();
        if (count > 0) {
            resources.observer().deliveriesAdded(DeliverySource.RECOVERED, count);
        }
    }

    private void back() {
        resources.sessionBudget().leftOut(-1);
        others.end(claimant.clientId, number, false);
        claimant.then.run();
    }

    private void stays(ReasonCode reason) {
        others.end(claimant.clientId, number, true);
        claimant.refused.accept(reason);
    }
}
