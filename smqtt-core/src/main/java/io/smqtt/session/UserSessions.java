// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.ClientIdentity;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The sessions of each user, oldest first, where a limit per user is set. Guarded by its own monitor; touched at connect only. */
final class UserSessions {

    private final int limit;
    private final Map<String, Set<Session>> byUser = new HashMap<>();
    private final Map<Session, String> users = new IdentityHashMap<>();

    UserSessions(int limit) {
        this.limit = limit;
    }

    private static String userOf(ClientIdentity client) {
        String name = client.userName();
        return name == null ? "" : name;
    }

    synchronized boolean hasRoom(ClientIdentity client) {
        Set<Session> sessions = byUser.get(userOf(client));
        return sessions == null || sessions.size() < limit;
    }

    /** Counts a session for its client's user, and for no other user any more. */
    synchronized void add(Session session) {
        remove(session);
        String user = userOf(session.client());
        users.put(session, user);
        byUser.computeIfAbsent(user, name -> new LinkedHashSet<>()).add(session);
    }

    synchronized void remove(Session session) {
        String user = users.remove(session);
        Set<Session> sessions = user == null ? null : byUser.get(user);
        if (sessions != null && sessions.remove(session) && sessions.isEmpty()) {
            byUser.remove(user);
        }
    }

    synchronized @Nullable Session oldestOffline(ClientIdentity client) {
        for (Session session : byUser.getOrDefault(userOf(client), Set.of())) {
            if (!session.isOnline() && !session.hasEnded()) {
                return session;
            }
        }
        return null;
    }
}
