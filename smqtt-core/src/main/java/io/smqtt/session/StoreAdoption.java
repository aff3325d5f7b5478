// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.Elsewhere;
import io.smqtt.spi.RetainedMerge;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The adoption of another node's store: its sessions become absent sessions of this node, which are stored there. A session whose client has another
 * one here is merged into that. Messages that are parked for absent nodes are for the cluster. Its retained messages are merged into those of this node, by
 * version, when all sessions are here; its delayed messages are published in their time, and queues of shared groups are used up by members
 * ({@link AdoptedQueues}). Sessions that only have a will left are not touched: they wait for their node.
 *
 * <p>The store is read on the thread that adopts it. All else is done on event loops, some sessions at a time.
 */
final class StoreAdoption implements BrokerStore.RecoveryVisitor {

    private static final Logger LOG = LoggerFactory.getLogger(StoreAdoption.class);
    private static final int AT_ONCE = 200;

    /** A session that is moving when it is to be forgotten has this time to leave, or to stay. */
    private static final long DEPART_MILLIS = 5_000;

    /** More filters are not named. */
    private static final int MOST_LEFT_OUT = 64;

    private final SessionServices services;
    private final SessionResources resources;
    private final SessionTable table;
    private final SessionClaims claims;
    private final Stores own;
    private final Stores stores;
    private final boolean waits;
    private final @Nullable RetainedMerge retained;
    private final AdoptedQueues rest;
    private final List<ArrayDeque<Found>> byLoop = new ArrayList<>();
    private final Map<String, Found> byClient = new HashMap<>();
    private final List<Queue<Session>> heldBack = new ArrayList<>();
    private final Queue<Session> unmerged = new ConcurrentLinkedQueue<>();
    private final Set<Session> present = ConcurrentHashMap.newKeySet();
    private final AtomicInteger refused = new AtomicInteger();

    /** The filters of sessions that are not adopted. */
    private final Set<String> leftOut = ConcurrentHashMap.newKeySet();

    /** The numbers of the queues of shared groups in the store. */
    private final Map<SharedFilter, Long> queues = new ConcurrentHashMap<>();

    /** What the node has kept for absent nodes. */
    private final NodeQueues parked;

    private boolean isLeftOut;
    private boolean isParked;
    private final long reign;
    private @Nullable Found current;
    private int found;
    private @Nullable CompletableFuture<Void> forgotten; // guarded by this

    /** A session that was read. */
    private static final class Found {

        private final StoredSession header;
        private final StoredQueue waiting;
        private final List<StoredSubscription> subscriptions = new ArrayList<>(2);
        private final List<Integer> received = new ArrayList<>(0);
        private final Map<Integer, Long> released = new HashMap<>(2);
        private boolean replaced;

        Found(StoredSession header, StoredQueue waiting) {
            this.header = header;
            this.waiting = waiting;
        }
    }

    /**
     * Creates an adoption.
     *
     * @param own the store of this node
     * @param stores the adopted one
     * @param waits whether messages that this node has parked for the sessions come first: others are held back until {@link #sentOn}
     * @param retained receives the retained messages of the store; null without a cluster
     * @param rest receives the queues that are of no session
     */
    StoreAdoption(
            SessionServices services,
            SessionTable table,
            SessionClaims claims,
            Stores own,
            Stores stores,
            long reign,
            boolean waits,
            @Nullable RetainedMerge retained,
            AdoptedQueues rest) {
        this.retained = retained;
        this.rest = rest;
        this.own = own;
        this.waits = waits;
        this.reign = reign;
        this.services = services;
        this.resources = services.resources();
        this.table = table;
        this.claims = claims;
        this.stores = stores;
        this.parked = new NodeQueues(stores.store(), stores.waits());
        resources.router().loops().forEach(loop -> {
            byLoop.add(new ArrayDeque<>());
            heldBack.add(new ArrayDeque<>());
        });
    }

    /** The node whose store it is. */
    String home() {
        return Objects.requireNonNull(stores.home());
    }

    /** The number of the reign over the store. */
    long reign() {
        return reign;
    }

    /** The number of sessions that were found. */
    int found() {
        return found;
    }

    /** The number of sessions that are still in the store. */
    int size() {
        present.removeIf(Session::hasEnded);
        return present.size();
    }

    /** See {@link AdoptionWatch#adopted}. When all sessions are installed. */
    List<String> leftOut() {
        return leftOut.size() > MOST_LEFT_OUT ? List.of(AdoptionWatch.EVERYTHING) : List.copyOf(leftOut);
    }

    /** The messages that the node has kept for absent nodes. */
    NodeQueues parked() {
        return parked;
    }

    /** A subscription is not adopted. Members of shared groups get nothing that is parked. */
    private void leaveOut(StoredSubscription subscription) {
        if (!SharedFilter.isShared(subscription.clientFilter()) && leftOut.size() <= MOST_LEFT_OUT) {
            leftOut.add(subscription.clientFilter());
        }
    }

    // --- reading

    /** Reads the store. Blocks. What it returns completes when all sessions are sessions of this node. */
    CompletableFuture<Void> read() {
        long beganNanos = System.nanoTime();
        stores.store().recover(this);
        stores.open();
        byClient.clear();
        return onLoops(this::install)
                .thenRun(() -> LOG.info(
                        "adopted {} sessions of node {} in {} ms{}",
                        present.size(),
                        home(),
                        (System.nanoTime() - beganNanos) / 1_000_000,
                        refused.get() == 0
                                ? ""
                                : "; " + refused.get()
                                        + " more do not fit into the limits of this node, and wait for that one"));
    }

    @Override
    public void session(StoredSession stored, StoredQueue waiting) {
        current = null;
        SharedFilter group = GroupRecord.group(stored.clientId());
        if (group != null) {
            queues.put(group, stored.number());
        }
        rest.found(stored, waiting);
        String node = NodeQueues.node(stored.clientId());
        isParked = node != null;
        if (node != null) {
            parked.recovered(node, stored, waiting);
        }
        isLeftOut = !isParked && InProcess.isReserved(stored.clientId()) && !InProcess.isLocalOnly(stored.clientId());
        boolean isOfItsNode = InProcess.isReserved(stored.clientId()) || InProcess.isLocalOnly(stored.clientId());
        if (isOfItsNode
                || stored.expirySeconds()
                        == 0) { // a session that was arriving there when its node failed has no expiry interval
            return;
        }
        Found next = new Found(stored, waiting);
        current = next;
        Found earlier = byClient.put(stored.clientId(), next); // a crash between two commits of a clean start
        if (earlier != null) {
            earlier.replaced = true;
        }
        byLoop.get(found++ % byLoop.size()).add(next);
    }

    @Override
    public void subscription(StoredSubscription subscription) {
        Found session = current;
        if (session != null) {
            session.subscriptions.add(subscription);
        } else if (isParked) {
            parked.recovered(subscription.clientFilter());
        } else if (isLeftOut) {
            leaveOut(subscription);
        }
    }

    @Override
    public void received(int packetId) {
        Found session = current;
        if (session != null) {
            session.received.add(packetId);
        }
    }

    @Override
    public void released(int packetId, long number) {
        Found session = current;
        if (session != null) {
            session.released.put(packetId, number);
        }
    }

    @Override
    public void retained(ApplicationMessage message) {
        found(message, null);
    }

    @Override
    public void retained(ApplicationMessage message, RetainedVersion version) {
        found(message, version);
    }

    private void found(ApplicationMessage message, @Nullable RetainedVersion version) {
        RetainedMerge into = retained;
        if (into != null) {
            into.found(message, version);
        }
    }

    @Override
    public void retainedRemoval(TopicName topic, RetainedVersion version) {
        RetainedMerge into = retained;
        if (into != null) {
            into.foundRemoval(topic, version);
        }
    }

    /** The sessions are here: retained messages of the store that are newer than those of this node follow. */
    @AnyThread
    void mergeRetained() {
        RetainedMerge into = retained;
        if (into != null) {
            into.begin();
        }
    }

    @Override
    public void note(String name, byte[] note) {
        stores.takenBefore().found(name, note);
    }

    // --- on event loops

    /** Runs a step on each event loop, again and again until it returns false. */
    private CompletableFuture<Void> onLoops(LoopStep step) {
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (RoutingLoop loop : resources.router().loops()) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            loop.executor().execute(() -> step(loop, step, end));
        }
        return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
    }

    private static void step(RoutingLoop loop, LoopStep step, CompletableFuture<Void> end) {
        try {
            if (step.run(loop)) {
                loop.executor().execute(() -> step(loop, step, end));
            } else {
                end.complete(null);
            }
        } catch (RuntimeException | Error e) { // what waits must not wait for ever
            end.completeExceptionally(e);
        }
    }

    /** A part of the work of an event loop. */
    private interface LoopStep {

        /** Returns whether there is more. */
        boolean run(RoutingLoop loop);
    }

    private boolean install(RoutingLoop loop) {
        own.of(loop).adopted(stores.of(loop));
        ArrayDeque<Found> waiting = byLoop.get(loop.index());
        for (int i = 0; i < AT_ONCE && !waiting.isEmpty(); i++) {
            install(loop, waiting.remove());
        }
        return !waiting.isEmpty();
    }

    private void install(RoutingLoop loop, Found each) {
        if (each.replaced) {
            stores.of(loop).writer().removeSession(each.header.number(), each.header.clientId());
            return;
        }
        Session session = table.found(services, stores, loop, each.header, each.waiting);
        String limit = session.charge().refusalOfStored(session.charge().weight());
        if (limit != null) {
            resources.refused(limit);
            refused.incrementAndGet();
            each.subscriptions.forEach(this::leaveOut);
            return;
        }
        Session other = table.adopted(session);
        present.add(session);
        if (waits) {
            session.intake().awaitEarlier();
            heldBack.get(loop.index()).add(session);
        }
        for (StoredSubscription stored : each.subscriptions) {
            session.subscriptions().recover(session.subscriptions().of(stored));
        }
        Objects.requireNonNull(session.record()).numbersFound(each.released);
        each.received.forEach(packetId -> session.inbound().received(packetId));
        if (each.waiting.messages() > 0) {
            resources.observer().deliveriesAdded(DeliverySource.RECOVERED, each.waiting.messages());
        }
        if (other == null) {
            session.life().awaitClient();
        } else {
            unmerged.add(session);
        }
    }

    /** The messages that this node had parked for the sessions have come: they take those that were held back. */
    @AnyThread
    void sentOn() {
        onLoops(this::takeHeldBack);
    }

    private boolean takeHeldBack(RoutingLoop loop) {
        Queue<Session> mine = heldBack.get(loop.index());
        for (int i = 0; i < AT_ONCE && !mine.isEmpty(); i++) {
            Session session = mine.remove();
            session.execute(() -> session.intake().takeLater((message, subscription, ticket) -> {
                if (!hasTaken(session, message, subscription)) {
                    session.take(message, subscription, ticket);
                }
            }));
        }
        return !mine.isEmpty();
    }

    /** Whether a message that was held back has come by another way meanwhile, because it was parked, too. */
    private boolean hasTaken(Session session, ApplicationMessage message, Subscription subscription) {
        long id = TakenMessages.idOf(message, subscription);
        boolean had = id != ApplicationMessage.NO_ID && services.history().knows(session.key(), id);
        if (had) {
            resources.observer().messageElsewhere(Elsewhere.DUPLICATE, 1);
        }
        return had;
    }

    /** All nodes have sent on what they had parked: sessions whose clients have another one here are merged into that. */
    @AnyThread
    void settled() {
        rest.begin();
        for (Session session = unmerged.poll(); session != null; session = unmerged.poll()) {
            LocalMove.untilMoved(services, claims, session);
        }
    }

    /** See {@link Adoptions#hasTaken}. A member that has moved to a session of this node is one of them. */
    @AnyThread
    boolean hasTaken(long messageId, SharedFilter group) {
        long id = TakenMessages.idOf(messageId, group);
        if (id == ApplicationMessage.NO_ID) {
            return false;
        }
        TakenBefore before = stores.takenBefore();
        Long queue = queues.get(group);
        boolean[] found = {queue != null && before.knows(TakenNotes.delivery(queue, id))};
        SharedGroup present = services.groups().group(group);
        if (present != null && !found[0]) {
            present.forEachMember(member ->
                    found[0] |= member instanceof Session session && TakenByGroups.hasTaken(services, session, id));
        }
        return found[0];
    }

    // --- the end

    /** Queues that are of no session get no turn any more: what waits stays in the store. */
    @AnyThread
    void endQueues() {
        rest.end();
    }

    /** Nothing that fails from now on is tried again: the store takes nothing any more. */
    @AnyThread
    void refuse() {
        onLoops(loop -> {
            stores.end(loop);
            return false;
        });
    }

    /**
     * Forgets the sessions, those that are moving when they have left or stay; completes when what was submitted to the store is all. The result of the first
     * call is that of all.
     */
    @AnyThread
    synchronized CompletableFuture<Void> forget() {
        CompletableFuture<Void> begun = forgotten;
        if (begun == null) {
            begun = begin();
            forgotten = begun;
        }
        return begun;
    }

    private CompletableFuture<Void> begin() {
        List<Queue<Session>> waiting = new ArrayList<>();
        resources.router().loops().forEach(loop -> waiting.add(new ArrayDeque<>()));
        int all = 2; // the queues, and this method
        for (Session session : present) {
            waiting.get(session.owner().index()).add(session);
            all++;
        }
        CompletableFuture<Void> gone = new CompletableFuture<>();
        AtomicInteger missing = new AtomicInteger(all);
        rest.end().whenComplete((none, failure) -> letGo(missing, gone));
        return onLoops(this::takeHeldBack)
                .thenCompose(none -> onLoops(loop -> forget(loop, waiting.get(loop.index()), missing, gone)))
                .thenCompose(none -> {
                    letGo(missing, gone);
                    RoutingLoop any = resources.router().loops().get(0);
                    Runnable late = () -> gone.complete(null);
                    any.executor().schedule(late, DEPART_MILLIS, TimeUnit.MILLISECONDS);
                    return gone;
                })
                .thenCompose(none -> onLoops(loop -> {
                    stores.of(loop).flush();
                    stores.end(loop);
                    own.of(loop).gone(stores.of(loop));
                    return false;
                }));
    }

    private boolean forget(RoutingLoop loop, Queue<Session> mine, AtomicInteger missing, CompletableFuture<Void> gone) {
        for (int i = 0; i < AT_ONCE && !mine.isEmpty(); i++) {
            Session session = mine.remove();
            claims.claimHere(session, loop, () -> {
                letGo(session);
                letGo(missing, gone);
            });
        }
        return !mine.isEmpty();
    }

    private static void letGo(AtomicInteger missing, CompletableFuture<Void> gone) {
        if (missing.decrementAndGet() == 0) {
            gone.complete(null);
        }
    }

    private void letGo(Session session) {
        int pending = session.hasEnded() ? 0 : session.queuedCount();
        session.life().letGo();
        if (pending > 0) {
            resources.observer().messageElsewhere(Elsewhere.MOVED, pending);
        }
    }
}
