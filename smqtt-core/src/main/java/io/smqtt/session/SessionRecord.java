// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.Will;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The stored part of one session: its header, subscriptions, QoS 2 identifiers, and access to its messages. A failed write
 * is retried with the state at that time.
 */
@OnEventLoop
final class SessionRecord {

    /** The queue of a session that has no messages yet. */
    static final StoredQueue NOTHING_WAITS = new StoredQueue(1, 1, 0, 0);

    private final SessionContext session;
    private final SubscriptionTable subscriptions;
    private final Stores stores;
    private final SessionRows rows;
    private final long number;
    private final DurableQueue queue;
    private @Nullable String userName;
    private Set<String> roles = Set.of();
    private long expirySeconds;
    private long expiresAtMillis = StoredSession.CONNECTED;
    private @Nullable Will will;
    private long willAtMillis = StoredSession.CONNECTED;
    private int version;
    private @Nullable Set<String> unwritten;

    /** The identifiers of the next QoS 2 messages of the client; null without a cluster. */
    private @Nullable ExchangeNumbers numbers;

    /** A will that is being published. The end of the session is not removed from the store before that is committed. */
    private @Nullable Will publishing;

    /** Whether the session has ended and its messages were dropped. */
    private boolean ended;

    SessionRecord(
            SessionContext session,
            SubscriptionTable subscriptions,
            SessionResources resources,
            Stores stores,
            long number,
            StoredQueue waiting) {
        this.session = session;
        this.subscriptions = subscriptions;
        this.stores = stores;
        this.number = number;
        this.rows = new SessionRows(session, stores, number);
        this.queue = new DurableQueue(session, rows, resources, waiting);
    }

    /** Whether the session is in the store of another node. */
    @AnyThread
    boolean isAdopted() {
        return stores.home() != null;
    }

    /** The node whose store has the session; null if it is this node's own. */
    @AnyThread
    @Nullable
    String home() {
        return stores.home();
    }

    /** Whether another node may serve the session without this one knowing it yet. */
    boolean mayBeServedElsewhere() {
        return stores.mayBeServedElsewhere();
    }

    /** Writes the header as it is, and calls back when that is committed: then no other node has served the session up to now. */
    void prove(CommitCallback callback) {
        writeHeader();
        loop().await(callback, loop().isStable());
    }

    /** Leaves the rows as they are: another node serves them. */
    void leaveRows() {
        queue.forgetMoved();
        publishing = null;
    }

    /** The number of the session in the store. */
    long number() {
        return number;
    }

    @AnyThread
    DurableQueue queue() {
        return queue;
    }

    /** The writes of the session's current event loop. */
    StoreLoop loop() {
        return rows.loop();
    }

    private StoreWriter writer() {
        return rows.writer();
    }

    /** The store's clock. */
    long clockMillis() {
        return stores.store().clockMillis();
    }

    /** A counter that each written header increments. */
    int version() {
        return version;
    }

    /** Header values that a new connection has changed, to restore them if it is refused. */
    record Before(
            int version,
            @Nullable String userName,
            Set<String> roles,
            long expirySeconds,
            long expiresAtMillis,
            @Nullable Will will,
            long willAtMillis,
            @Nullable ExchangeNumbers numbers) {}

    /** The current header values. */
    Before before() {
        return new Before(version, userName, roles, expirySeconds, expiresAtMillis, will, willAtMillis, numbers);
    }

    /** Restores the header values of a client that was refused because its header could not be written. */
    void restore(Before before) {
        userName = before.userName;
        roles = before.roles;
        numbers = before.numbers;
        if (version == before.version + 1) { // the header was not written since
            expirySeconds = before.expirySeconds;
            expiresAtMillis = before.expiresAtMillis;
            will = before.will;
            willAtMillis = before.willAtMillis;
        }
    }

    /** Records that a client is, or is about to be, connected. */
    void connected(ClientIdentity client, long newExpirySeconds, @Nullable Will newWill) {
        userName = client.userName();
        roles = client.roles();
        expirySeconds = newExpirySeconds;
        expiresAtMillis = StoredSession.CONNECTED;
        will = newWill;
        willAtMillis = StoredSession.CONNECTED;
        writeHeader();
        if (numbers == null && stores.numbersExchanges()) {
            numbers = new ExchangeNumbers(newNumber());
            writer().putReleased(number, ExchangeNumbers.BASE, numbers.base());
        }
    }

    /** Records that the client has disconnected. */
    void disconnected(long newExpirySeconds, @Nullable Will waiting) {
        expirySeconds = newExpirySeconds;
        expiresAtMillis = stores.expiresAtMillis(expirySeconds);
        will = waiting;
        willAtMillis = waiting == null
                ? StoredSession.CONNECTED
                : clockMillis() + TimeUnit.SECONDS.toMillis(Math.min(waiting.delaySeconds(), expirySeconds));
        writeHeader();
        loop().watch(this, Step.HEADER, 0, 0);
    }

    /** Records a reauthentication of the client. */
    void reauthenticated(ClientIdentity client) {
        if (!client.roles().equals(roles) || !Objects.equals(client.userName(), userName)) {
            userName = client.userName();
            roles = client.roles();
            writeHeader();
            loop().watch(this, Step.HEADER, 0, 0);
        }
    }

    /** Records that a will is about to be published; {@link #willGone} follows unless it cannot be kept. */
    void willDue(Will due) {
        publishing = due;
    }

    /** Records that a will was published, or will not be. */
    @SuppressWarnings("ReferenceEquality") // the next client may have an equal one
    void willGone(Will gone) {
        if (publishing == gone) {
            publishing = null;
        }
        if (session.hasEnded()) {
            removeWhenComplete();
        } else if (will == gone) {
            will = null;
            willAtMillis = StoredSession.CONNECTED;
            writeHeader();
            loop().watch(this, Step.HEADER, 0, 0);
        }
    }

    /** Restores the values that were read at the start, when nothing may be written yet. */
    void recovered(StoredSession stored) {
        userName = stored.userName();
        roles = stored.roles();
        expirySeconds = stored.expirySeconds();
        expiresAtMillis = stored.expiresAtMillis();
        will = stored.will();
        willAtMillis = stored.willAtMillis();
    }

    /** The time when the session ends, by the store's clock. */
    long expiresAtMillis() {
        return expiresAtMillis;
    }

    /** The time when the will is due, by the store's clock. */
    long willAtMillis() {
        return willAtMillis;
    }

    /** Whether the session has taken a delivery before this broker was started, or has adopted it, see {@link TakenNotes}. */
    @AnyThread
    boolean tookBefore(long delivery) {
        TakenBefore before = stores.takenBefore();
        return !before.isEmpty() && before.knows(TakenNotes.delivery(number, delivery));
    }

    /** Holds a ticket until all messages that the session has taken are committed. */
    void awaitTaken(RouteTicket ticket) {
        if (ticket != RouteTicket.NONE) {
            queue.writeUnwritten();
            loop().await(ticket);
        }
    }

    /** Whether a delivery that the session has taken since the start is lost, because it could not be stored. */
    @AnyThread
    boolean hasLost(DeliveryHistory history, long delivery) {
        return history.hasLostNoted(TakenNotes.delivery(number, delivery));
    }

    private void writeHeader() {
        version++;
        writer().putSession(new StoredSession(
                number, session.id(), userName, roles, expirySeconds, expiresAtMillis, will, willAtMillis));
    }

    /** Calls back when all writes up to now are committed. */
    void await(CommitCallback callback) {
        await(stores.waits(), loop().isStable(), callback);
    }

    /** Calls back when all writes up to now are committed, with the given wait options. */
    void await(boolean waits, boolean stable, CommitCallback callback) {
        if (waits) {
            loop().await(callback, stable);
        } else {
            callback.committed(true);
        }
    }

    void subscriptionChanged(String clientFilter, @Nullable Subscription present) {
        StoreWriter writer = writer();
        if (present == null) {
            writer.removeSubscription(number, clientFilter);
        } else {
            writer.putSubscription(number, present.stored());
        }
        loop().watch(new SubscriptionChange(clientFilter));
    }

    /** Retries the write of a subscription, with its state at that time. */
    private final class SubscriptionChange implements StoreWaiter {

        private final String clientFilter;

        SubscriptionChange(String clientFilter) {
            this.clientFilter = clientFilter;
        }

        @Override
        public boolean completed(boolean kept) {
            return !kept && (!session.isHere() || isFirst());
        }

        /** Whether no retry is pending for the filter; it is retried once, however often it changes. */
        private boolean isFirst() {
            if (unwritten == null) {
                unwritten = new HashSet<>();
            }
            return unwritten.add(clientFilter);
        }

        @Override
        public void retry() {
            session.execute(() -> {
                if (unwritten != null) {
                    unwritten.remove(clientFilter);
                }
                if (!session.hasEnded()) {
                    subscriptionChanged(clientFilter, subscriptions.get(clientFilter));
                }
            });
        }
    }

    /** Stores the identifier of a routed QoS 2 message; it is committed together with the subscribers' copies. */
    void received(StoreLoop loop, int packetId, Iterable<JointOperation> operations, RouteTicket ticket) {
        StoreWriter writer = loop.writer();
        for (JointOperation operation : operations) {
            operation.submit(writer);
        }
        if (!session.hasEnded()) {
            writer.putReceived(number, packetId);
        }
        loop.await(ticket);
    }

    /** Removes a released QoS 2 identifier, with retries; the callback comes when that is committed. */
    void released(int packetId, boolean waits, boolean stable, Runnable callback) {
        renumber(packetId);
        removeReceived(packetId, waits, stable, callback);
    }

    private void removeReceived(int packetId, boolean waits, boolean stable, Runnable callback) {
        if (numbers == null) {
            writer().removeReceived(number, packetId);
        } else {
            writer().putReleased(number, packetId, numbers.of(packetId));
        }
        if (waits) {
            loop().await(new Release(packetId, stable, callback), stable);
        } else {
            callback.run();
        }
    }

    // --- the identifiers of the client's next QoS 2 messages

    /** The identifiers of the client's next QoS 2 messages; null if they have none in advance. */
    @Nullable
    ExchangeNumbers numbers() {
        return numbers;
    }

    /** Restores what was found in the store, or has come from another node. */
    void numbersFound(Map<Integer, Long> found) {
        found.forEach(this::numberFound);
    }

    /** Restores one of them. */
    void numberFound(int packetId, long found) {
        if (numbers == null) {
            numbers = new ExchangeNumbers(found);
        }
        numbers.put(packetId, found);
    }

    private long newNumber() {
        return session.owner().nextMessageId();
    }

    private void renumber(int packetId) {
        if (numbers != null) {
            numbers.put(packetId, newNumber());
        }
    }

    /**
     * A message was refused: the next one with its packet identifier is another message.
     *
     * @param waits whether the client learns of it when the store has the number of the next one
     */
    void refused(int packetId, boolean waits, boolean stable, CommitCallback callback) {
        if (numbers == null || session.hasEnded()) {
            callback.committed(true);
            return;
        }
        long before = numbers.of(packetId);
        renumber(packetId);
        keepNumber(packetId);
        if (waits) {
            loop().await(
                            kept -> {
                                if (!kept && numbers != null) { // the client sends it again
                                    numbers.put(packetId, before);
                                }
                                callback.committed(kept);
                            },
                            stable);
        } else {
            callback.committed(true);
        }
    }

    /** Writes the row of an identifier whose message is not stored. */
    void keepNumber(int packetId) {
        if (numbers != null && !session.hasEnded()) {
            long next = numbers.of(packetId);
            numbers.put(packetId, next);
            writer().putReleased(number, packetId, next);
        }
    }

    /**
     * Replaces the rows by one number from which others are derived. Two commits: rows come before what is derived, so that each identifier has one
     * number at any time, in memory and in the store. No message may come until the end.
     *
     * @param used whether an identifier is in use: its row stays
     * @param then runs at the end, also if the store does not take it
     */
    void shortenNumbers(IntPredicate used, Runnable then) {
        long base = newNumber();
        writer().putReleased(number, ExchangeNumbers.BASE, base);
        loop().await(kept -> session.execute(() -> shortenNumbers(base, kept, used, then)), loop().isStable());
    }

    private void shortenNumbers(long base, boolean kept, IntPredicate used, Runnable then) {
        if (!kept || numbers == null || session.hasEnded()) {
            then.run();
            return;
        }
        numbers.put(ExchangeNumbers.BASE, base);
        Map<Integer, Long> before = numbers.all();
        numbers.removeUnless(used, packetId -> writer().removeReceived(number, packetId));
        loop().await(removed -> session.execute(() -> shortened(removed, before, then)), loop().isStable());
    }

    private void shortened(boolean removed, Map<Integer, Long> before, Runnable then) {
        ExchangeNumbers present = numbers;
        if (!removed && present != null) { // the store has the rows still
            before.forEach((packetId, former) -> {
                if (packetId != ExchangeNumbers.BASE && !present.has(packetId)) {
                    present.put(packetId, former);
                }
            });
        }
        then.run();
    }

    /** The removal of a QoS 2 identifier. The client must not reuse the identifier before the store has removed it. */
    private final class Release implements StoreWaiter {

        private final int packetId;
        private final boolean stable;
        private final Runnable callback;

        Release(int packetId, boolean stable, Runnable callback) {
            this.packetId = packetId;
            this.stable = stable;
            this.callback = callback;
        }

        @Override
        public boolean completed(boolean kept) {
            if (kept) {
                callback.run();
            }
            return !kept;
        }

        @Override
        public void retry() {
            session.execute(() -> {
                if (!session.hasEnded()) {
                    removeReceived(packetId, true, stable, callback);
                }
            });
        }
    }

    /**
     * Ends the session. All its records are removed before a new session of the client can be stored. If its will is not
     * committed yet, the session is marked so that a restart removes it and publishes the will.
     */
    void end() {
        queue.end();
        ended = true;
        if (publishing != null) {
            expirySeconds = 0;
            expiresAtMillis = StoredSession.CONNECTED;
            will = publishing;
            willAtMillis = StoredSession.CONNECTED;
            writeHeader();
            loop().flush();
        }
        removeWhenComplete();
    }

    private void removeWhenComplete() {
        if (ended && publishing == null) {
            remove();
        }
    }

    /** Removes the session, which another node has committed. */
    void forget() {
        queue.forgetMoved();
        end();
    }

    private void remove() {
        StoreLoop loop = loop();
        loop.writer().removeSession(number, session.id());
        loop.watch(this, Step.END, 0, 0);
        loop.flush();
    }

    private void retry(Step step) {
        session.execute(() -> {
            if (step == Step.END) {
                remove();
            } else if (!session.hasEnded()) {
                writeHeader();
                loop().watch(this, Step.HEADER, 0, 0);
            }
        });
    }

    /** Operations that are retried until they are committed. */
    private enum Step implements StoreStep<SessionRecord> {
        HEADER,
        END;

        @Override
        public boolean completed(SessionRecord record, long value, int bytes, boolean kept) {
            return !kept;
        }

        @Override
        public void retry(SessionRecord record, long value) {
            record.retry(this);
        }
    }
}
