// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of each user, oldest first, if a limit per user is set. Guarded by its own monitor; used only when sessions
 * begin and end.
 */
@AnyThread
final class UserSessions {

    private final int limit;
    private final Map<String, Set<Session>> byUser = new HashMap<>();

    UserSessions(int limit) {
        this.limit = limit;
    }

    private static String userOf(ClientIdentity client) {
        return keyOf(client.userName());
    }

    private static String keyOf(@Nullable String userName) {
        return userName == null ? "" : userName;
    }

    /** Whether a user, or null, has reached the limit. */
    synchronized boolean isFull(@Nullable String userName) {
        return byUser.getOrDefault(keyOf(userName), Set.of()).size() >= limit;
    }

    /** Adds a session, unless its user has reached the limit. */
    synchronized boolean addIfRoom(Session session) {
        Set<Session> sessions = byUser.get(userOf(session.client()));
        if (sessions != null && sessions.size() >= limit) {
            return false;
        }
        add(session);
        return true;
    }

    /** Adds a session regardless of the limit: it replaces another one, or exists already. */
    synchronized void add(Session session) {
        byUser.computeIfAbsent(userOf(session.client()), user -> new LinkedHashSet<>())
                .add(session);
    }

    /** Removes a session from the user of a client. */
    synchronized void remove(Session session, ClientIdentity client) {
        String user = userOf(client);
        Set<Session> sessions = byUser.get(user);
        if (sessions != null && sessions.remove(session) && sessions.isEmpty()) {
            byUser.remove(user);
        }
    }

    /** Removes and returns the user's oldest session without a connection, other than those of bridges; null if there is none. */
    synchronized @Nullable Session removeOldestOffline(ClientIdentity client) {
        String user = userOf(client);
        Iterator<Session> sessions = byUser.getOrDefault(user, Set.of()).iterator();
        while (sessions.hasNext()) {
            Session session = sessions.next();
            if (session.life().phase() == SessionPhase.ABSENT && !InProcess.isClosedToClients(session.id())) {
                sessions.remove();
                return session;
            }
        }
        return null;
    }

    synchronized int count(ClientIdentity client) {
        return byUser.getOrDefault(userOf(client), Set.of()).size();
    }
}
