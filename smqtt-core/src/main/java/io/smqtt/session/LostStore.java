// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * The end of the broker's own store while the broker runs, because another node serves it. Clients of its sessions are disconnected, and find no session here
 * any more. The subscriptions stay: the routes of the other node may not be known yet, and a message must not be acknowledged because it has no subscriber.
 * The store refuses it.
 */
final class LostStore {

    private static final int AT_ONCE = 500;

    private final SessionResources resources;
    private final SessionTable sessions;
    private final SessionClaims claims;
    private final Stores own;

    LostStore(SessionResources resources, SessionTable sessions, SessionClaims claims, Stores own) {
        this.resources = resources;
        this.sessions = sessions;
        this.claims = claims;
        this.own = own;
    }

    /** Ends it on each event loop, some sessions at a time. */
    @AnyThread
    void end() {
        List<Queue<Session>> byLoop = new ArrayList<>();
        resources.router().loops().forEach(loop -> byLoop.add(new ArrayDeque<>()));
        for (Session session : sessions.all()) {
            if (session.isStored() && session.home() == null) {
                byLoop.get(session.owner().index()).add(session);
            }
        }
        for (RoutingLoop loop : resources.router().loops()) {
            loop.executor().execute(() -> {
                own.end(loop);
                next(loop, byLoop.get(loop.index()));
            });
        }
    }

    private void next(RoutingLoop loop, Queue<Session> mine) {
        for (int i = 0; i < AT_ONCE && !mine.isEmpty(); i++) {
            Session session = mine.remove();
            claims.claimHere(session, loop, session.life()::lose);
        }
        if (!mine.isEmpty()) {
            loop.executor().execute(() -> next(loop, mine));
        }
    }
}
