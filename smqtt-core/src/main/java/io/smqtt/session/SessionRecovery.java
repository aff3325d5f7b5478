// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings back what was stored, before the first client connects: sessions, their subscriptions and retained messages. The
 * messages that wait stay in the store. Runs once, on the thread that starts the broker.
 */
final class SessionRecovery implements BrokerStore.RecoveryVisitor {

    private static final Logger LOG = LoggerFactory.getLogger(SessionRecovery.class);
    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("unknown", 0);
    private static final String NO_LISTENER = "";
    private static final int AT_ONCE = 2_000;

    private final SessionResources resources;
    private final SessionRegistry registry;
    private final List<ArrayDeque<Session>> byLoop = new ArrayList<>();
    private final List<Session> superseded = new ArrayList<>();
    private @Nullable Session current;
    private @Nullable TopicFilter lastFilter;
    private long sessions;
    private long subscriptions;
    private long refused;

    SessionRecovery(SessionResources resources, SessionRegistry registry) {
        this.resources = resources;
        this.registry = registry;
        resources.router().loops().forEach(loop -> byLoop.add(new ArrayDeque<>()));
    }

    @Override
    public void session(StoredSession stored, StoredQueue waiting) {
        int index = (int) (sessions++ % byLoop.size());
        RoutingLoop loop = resources.router().loops().get(index);
        ClientIdentity client = new ClientIdentity(
                stored.clientId(), stored.userName(), NOWHERE, NO_LISTENER, ProtocolVersion.MQTT_5, stored.roles());
        Session session = new Session(resources, registry, loop, client, stored, waiting);
        current = session;
        Session older = registry.recovered(session);
        if (older != null && !older.leavesWill()) { // that one ends by itself
            superseded.add(older);
        }
        byLoop.get(index).add(session);
    }

    private Session session() {
        Session session = current;
        if (session == null) {
            throw new IllegalStateException("the store shows no session first");
        }
        return session;
    }

    @Override
    public void subscription(StoredSubscription stored) {
        String text = stored.clientFilter();
        SharedFilter shared = SharedFilter.isShared(text) ? SharedFilter.of(text) : null;
        TopicFilter filter = shared == null ? filter(text) : shared.filter();
        session()
                .recover(new Subscription(
                        session(),
                        filter,
                        shared == null ? null : shared.shareName(),
                        stored.maximumQos(),
                        stored.noLocal(),
                        stored.retainAsPublished(),
                        stored.identifier()));
        subscriptions++;
    }

    /** Many sessions with the same filter have one object for it. */
    private TopicFilter filter(String text) {
        TopicFilter last = lastFilter;
        if (last == null || !last.value().equals(text)) {
            last = TopicFilter.of(text);
            lastFilter = last;
        }
        return last;
    }

    @Override
    public void received(int packetId) {
        session().inbound().received(packetId);
    }

    @Override
    public void retained(ApplicationMessage message) {
        RetainedMessages.Outcome outcome = resources.router().retain(message);
        if (outcome == RetainedMessages.Outcome.COUNT_EXCEEDED || outcome == RetainedMessages.Outcome.BYTES_EXCEEDED) {
            refused++;
        }
    }

    /** Lets the deadlines of all sessions go on, on their event loops. */
    void finish() {
        if (refused > 0) {
            registry.retained().storeHasMore();
            LOG.warn(
                    "{} stored retained messages are more than the limits allow. They stay in the store and are not shown;"
                            + " raise limits.max-retained-messages or limits.max-retained-bytes and start again to have them",
                    refused);
        }
        if (sessions > 0 || resources.router().retained().count() > 0) {
            LOG.info(
                    "{} sessions with {} subscriptions and {} retained messages are back",
                    sessions,
                    subscriptions,
                    resources.router().retained().count());
        }
        superseded.forEach(older -> older.execute(() -> older.end(false)));
        for (int i = 0; i < byLoop.size(); i++) {
            awaitClients(resources.router().loops().get(i), byLoop.get(i));
        }
    }

    /** Some at a time, so that clients need not wait for the last one. */
    private static void awaitClients(RoutingLoop loop, ArrayDeque<Session> waiting) {
        loop.executor().execute(() -> {
            for (int i = 0; i < AT_ONCE && !waiting.isEmpty(); i++) {
                Session session = waiting.remove();
                if (session.owner() == loop) {
                    session.awaitClient();
                } else {
                    session.execute(session::awaitClient);
                }
            }
            if (!waiting.isEmpty()) {
                awaitClients(loop, waiting);
            }
        });
    }
}
