// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.HeapWeight;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Claims of client identifiers, by a connection of this node or by another node. A session serves its claims one after the
 * other, on its event loop. {@link #claim} is the only place where a claim waits for its turn, and follows a session that
 * moves.
 */
final class SessionClaims {

    private final SessionServices services;
    private final SessionResources resources;
    private final SessionTable sessions;
    private volatile @Nullable LeftOut leftOut;

    SessionClaims(SessionServices services, SessionTable sessions) {
        this.services = services;
        this.resources = services.resources();
        this.sessions = sessions;
    }

    // --- by a connection

    /** See {@link SessionRegistry#open}. */
    @OnEventLoop
    void open(SessionRequest request) {
        String clientId = request.client().clientId();
        while (true) {
            Session existing = sessions.find(clientId);
            if (existing != null) {
                claim(existing, request.loop(), here -> takeOver(existing, request, here));
                return;
            }
            Session fresh = create(request);
            int weight = fresh.charge().weight() + HeapWeight.will(request.will());
            String limit = fresh.charge().refusal(weight, null);
            boolean discardsNothing = limit != null && request.cleanStart(); // the client is refused
            if (!discardsNothing
                    && isLeftOut(new LeftOutClaim.Claimant(
                            clientId,
                            request.client().userName(),
                            request.cleanStart(),
                            request.loop(),
                            () -> open(request),
                            request.reply()::refused))) {
                return;
            }
            if (resources.refused(limit) || !sessions.admit(fresh)) {
                request.reply().refused(ReasonCode.QUOTA_EXCEEDED);
                return;
            }
            fresh.charge().add(weight);
            if (sessions.add(fresh)) {
                begin(fresh, request);
                return;
            }
            fresh.charge().add(-weight);
        }
    }

    private Session create(SessionRequest request) {
        Stores stores = resources.stores();
        long number = stores == null || request.expirySeconds() == 0
                ? 0
                : stores.store().newSession();
        Session fresh = new Session(
                services,
                sessions,
                request.loop(),
                request.client(),
                request.expirySeconds(),
                SessionPhase.OPENING,
                stores,
                number,
                SessionRecord.NOTHING_WAITS);
        if (request.cleanStart()) {
            fresh.life().beginsClean();
        }
        return fresh;
    }

    /** Attaches the first connection to a new session after the store has committed it. On the event loop of both. */
    @OnEventLoop
    private void begin(Session fresh, SessionRequest request) {
        fresh.life().created();
        SessionRecord record = fresh.record();
        if (record == null) {
            begun(fresh, request, true);
        } else {
            record.connected(request.client(), request.expirySeconds(), request.will());
            record.await(kept -> begun(fresh, request, kept));
        }
    }

    @OnEventLoop
    private void begun(Session fresh, SessionRequest request, boolean kept) {
        if (fresh.hasEnded()) { // another claim has ended it
            open(request);
        } else if (kept) {
            attach(fresh, request);
            request.reply().opened(fresh, false);
        } else {
            fresh.life().end(false);
            request.reply().refused(storeRefusal());
        }
        fresh.life().runWaiting();
    }

    /** Replaces the session's connection; resumes the session, or replaces it by a new one. */
    @OnEventLoop
    private void takeOver(Session session, SessionRequest request, RoutingLoop here) {
        SessionRecord record = session.record();
        if (session.hasEnded()) {
            request.loop().executor().execute(() -> open(request));
        } else if (!session.mayBeClaimedBy(request.client().userName())) {
            refuse(request, ReasonCode.NOT_AUTHORIZED);
        } else if (request.cleanStart() || session.expirySeconds() == 0) { // [MQTT-3.1.2-4] [MQTT311-3.1.2-6]
            replace(session, request); // without expiry it ends with its connection, whatever the new one requests
        } else if (resources.refused(
                session.charge().refusal(request.client(), request.expirySeconds(), request.will()))) {
            refuse(request, ReasonCode.QUOTA_EXCEEDED);
        } else if (session.home() != null) {
            moveHere(session, request);
        } else if (record == null) {
            session.charge().add(HeapWeight.will(request.will()));
            resume(session, request, here);
        } else {
            resumeStored(session, record, request, here);
        }
    }

    /** Moves the session from an adopted store to that of this node; then the claim is served. */
    @OnEventLoop
    private void moveHere(Session session, SessionRequest request) {
        session.life().endConnection(false);
        new LocalMove(services, this, session)
                .begin(moved -> request.loop().executor().execute(() -> {
                    if (moved) {
                        open(request);
                    } else {
                        if (sessions.find(session.id())
                                != session) { // it is in both stores, and no claim finds it here
                            LocalMove.untilMoved(services, this, session);
                        }
                        request.reply().refused(ReasonCode.SERVER_UNAVAILABLE);
                    }
                }));
    }

    /** Begins the arrival of a session in this node's store, see {@link SessionRegistry#merge}. The source is null if it comes from another node. */
    SessionArrival merge(SessionState state, @Nullable Session source) {
        Session here = sessions.find(state.clientId());
        if (here == null || here.hasEnded() || here == source) {
            return arrive(state, source);
        }
        boolean allowed = here.mayBeClaimedBy(state.userName());
        boolean newer = state.claimClock() > here.claimClock();
        if (state.cleanClock() > here.claimClock() || (newer && !allowed)) {
            return arrive(state, source); // replaces the session here
        }
        boolean unwanted = here.life().cleanClock() > state.claimClock() || !allowed;
        return new MergingTransfer(resources, services.history(), here, state, unwanted);
    }

    private SessionArrival arrive(SessionState state, @Nullable Session source) {
        return new ReplacingTransfer(services, sessions, loopOf(state.clientId()), state, source);
    }

    /** Runs a task on the session's event loop, after the claims before it. */
    @AnyThread
    void whenSettled(Session session, Runnable task) {
        RoutingLoop owner = session.owner();
        owner.executor().execute(() -> claim(session, owner, here -> task.run()));
    }

    /** The same on its event loop: at once if no claim is before it. */
    @OnEventLoop
    void claimHere(Session session, RoutingLoop here, Runnable task) {
        claim(session, here, loop -> task.run());
    }

    private ReasonCode storeRefusal() {
        Stores stores = resources.stores();
        return stores == null ? ReasonCode.QUOTA_EXCEEDED : stores.store().refusal();
    }

    private static void refuse(SessionRequest request, ReasonCode reason) {
        request.loop().executor().execute(() -> request.reply().refused(reason));
    }

    /** Replaces a session that a clean start discards by a new one. */
    @OnEventLoop
    private void replace(Session old, SessionRequest request) {
        Session fresh = create(request);
        int weight = fresh.charge().weight() + HeapWeight.will(request.will());
        if (resources.refused(fresh.charge().refusal(weight, old))) {
            refuse(request, ReasonCode.QUOTA_EXCEEDED);
            return;
        }
        old.life().endConnection(true);
        fresh.charge().add(weight);
        sessions.replace(old, fresh);
        old.life().end(false);
        // the old one must not return after a crash; a failing store must not block the client
        old.afterCommit(kept -> request.loop().executor().execute(() -> begin(fresh, request)));
    }

    /** Resumes the session after the store has committed that it has a client again. */
    @OnEventLoop
    private void resumeStored(Session session, SessionRecord record, SessionRequest request, RoutingLoop here) {
        session.life().become(SessionPhase.RESUMING);
        int will = HeapWeight.will(request.will());
        session.charge().add(will);
        SessionRecord.Before before = record.before();
        record.connected(request.client(), request.expirySeconds(), request.will());
        int version = record.version();
        record.await(kept -> {
            if (session.hasEnded()) {
                request.loop().executor().execute(() -> open(request));
            } else if (!kept) {
                session.charge().add(-will);
                record.restore(before);
                session.life().settle();
                refuse(request, storeRefusal());
            } else if (record.version() != version) { // the old connection has ended
                session.charge().add(-will);
                session.life().settle();
                takeOver(session, request, here);
            } else {
                resume(session, request, here);
            }
            session.life().runWaiting();
        });
    }

    /** Attaches a connection to the session, perhaps on another event loop [MQTT-3.1.2-5]. */
    @OnEventLoop
    private void resume(Session session, SessionRequest request, RoutingLoop here) {
        session.life().endConnection(false);
        RoutingLoop target = request.loop();
        if (target == here) {
            resumed(session, request);
            return;
        }
        new LoopTransfer(session, resources.router()).begin(target, () -> resumed(session, request));
    }

    @OnEventLoop
    private void resumed(Session session, SessionRequest request) {
        if (session.hasEnded()) { // while it moved
            open(request);
            return;
        }
        attach(session, request);
        session.subscriptions().recheck();
        request.reply().opened(session, true);
    }

    private static void attach(Session session, SessionRequest request) {
        session.life().attach(request.sink(), request.client(), request.expirySeconds(), request.will());
    }

    // --- by another node

    /** See {@link SessionRegistry#depart}. */
    @AnyThread
    void depart(String clientId, boolean discard, @Nullable String userName, SessionDeparture.Reply reply) {
        Session session = sessions.find(clientId);
        if (session != null) {
            RoutingLoop owner = session.owner();
            owner.executor().execute(() -> claim(session, owner, here -> depart(session, discard, userName, reply)));
        } else if (leftOut == null) {
            reply.gone();
        } else {
            RoutingLoop loop = loopOf(clientId);
            loop.executor().execute(() -> {
                if (!isLeftOut(new LeftOutClaim.Claimant(
                        clientId,
                        userName,
                        discard,
                        loop,
                        () -> depart(clientId, discard, userName, reply),
                        reason -> refused(reply, reason)))) {
                    reply.gone();
                }
            });
        }
    }

    private static void refused(SessionDeparture.Reply reply, ReasonCode reason) {
        if (reason == ReasonCode.NOT_AUTHORIZED) {
            reply.refused();
        } else {
            reply.busy();
        }
    }

    @OnEventLoop
    private void depart(Session session, boolean discard, @Nullable String userName, SessionDeparture.Reply reply) {
        if (session.hasEnded()) {
            reply.gone();
        } else if (!session.mayBeClaimedBy(userName)) {
            reply.refused();
        } else if (discard || session.expirySeconds() == 0) { // [MQTT-3.1.2-4]
            session.life().endConnection(true);
            session.life().end(false);
            session.afterCommit(kept -> reply.gone());
        } else {
            session.life().endConnection(false);
            new OutgoingTransfer(session, resources).begin(reply);
        }
    }

    /** Chooses the event loop for a session that no client of this node has claimed. */
    RoutingLoop loopOf(String clientId) {
        List<RoutingLoop> loops = resources.router().loops();
        int hash = clientId.hashCode();
        return loops.get(Math.floorMod(hash ^ hash >>> 16, loops.size()));
    }

    // --- order of claims

    /** The action of a claim. */
    @FunctionalInterface
    private interface Service {
        void serve(RoutingLoop here);
    }

    /**
     * Serves a claim on the session's event loop, after the claims before it.
     *
     * @param here the current event loop
     */
    private void claim(Session session, RoutingLoop here, Service service) {
        RoutingLoop owner = session.owner();
        if (owner != here) {
            owner.executor().execute(() -> claim(session, owner, service));
            return;
        }
        switch (session.life().phase()) {
            case OPENING, RESUMING, MOVING, DEPARTING -> session.life().afterwards(() -> claim(session, here, service));
            case CONNECTED, ABSENT, ENDED -> service.serve(here);
        }
    }

    // --- sessions that do not fit

    /** Registers a session in the store that does not fit into memory. At the start. */
    void leftOut(String clientId, long number) {
        LeftOut others = leftOut;
        if (others == null) {
            others = new LeftOut();
            leftOut = others;
        }
        others.add(clientId, number);
        resources.sessionBudget().leftOut(1);
    }

    boolean hasLeftOut() {
        return leftOut != null;
    }

    @AnyThread
    boolean hasLeftOut(String clientId) {
        LeftOut others = leftOut;
        return others != null && others.has(clientId);
    }

    /** Whether the client's session did not fit at the start; if so, the claim continues when it was read. */
    private boolean isLeftOut(LeftOutClaim.Claimant claimant) {
        LeftOut others = leftOut;
        Stores stores = resources.stores();
        return others != null
                && stores != null
                && new LeftOutClaim(services, sessions, stores, others, claimant).begin();
    }
}
