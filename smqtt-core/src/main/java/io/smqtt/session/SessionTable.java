// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Collections;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/** The sessions of a node by client identifier, and by user if their number per user is limited. Thread-safe. */
final class SessionTable implements Session.Listener {

    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("unknown", 0);
    private static final String NO_LISTENER = "";

    private final ConcurrentMap<String, Session> sessions = new ConcurrentHashMap<>();
    private final int maximum;
    private final @Nullable UserSessions users;

    SessionTable(LimitsConfig limits) {
        maximum = limits.maxSessions();
        users = limits.maxSessionsPerUser() > 0 ? new UserSessions(limits.maxSessionsPerUser()) : null;
    }

    @AnyThread
    @Nullable
    Session find(String clientId) {
        return sessions.get(clientId);
    }

    /** A weakly consistent view. */
    @AnyThread
    Collection<Session> all() {
        return Collections.unmodifiableCollection(sessions.values());
    }

    /** Whether the limit of sessions is reached. */
    @AnyThread
    boolean isFull() {
        return sessions.size() >= maximum;
    }

    /** Whether the limit of sessions, or that of a user, is reached. */
    @AnyThread
    boolean isFullFor(@Nullable String userName) {
        return isFull() || (users != null && users.isFull(userName));
    }

    /**
     * Adds a session whose client has none.
     *
     * @return false if another connection with the same client identifier came first
     */
    boolean add(Session fresh) {
        if (sessions.putIfAbsent(fresh.id(), fresh) == null) {
            return true;
        }
        if (users != null) {
            users.remove(fresh, fresh.client());
        }
        return false;
    }

    /** Creates a session that was found in the store, with what is stored of its client. It is not in the table yet. */
    Session found(SessionServices services, RoutingLoop loop, StoredSession stored, StoredQueue waiting) {
        return found(services, services.resources().stores(), loop, stored, waiting);
    }

    /** The same for a session of a store. */
    Session found(
            SessionServices services,
            @Nullable Stores stores,
            RoutingLoop loop,
            StoredSession stored,
            StoredQueue waiting) {
        ClientIdentity client = new ClientIdentity(
                stored.clientId(), stored.userName(), NOWHERE, NO_LISTENER, ProtocolVersion.MQTT_5, stored.roles());
        Session session = new Session(
                services,
                this,
                loop,
                client,
                stored.expirySeconds(),
                SessionPhase.ABSENT,
                stores,
                stored.number(),
                waiting);
        session.recovered(stored);
        return session;
    }

    /** Adds a session that was found in the store or comes from another node. Returns an older one of its client, which must be removed. */
    @Nullable
    Session recovered(Session session) {
        session.charge().add(session.charge().weight());
        Session older = sessions.put(session.id(), session);
        if (users != null) {
            users.add(session);
        }
        return older;
    }

    /** Adds a session of an adopted store, unless its client has another one here, which is returned then. */
    @Nullable
    Session adopted(Session session) {
        Session present = sessions.putIfAbsent(session.id(), session);
        session.charge().add(session.charge().weight());
        if (present == null && users != null) {
            users.add(session);
        }
        return present;
    }

    /** Replaces a session by a new one of its client. */
    void replace(Session old, Session fresh) {
        if (users != null) {
            users.add(fresh);
        }
        sessions.replace(old.id(), old, fresh);
    }

    /** Admits a new session within the limits; it may replace the user's oldest session without a connection. */
    boolean admit(Session fresh) {
        if (isFull()) {
            return false;
        }
        if (users == null) {
            return true;
        }
        while (!users.addIfRoom(fresh)) {
            Session oldest = users.removeOldestOffline(fresh.client());
            if (oldest == null) {
                return false;
            }
            oldest.execute(() -> {
                if (!oldest.life().expireIfOffline()) { // its client has just reconnected
                    users.add(oldest);
                }
            });
        }
        return true;
    }

    @Override
    public void clientChanged(Session session, ClientIdentity previous) {
        if (users != null
                && !Objects.equals(previous.userName(), session.client().userName())) {
            users.remove(session, previous);
            users.add(session);
        }
    }

    @Override
    public void ended(Session session) {
        sessions.remove(session.id(), session);
        if (users != null) {
            users.remove(session, session.client());
        }
    }
}
