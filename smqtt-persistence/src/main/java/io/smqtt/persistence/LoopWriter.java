// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Will;
import io.smqtt.persistence.Operations.Kind;
import io.smqtt.spi.BrokerStore.CommitListener;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicName;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Collects the operations of one event loop, and returns the results of commits to it. */
final class LoopWriter implements StoreWriter, Operations.Listener {

    private static final Logger LOG = LoggerFactory.getLogger(LoopWriter.class);
    private static final int FIRST_CAPACITY = 16;
    private static final int LARGEST_CAPACITY = 4_096; // kept for the next flush

    private final Committer committer;
    private final Executor loop;
    private final CommitListener listener;
    private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean announced = new AtomicBoolean();
    private Operations gathered;
    private long position;

    LoopWriter(Committer committer, Executor loop, CommitListener listener) {
        this.committer = committer;
        this.loop = loop;
        this.listener = listener;
        gathered = new Operations(this, FIRST_CAPACITY);
    }

    @Override
    public void putSession(StoredSession session) {
        Will will = session.will();
        int willBytes = will == null ? 0 : will.message().footprintBytes();
        add(Kind.PUT_SESSION, session.number(), 0, session, session.clientId().length() + willBytes);
    }

    @Override
    public void removeSession(long session, String clientId) {
        add(Kind.REMOVE_SESSION, session, 0, null, 0);
    }

    @Override
    public void putSubscription(long session, StoredSubscription subscription) {
        add(
                Kind.PUT_SUBSCRIPTION,
                session,
                0,
                subscription,
                subscription.clientFilter().length());
    }

    @Override
    public void removeSubscription(long session, String clientFilter) {
        add(Kind.REMOVE_SUBSCRIPTION, session, 0, clientFilter, clientFilter.length());
    }

    @Override
    public void putMessage(long session, StoredMessage message) {
        ApplicationMessage body = message.message();
        int bytes = gathered.endsWith(body) ? 0 : body.footprintBytes();
        add(Kind.PUT_MESSAGE, session, message.sequence(), message, bytes);
    }

    @Override
    public void putDelivery(long session, long sequence, StoredDelivery delivery) {
        add(Kind.PUT_DELIVERY, session, sequence, delivery, 0);
    }

    @Override
    public void removeMessage(long session, long sequence) {
        add(Kind.REMOVE_MESSAGE, session, sequence, null, 0);
    }

    @Override
    public void removeHandedOver(long session, long sequence) {
        add(Kind.REMOVE_HANDED_OVER, session, sequence, null, 0);
    }

    @Override
    public void putReceived(long session, int packetId) {
        add(Kind.PUT_RECEIVED, session, packetId, null, 0);
    }

    @Override
    public void removeReceived(long session, int packetId) {
        add(Kind.REMOVE_RECEIVED, session, packetId, null, 0);
    }

    @Override
    public void putReleased(long session, int packetId, long number) {
        add(Kind.PUT_RELEASED, session, packetId, number, 0);
    }

    @Override
    public void putRetained(ApplicationMessage message) {
        add(Kind.PUT_RETAINED, 0, 0, message, message.footprintBytes());
    }

    @Override
    public void removeRetained(TopicName topic) {
        add(Kind.REMOVE_RETAINED, 0, 0, topic, 0);
    }

    @Override
    public void putRetained(ApplicationMessage message, RetainedVersion version) {
        add(Kind.PUT_VERSIONED, 0, 0, new Versioned(message, version), message.footprintBytes());
    }

    @Override
    public void putRetainedRemoval(TopicName topic, RetainedVersion version) {
        add(Kind.PUT_REMOVAL, 0, 0, new Removal(topic, version), topic.utf8().length);
    }

    @Override
    public void putNote(String name, byte[] note) {
        add(Kind.PUT_NOTE, 0, 0, new Note(name, note), note.length);
    }

    /** A retained message with its version. */
    record Versioned(ApplicationMessage message, RetainedVersion version) {}

    /** The removal of a retained message with its version. */
    record Removal(TopicName topic, RetainedVersion version) {}

    /** A note of a part of the broker. */
    @SuppressWarnings("ArrayRecordComponent") // handed over, not kept
    record Note(String name, byte[] content) {}

    private void add(Kind kind, long session, long number, @Nullable Object value, int bytes) {
        gathered.add(kind, session, number, value, bytes);
        position++;
    }

    @Override
    public void requireSync() {
        gathered.requireSync();
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public void flush() {
        Operations full = gathered;
        if (full.size() == 0) {
            return;
        }
        full.seal(position);
        gathered = new Operations(this, Math.min(LARGEST_CAPACITY, Math.max(FIRST_CAPACITY, full.size())));
        committer.submit(full);
    }

    @Override
    public boolean isOverloaded() {
        return committer.isOverloaded(gathered.bytes());
    }

    /** Passes a result to the loop, with one task for all results until it runs. */
    @Override
    public void completed(long lastPosition, @Nullable Throwable cause) {
        outcomes.add(new Outcome(lastPosition, cause));
        if (announced.compareAndSet(false, true)) {
            try {
                loop.execute(this::notifyListener);
            } catch (RejectedExecutionException e) {
                outcomes.clear(); // the loop has ended
                announced.set(false);
            } catch (RuntimeException | Error e) {
                LOG.error("notifying an event loop of a commit failed", e);
                announced.set(false); // retried with the next one
            }
        }
    }

    private void notifyListener() {
        announced.set(false);
        Outcome last = outcomes.poll();
        while (last != null) {
            Outcome next = outcomes.poll();
            if (next == null || next.cause != null || last.cause != null) {
                notifyListener(last);
            }
            last = next;
        }
    }

    private void notifyListener(Outcome outcome) {
        try {
            outcome.notify(listener);
        } catch (RuntimeException e) { // later results must still be delivered
            LOG.error("completing a commit failed", e);
        }
    }

    /**
     * The result of a flush.
     *
     * @param position its last operation
     * @param cause the failure, or null if it was stored
     */
    private record Outcome(long position, @Nullable Throwable cause) {

        void notify(CommitListener listener) {
            if (cause == null) {
                listener.committed(position);
            } else {
                listener.failed(position, cause);
            }
        }
    }
}
