// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The transfer of a session from another node, in place of the one that its client has here, if any. With a store its messages
 * are written as they arrive, under a header that is discarded at a restart, until the session is complete: a crash in between
 * leaves nothing of it. All work is done on one event loop, which owns the session until its client connects.
 */
final class ReplacingTransfer extends IncomingTransfer {

    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("unknown", 0);

    private final SessionServices services;
    private final SessionResources resources;
    private final SessionTable sessions;
    private final RoutingLoop loop;
    private final SessionState state;
    private final @Nullable Stores stores;
    private final ClientIdentity client;
    private final List<StoredMessage> inMemory = new ArrayList<>();
    private final List<Long> ids = new ArrayList<>();
    private final @Nullable Session unstored;
    private final @Nullable Session source;
    private final long number;
    private int count;
    private long bytes;
    private @Nullable Session session;
    private boolean cameLate;

    /**
     * Creates a transfer that has not begun.
     *
     * @param source the arriving session, if it comes from an adopted store of this node; null if it comes from another node
     */
    ReplacingTransfer(
            SessionServices services,
            SessionTable sessions,
            RoutingLoop loop,
            SessionState state,
            @Nullable Session source) {
        super(state.clientId());
        this.source = source;
        this.services = services;
        this.resources = services.resources();
        this.sessions = sessions;
        this.loop = loop;
        this.state = state;
        this.stores = resources.stores();
        this.client =
                new ClientIdentity(state.clientId(), state.userName(), NOWHERE, "", ProtocolVersion.MQTT_5, Set.of());
        this.number = stores == null ? 0 : stores.store().newSession();
        this.unstored = stores == null
                ? new Session(
                        services,
                        sessions,
                        loop,
                        client,
                        state.expirySeconds(),
                        SessionPhase.ABSENT,
                        null,
                        0,
                        SessionRecord.NOTHING_WAITS)
                : null;
    }

    private void await(Stores present, Consumer<Boolean> done) {
        if (present.waits()) {
            StoreLoop writes = present.of(loop);
            writes.await((CommitCallback) done::accept, writes.isStable());
        } else {
            done.accept(true);
        }
    }

    @Override
    public void add(List<StoredMessage> messages, Consumer<Boolean> done) {
        loop.executor().execute(() -> {
            begin();
            for (StoredMessage message : messages) {
                ids.add(TakenMessages.idOf(message));
            }
            Stores present = stores;
            if (present == null) {
                inMemory.addAll(messages);
                done.accept(true);
                return;
            }
            StoreWriter writer = present.of(loop).writer();
            for (StoredMessage message : messages) {
                if (message.qos() == QoS.AT_MOST_ONCE) {
                    inMemory.add(message);
                } else {
                    count++;
                    bytes += message.message().footprintBytes();
                    writer.putMessage(
                            number,
                            new StoredMessage(
                                    count,
                                    message.message(),
                                    message.clientFilter(),
                                    message.qos(),
                                    message.retain(),
                                    message.identifiers(),
                                    message.delivery()));
                }
            }
            await(present, done);
        });
    }

    /** Writes the state before the first message. */
    private void begin() {
        boolean begun = step() == Step.COPYING;
        proceed(Step.COPYING);
        Stores present = stores;
        if (begun || present == null) {
            return;
        }
        StoreWriter writer = present.of(loop).writer();
        writer.putSession(header(0, StoredSession.CONNECTED)); // discarded at a restart
        state.subscriptions().forEach(subscription -> writer.putSubscription(number, subscription));
        state.numbers().forEach((packetId, next) -> writer.putReleased(number, packetId, next));
        state.awaitingRelease().forEach(packetId -> writer.putReceived(number, packetId)); // in place of a row above
    }

    private StoredSession header(long expirySeconds, long expiresAtMillis) {
        return new StoredSession(
                number,
                state.clientId(),
                state.userName(),
                expirySeconds,
                expiresAtMillis,
                null,
                StoredSession.CONNECTED);
    }

    /** Whether the session fits here, in place of the existing one. If not, it stays complete on the other node. */
    private boolean fits() {
        long weight = HeapWeight.session(state.clientId(), state.userName(), Set.of(), stores != null);
        for (StoredSubscription subscription : state.subscriptions()) {
            String text = subscription.clientFilter();
            SharedFilter shared = SharedFilter.isShared(text) ? SharedFilter.of(text) : null;
            weight += shared == null
                    ? HeapWeight.subscription(text, null)
                    : HeapWeight.subscription(shared.filter().value(), shared.shareName());
        }
        Session replaced = sessions.find(state.clientId());
        if (replaced == null && sessions.isFullFor(state.userName())) {
            return false;
        }
        return !resources.refused(
                SessionCharge.refusal(resources.sessionBudget(), replaced, weight, state.userName(), true));
    }

    @Override
    public void install(Consumer<Boolean> done) {
        loop.executor().execute(() -> {
            require(Step.PREPARING, Step.COPYING);
            if (!fits()) {
                done.accept(false);
                return;
            }
            Stores present = stores;
            if (present == null) {
                Session mine = Objects.requireNonNull(unstored);
                inMemory.forEach(message -> mine.outbound().restore(message, subscription(mine, message)));
                installed(mine);
                done.accept(true);
                return;
            }
            begin();
            long expiry = state.expirySeconds();
            StoredSession header = header(expiry, present.expiresAtMillis(expiry));
            present.of(loop).writer().putSession(header);
            await(present, kept -> {
                if (kept) {
                    StoredQueue queue = new StoredQueue(1, count + 1L, count, bytes);
                    Session mine = sessions.found(services, loop, header, queue);
                    inMemory.forEach(message -> mine.outbound().restore(message, subscription(mine, message)));
                    installed(mine);
                }
                done.accept(kept);
            });
        });
    }

    private void installed(Session mine) {
        become(Step.CATCHING_UP);
        session = mine;
        mine.claimClock(state.claimClock());
        mine.life().cleanClock(state.cleanClock());
        ids.forEach(id -> services.history().took(loop, mine.key(), id));
        ids.clear();
        holdBack(mine);
        mine.life().created();
        if (count > 0) { // includes those that were sent before: they end when they are read
            resources.observer().deliveriesAdded(DeliverySource.MOVED_HERE, count);
        }
        inMemory.clear();
        SessionRecord record = mine.record();
        if (record != null) {
            record.numbersFound(state.numbers());
        }
        state.awaitingRelease().forEach(packetId -> mine.inbound().received(packetId));
        Session older = sessions.recovered(mine);
        if (older != null && older != source) {
            older.execute(() -> older.terminate(ReasonCode.SESSION_TAKEN_OVER));
        }
        for (StoredSubscription stored : state.subscriptions()) {
            Subscription subscription = mine.subscriptions().of(stored);
            if (subscription.shareName() != null) {
                mine.member();
            }
            mine.subscriptions().recover(subscription);
        }
    }

    private Session session() {
        return Objects.requireNonNull(session, "the session is not installed");
    }

    @Override
    public void late(List<StoredMessage> messages, Consumer<Boolean> done) {
        loop.executor().execute(() -> {
            require(Step.CATCHING_UP, Step.COMPLETED); // the other node may return after a failure with the rest
            Session mine = session();
            if (mine.hasEnded()) { // or it has moved to another node
                done.accept(false);
                return;
            }
            for (StoredMessage late : messages) {
                ApplicationMessage message = late.message();
                resources.observer().deliveriesAdded(DeliverySource.MOVED_HERE, 1);
                mine.intake().take(message, subscription(mine, late), RouteTicket.NONE);
                long id = TakenMessages.idOf(late);
                if (id != ApplicationMessage.NO_ID) {
                    cameLate = true;
                    came(id);
                }
            }
            mine.afterCommit(done::accept);
        });
    }

    @Override
    public void finish(Runnable done) {
        loop.executor().execute(() -> {
            become(Step.COMPLETED);
            Session mine = session();
            letGo(mine);
            forgetCame(mine, !cameLate);
            mine.life().awaitReturn();
            done.run();
        });
    }

    @Override
    public void discard() {
        loop.executor().execute(() -> {
            require(Step.PREPARING, Step.COPYING);
            boolean begun = step() == Step.COPYING;
            become(Step.CANCELLED);
            inMemory.clear();
            Stores present = stores;
            if (present != null && begun) {
                present.of(loop).writer().removeSession(number, state.clientId());
            }
        });
    }
}
