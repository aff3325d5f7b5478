// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.Will;
import io.smqtt.session.Session;
import io.smqtt.session.SessionArrival;
import io.smqtt.session.SessionDeparture;
import io.smqtt.session.SessionRegistry;
import io.smqtt.session.SessionState;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The sessions of a broker. */
record BrokerClients(SessionRegistry registry) implements LocalClients {

    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("unknown", 0);

    @Override
    public long clockOf(String clientId) {
        Session session = registry.find(clientId);
        return session == null || session.hasEnded() ? NONE : session.claimClock();
    }

    @Override
    public void claimed(String clientId, long clock) {
        Session session = registry.find(clientId);
        if (session != null) {
            session.claimClock(clock);
        }
    }

    @Override
    public void depart(String clientId, boolean discard, @Nullable String userName, SessionDeparture.Reply reply) {
        registry.depart(clientId, discard, userName, reply);
    }

    @Override
    public void bequeath(String clientId, SessionDeparture.Reply reply) {
        Session session = registry.find(clientId);
        registry.depart(
                clientId, false, session == null ? null : session.client().userName(), reply);
    }

    @Override
    public SessionArrival arrive(SessionState state) {
        return registry.arrive(state);
    }

    @Override
    public SessionArrival merge(SessionState state) {
        return registry.merge(state);
    }

    @Override
    public void publishWill(String clientId, @Nullable String userName, Will will) {
        registry.publishInherited(
                new ClientIdentity(clientId, userName, NOWHERE, "", ProtocolVersion.MQTT_5, Set.of()), will);
    }

    @Override
    public void willSettledElsewhere(String clientId, @Nullable Will will) {
        registry.willSettledElsewhere(clientId, will);
    }

    @Override
    public Iterator<String> clientIds() {
        Iterator<Session> sessions = registry.all().iterator();
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return sessions.hasNext();
            }

            @Override
            public String next() {
                return sessions.next().id();
            }
        };
    }
}
