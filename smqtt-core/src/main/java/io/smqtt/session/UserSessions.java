// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.ClientIdentity;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The sessions of each user, oldest first, where a limit per user is set. Guarded by its own monitor; touched at connect only. */
final class UserSessions {

    private final int limit;
    private final Map<String, Set<Session>> byUser = new HashMap<>();

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

    synchronized void add(Session session) {
        byUser.computeIfAbsent(userOf(session.client()), user -> new LinkedHashSet<>())
                .add(session);
    }

    synchronized void remove(Session session) {
        String user = userOf(session.client());
        Set<Session> sessions = byUser.get(user);
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
