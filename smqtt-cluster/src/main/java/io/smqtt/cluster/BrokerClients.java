// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.Will;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.session.SessionArrival;
import io.smqtt.session.SessionDeparture;
import io.smqtt.session.SessionRegistry;
import io.smqtt.session.SessionState;
import io.smqtt.session.UnservedStores;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The sessions of a broker. */
record BrokerClients(SessionRegistry registry) implements LocalClients {

    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("unknown", 0);

    /** None for a local name: other nodes may have the same one, and neither session is that of the other. */
    @Override
    public long clockOf(String clientId) {
        if (InProcess.isLocalOnly(clientId)) {
            return NONE;
        }
        Session session = registry.find(clientId);
        return session == null || session.hasEnded() ? NONE : session.claimClock();
    }

    @Override
    public void nodeAway(boolean away) {
        registry.nodeAway(away);
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
    public void absent(String clientId, Consumer<@Nullable Absent> reply) {
        Session session = registry.find(clientId);
        if (session == null) {
            reply.accept(null);
        } else {
            session.execute(() -> reply.accept(session.hasEnded() || session.isOnline() ? null : absent(session)));
        }
    }

    private static Absent absent(Session session) {
        Will will = session.absence().holdWill();
        String userName = session.client().userName();
        return new Absent(
                userName,
                will == null
                        ? null
                        : new Frame.HeldWill(
                                userName,
                                session.expirySeconds(),
                                will.delaySeconds(),
                                new ForwardedMessage(will.message(), true, List.of())));
    }

    @Override
    public void inheritWill(String clientId, Frame.HeldWill will) {
        Session session = registry.find(clientId);
        if (session != null) {
            session.execute(
                    () -> session.absence().inheritWill(new Will(will.message().message(), will.delaySeconds())));
        }
    }

    @Override
    public @Nullable String exclusiveHolder(String filter) {
        return registry.exclusive().holder(TopicFilter.of(filter));
    }

    @Override
    public boolean isAdopted(String clientId) {
        Session session = registry.find(clientId);
        return session != null && session.home() != null;
    }

    @Override
    public boolean mayMove(String clientId) {
        Session session = registry.find(clientId);
        return session == null || registry.adoptions().mayMove(session);
    }

    @Override
    public boolean isAwaited(Collection<String> nodes) {
        return registry.adoptions().isAwaited(nodes);
    }

    @Override
    public UnservedStores unserved() {
        return registry.adoptions().unserved();
    }

    @Override
    public boolean hasSession(String clientId) {
        return clockOf(clientId) != NONE || registry.hasLeftOut(clientId);
    }

    @Override
    public boolean isStored(String clientId) {
        Session session = registry.find(clientId);
        return session != null && session.home() == null && session.isStored();
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

    /** The clients that are connected to this node. */
    @AnyThread
    List<String> connected() {
        return ids(Session::isOnline);
    }

    /**
     * The order in which sessions are handed over when this node stops: first those whose clients were connected until then, because they
     * look for their sessions elsewhere now; then those that end with this process; then the others.
     *
     * @param connectedBefore the clients that were connected when the stop began
     */
    @AnyThread
    Iterator<String> drainOrder(List<String> connectedBefore) {
        Set<String> order = new LinkedHashSet<>(connectedBefore);
        order.addAll(ids(session -> !session.isStored()));
        order.addAll(ids(Session::isStored));
        return order.iterator();
    }

    /** Consumers of this process and local bridges are not counted: they belong to this node. */
    private List<String> ids(Predicate<Session> which) {
        return registry.all().stream()
                .filter(session -> which.test(session) && session.home() == null)
                .map(Session::id)
                .filter(id -> !InProcess.isReserved(id) && !InProcess.isLocalOnly(id))
                .toList();
    }
}
