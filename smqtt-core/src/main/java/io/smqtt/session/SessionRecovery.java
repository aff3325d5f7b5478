// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.message.LogText;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores sessions, their subscriptions and retained messages from the store before the first client connects. Waiting
 * messages stay in the store. Runs once, on the thread that starts the broker.
 */
final class SessionRecovery implements BrokerStore.RecoveryVisitor {

    private static final Logger LOG = LoggerFactory.getLogger(SessionRecovery.class);
    private static final int AT_ONCE = 2_000;
    private static final int NAMES_PER_LINE = 50;

    private final SessionServices services;
    private final SessionResources resources;
    private final SessionTable table;
    private final SessionClaims claims;
    private final RetainedKeeper retained;
    private final @Nullable NodeQueues nodeQueues;
    private final @Nullable DelayedMessages delayed;
    private final List<ArrayDeque<Session>> byLoop = new ArrayList<>();
    private final List<Session> superseded = new ArrayList<>();
    private @Nullable Session current;
    private @Nullable NodeQueues currentNode;
    private @Nullable TopicFilter lastFilter;
    private ArrayDeque<Session> currentLoop = new ArrayDeque<>();
    private int currentSubscriptions;
    private long number;
    private final List<String> names = new ArrayList<>();
    private long leftOut;
    private long sessions;
    private long subscriptions;
    private long refused;

    SessionRecovery(
            SessionServices services,
            SessionTable table,
            SessionClaims claims,
            RetainedKeeper retained,
            @Nullable NodeQueues nodeQueues,
            @Nullable DelayedMessages delayed) {
        this.services = services;
        this.resources = services.resources();
        this.table = table;
        this.claims = claims;
        this.retained = retained;
        this.nodeQueues = nodeQueues;
        this.delayed = delayed;
        resources.router().loops().forEach(loop -> byLoop.add(new ArrayDeque<>()));
    }

    @Override
    public void session(StoredSession stored, StoredQueue waiting) {
        currentNode = null;
        SharedFilter group = GroupRecord.group(stored.clientId());
        if (group != null) {
            current = null;
            services.groups().recovered(group, stored, waiting);
            return;
        }
        if (delayed != null && DelayedMessages.ID.equals(stored.clientId())) {
            current = null;
            delayed.recovered(stored, waiting);
            return;
        }
        String node = NodeQueues.node(stored.clientId());
        NodeQueues nodes = nodeQueues;
        if (node != null && nodes != null) {
            current = null;
            currentNode = nodes;
            nodes.recovered(node, stored, waiting);
            return;
        }
        int index = (int) (sessions % byLoop.size());
        RoutingLoop loop = resources.router().loops().get(index);
        Session session = table.found(services, loop, stored, waiting);
        number = stored.number();
        String limit = session.charge().refusalOfStored(session.charge().weight());
        if (limit != null) {
            current = null;
            supersede(table.find(stored.clientId()));
            leaveOut(stored.clientId(), limit);
            return;
        }
        current = session;
        currentLoop = byLoop.get(index);
        currentSubscriptions = 0;
        sessions++;
        supersede(table.recovered(session));
        currentLoop.add(session);
    }

    private void supersede(@Nullable Session older) {
        if (older != null && !older.absence().leavesWill()) { // otherwise it ends by itself
            superseded.add(older);
        }
    }

    /** Leaves a session, or the rest of one, in the store because it does not fit. */
    private void leaveOut(String clientId, String limit) {
        claims.leftOut(clientId, number);
        resources.refused(limit);
        leftOut++;
        names.add(LogText.escape(clientId));
        if (names.size() == NAMES_PER_LINE) {
            nameLeftOut();
        }
    }

    private void nameLeftOut() {
        if (!names.isEmpty()) {
            LOG.warn("stored sessions that do not fit into memory: {}", String.join(", ", names));
            names.clear();
        }
    }

    @Override
    public void subscription(StoredSubscription stored) {
        NodeQueues node = currentNode;
        if (node != null) {
            node.recovered(stored.clientFilter());
            return;
        }
        Session session = current;
        if (session == null) { // it did not fit
            return;
        }
        String text = stored.clientFilter();
        if (session.resources().exclusive().isExclusive(text)) {
            recover(session, session.subscriptions().of(stored));
            return;
        }
        SharedFilter shared = SharedFilter.isShared(text) ? SharedFilter.of(text) : null;
        TopicFilter filter = shared == null ? filter(text) : shared.filter();
        @Nullable String shareName = shared == null ? null : shared.shareName();
        recover(session, subscription(session, stored, filter, shareName));
    }

    private void recover(Session session, Subscription subscription) {
        String limit = session.charge()
                .refusalOfRest(HeapWeight.subscription(subscription.filter().value(), subscription.shareName()));
        if (limit != null) { // a session with some of its subscriptions missing would silently lose messages
            current = null;
            currentLoop.removeLast();
            sessions--;
            subscriptions -= currentSubscriptions;
            session.life().leaveOut();
            leaveOut(session.id(), limit);
            return;
        }
        session.subscriptions().recover(subscription);
        subscriptions++;
        currentSubscriptions++;
    }

    private static Subscription subscription(
            Session session, StoredSubscription stored, TopicFilter filter, @Nullable String shareName) {
        return new Subscription(
                session,
                filter,
                shareName,
                stored.maximumQos(),
                stored.noLocal(),
                stored.retainAsPublished(),
                stored.identifier());
    }

    /** Returns one shared object per filter text. */
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
        Session session = current;
        if (session != null) {
            session.inbound().received(packetId);
        }
    }

    @Override
    public void released(int packetId, long next) {
        SessionRecord record = current == null ? null : current.record();
        if (record != null) {
            record.numberFound(packetId, next);
        }
    }

    @Override
    public void retained(ApplicationMessage message) {
        retain(message);
    }

    private boolean retain(ApplicationMessage message) {
        boolean isRefused = resources.router().retain(message).isRefusal();
        refused += isRefused ? 1 : 0;
        return !isRefused;
    }

    @Override
    public void retained(ApplicationMessage message, RetainedVersion version) {
        RetainedVersions versions = retained.versions();
        if (retain(message) && versions != null) {
            versions.found(message, version);
        }
    }

    @Override
    public void retainedRemoval(TopicName topic, RetainedVersion version) {
        RetainedVersions versions = retained.versions();
        if (versions != null) {
            versions.foundRemoval(topic, version);
        }
    }

    @Override
    public void note(String name, byte[] note) {
        Stores stores = resources.stores();
        RetainedVersions versions = retained.versions();
        boolean isOfSessions = stores != null && stores.takenBefore().found(name, note);
        if (!isOfSessions && versions != null) {
            versions.foundNote(name, note);
        }
    }

    /** Resumes the deadlines of all sessions, on their event loops. */
    void finish() {
        nameLeftOut();
        if (leftOut > 0) {
            LOG.warn(
                    "{} stored sessions, named above, hold more than the limits allow. They stay in the store and get no"
                            + " messages; one that fits is back when its client connects, and all are when"
                            + " limits.max-total-session-bytes, or the heap, is larger at the next start",
                    leftOut);
        }
        if (refused > 0) {
            retained.storeHasMore();
            LOG.warn(
                    "{} stored retained messages are more than the limits allow. They stay in the store and are not shown;"
                            + " raise limits.max-retained-messages or limits.max-retained-bytes and start again to have them",
                    refused);
        }
        if (sessions > 0 || resources.router().retained().count() > 0) {
            LOG.info(
                    "recovered {} sessions with {} subscriptions, and {} retained messages",
                    sessions,
                    subscriptions,
                    resources.router().retained().count());
        }
        superseded.forEach(older -> older.execute(() -> older.life().end(false)));
        for (int i = 0; i < byLoop.size(); i++) {
            awaitClients(resources.router().loops().get(i), byLoop.get(i));
        }
    }

    /** Resumes deadlines in batches, so that clients need not wait for all of them. */
    private static void awaitClients(RoutingLoop loop, ArrayDeque<Session> waiting) {
        loop.executor().execute(() -> {
            for (int i = 0; i < AT_ONCE && !waiting.isEmpty(); i++) {
                Session session = waiting.remove();
                if (session.owner() == loop) {
                    session.life().awaitClient();
                } else {
                    session.execute(() -> session.life().awaitClient());
                }
            }
            if (!waiting.isEmpty()) {
                awaitClients(loop, waiting);
            }
        });
    }
}
