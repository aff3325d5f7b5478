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
import io.smqtt.spi.StoredSubscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The stored part of one session: its header, subscriptions, QoS 2 identifiers, and the way to its messages. What could not
 * be written is written again later, as it is then.
 */
@OnEventLoop
final class SessionRecord {

    static final long ENDLESS_SECONDS = 0xFFFF_FFFFL;

    /** The queue of a session that has no messages yet. */
    static final StoredQueue NOTHING_WAITS = new StoredQueue(1, 1, 0, 0);

    private final Session session;
    private final Stores stores;
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

    /** A will that is being published. The session's end is not forgotten before that is safe. */
    private @Nullable Will publishing;

    /** Whether the session has ended and all its messages have gone. */
    private boolean left;

    SessionRecord(Session session, SessionResources resources, Stores stores, long number, StoredQueue waiting) {
        this.session = session;
        this.stores = stores;
        this.number = number;
        this.queue = new DurableQueue(session, this, resources, waiting);
    }

    /** The number of the session in the store. */
    long number() {
        return number;
    }

    @AnyThread
    DurableQueue queue() {
        return queue;
    }

    /** Whether anything waits for the store. */
    boolean waits() {
        return stores.waits();
    }

    Stores stores() {
        return stores;
    }

    /** What the session's present event loop writes to the store. */
    StoreLoop loop() {
        return stores.of(session.owner());
    }

    StoreWriter writer() {
        return loop().writer();
    }

    /** Grows with each header that was written. */
    int version() {
        return version;
    }

    /** The values of a header that a new connection has changed, to restore them if it fails. */
    record Before(
            int version,
            @Nullable String userName,
            Set<String> roles,
            long expirySeconds,
            long expiresAtMillis,
            @Nullable Will will,
            long willAtMillis) {}

    /** What the header says now. */
    Before before() {
        return new Before(version, userName, roles, expirySeconds, expiresAtMillis, will, willAtMillis);
    }

    /** A client was refused, because its header could not be written: what was before it is still in force. */
    void restore(Before before) {
        userName = before.userName;
        roles = before.roles;
        if (version == before.version + 1) { // nobody has written it since
            expirySeconds = before.expirySeconds;
            expiresAtMillis = before.expiresAtMillis;
            will = before.will;
            willAtMillis = before.willAtMillis;
        }
    }

    /** A client is, or is about to be, connected. */
    void connected(SessionRequest request) {
        userName = request.client().userName();
        roles = request.client().roles();
        expirySeconds = request.expirySeconds();
        expiresAtMillis = StoredSession.CONNECTED;
        will = request.will();
        willAtMillis = StoredSession.CONNECTED;
        writeHeader();
    }

    /** The client is gone. */
    void disconnected(long newExpirySeconds, @Nullable Will waiting) {
        long now = stores.store().clockMillis();
        expirySeconds = newExpirySeconds;
        expiresAtMillis =
                expirySeconds == ENDLESS_SECONDS ? StoredSession.NEVER : now + TimeUnit.SECONDS.toMillis(expirySeconds);
        will = waiting;
        willAtMillis = waiting == null
                ? StoredSession.CONNECTED
                : now + TimeUnit.SECONDS.toMillis(Math.min(waiting.delaySeconds(), expirySeconds));
        writeHeader();
        loop().watch(this, Step.HEADER, 0, 0);
    }

    /** The client has authenticated again. */
    void reauthenticated(ClientIdentity client) {
        if (!client.roles().equals(roles) || !Objects.equals(client.userName(), userName)) {
            userName = client.userName();
            roles = client.roles();
            writeHeader();
            loop().watch(this, Step.HEADER, 0, 0);
        }
    }

    /** A will is about to be published; {@link #willGone} follows unless it cannot be kept. */
    void willDue(Will due) {
        publishing = due;
    }

    /** A will is published, or will not be. */
    @SuppressWarnings("ReferenceEquality") // the next client may have an equal one
    void willGone(Will gone) {
        if (publishing == gone) {
            publishing = null;
        }
        if (session.hasEnded()) {
            removeWhenAllIsGone();
        } else if (will == gone) {
            will = null;
            willAtMillis = StoredSession.CONNECTED;
            writeHeader();
            loop().watch(this, Step.HEADER, 0, 0);
        }
    }

    /** Takes over what was read at the start, when nothing may be written yet. */
    void recovered(StoredSession stored) {
        userName = stored.userName();
        roles = stored.roles();
        expirySeconds = stored.expirySeconds();
        expiresAtMillis = stored.expiresAtMillis();
        will = stored.will();
        willAtMillis = stored.willAtMillis();
    }

    /** When the session ends, by the store's clock. */
    long expiresAtMillis() {
        return expiresAtMillis;
    }

    /** When the will is due, by the store's clock. */
    long willAtMillis() {
        return willAtMillis;
    }

    private void writeHeader() {
        version++;
        writer().putSession(new StoredSession(
                number, session.id(), userName, roles, expirySeconds, expiresAtMillis, will, willAtMillis));
    }

    /** Tells whether everything up to now is safe, in time. */
    void await(CommitCallback callback) {
        await(stores.waits(), loop().isStable(), callback);
    }

    /** Tells whether everything up to now is safe, to one who waits as told. */
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
            writer.putSubscription(
                    number,
                    new StoredSubscription(
                            clientFilter,
                            present.maximumQos(),
                            present.noLocal(),
                            present.retainAsPublished(),
                            present.identifier()));
        }
        loop().watch(new SubscriptionChange(clientFilter));
    }

    /** Writes a subscription again, as it is then. */
    private final class SubscriptionChange implements StoreWaiter {

        private final String clientFilter;

        SubscriptionChange(String clientFilter) {
            this.clientFilter = clientFilter;
        }

        @Override
        public boolean completed(boolean kept) {
            return !kept && (!session.isHere() || isFirst());
        }

        /** A filter is written again once, however often it changes meanwhile. */
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
                    subscriptionChanged(clientFilter, session.subscriptions().get(clientFilter));
                }
            });
        }
    }

    /** A QoS 2 message of the client has been routed: what that wrote and this become safe together. */
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

    /** A QoS 2 message was released; the callback comes when that is safe, however long it takes. */
    void released(int packetId, boolean waits, boolean stable, Runnable callback) {
        writer().removeReceived(number, packetId);
        if (waits) {
            loop().await(new Release(packetId, stable, callback), stable);
        } else {
            callback.run();
        }
    }

    /** The identifier must not be used again by the client before the store has forgotten it. */
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
                    released(packetId, true, stable, callback);
                }
            });
        }
    }

    /**
     * The session ends: everything goes, before a new session of the client can be stored, or is marked so that it goes
     * after a restart as well, with the will if that is not safe yet.
     */
    void end() {
        queue.end();
        left = true;
        if (publishing != null) {
            expirySeconds = 0;
            expiresAtMillis = StoredSession.CONNECTED;
            will = publishing;
            willAtMillis = StoredSession.CONNECTED;
            writeHeader();
            loop().flush();
        }
        removeWhenAllIsGone();
    }

    private void removeWhenAllIsGone() {
        if (left && publishing == null) {
            remove();
        }
    }

    /** The session is safe on another node. */
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

    /** Operations that are submitted again until they are kept. */
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
