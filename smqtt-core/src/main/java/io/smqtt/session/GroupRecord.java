// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The stored part of a shared group, in the form of a session. It is written by the event loop of the group's queue and by
 * those of its members. A member stores a QoS 1 message under the group's number if it is not acknowledged at once, and
 * removes it at the acknowledgement. So after a crash such a message belongs to the group, whichever member had it.
 */
@OnEventLoop
final class GroupRecord {

    /** The first number of messages that wait in order. Lower numbers belong to messages that were sent at once. */
    static final long FIRST_WAITING = 1L << 62;

    private static final String ID_PREFIX = InProcess.PREFIX + SharedFilter.PREFIX;
    private static final int RANGE_BITS = 24;
    private static final long LAST_OF_RANGE = (1L << RANGE_BITS) - 1;
    private static final int[] NO_IDENTIFIERS = {};

    private final MessageGroup group;
    private final String id;
    private final String clientFilter;
    private final RoutingLoop owner;
    private final @Nullable Stores stores;
    private volatile long number;
    private volatile boolean headerKept;
    private volatile boolean recovered;

    /** The first number of messages that were sent at once in this run of the broker; 0 if none was sent. */
    private volatile long firstSentAtOnce;

    /** Guarded by this. */
    private long sentAtOnce;

    /**
     * Creates the record of a group that is not stored.
     *
     * @param owner the event loop of the group's queue
     */
    GroupRecord(MessageGroup group, SharedFilter name, RoutingLoop owner, @Nullable Stores stores) {
        this.group = group;
        this.id = id(name);
        this.clientFilter = name.toString();
        this.owner = owner;
        this.stores = stores;
    }

    /** The key of a group in the store. No client identifier can equal it. */
    @AnyThread
    static String id(SharedFilter name) {
        return InProcess.PREFIX + name;
    }

    /** Returns the group that was found in the store, or null if the record is a session. */
    @AnyThread
    static @Nullable SharedFilter group(String id) {
        return id.startsWith(ID_PREFIX) ? SharedFilter.of(id.substring(InProcess.PREFIX.length())) : null;
    }

    /** Restores the group from the store. At the start. */
    @AnyThread
    void recovered(long found) {
        number = found;
        headerKept = true;
        recovered = true;
    }

    /** Whether the group existed in an earlier run of the broker. */
    @AnyThread
    boolean wasRecovered() {
        return recovered;
    }

    /** Whether the queue of the group had taken a delivery before this broker was started, see {@link TakenNotes}. */
    @AnyThread
    boolean tookBefore(long deliveryId) {
        return stores != null && number != 0 && stores.takenBefore().knows(TakenNotes.delivery(number, deliveryId));
    }

    /** See {@link SessionRecord#hasLost}. */
    @AnyThread
    boolean hasLost(DeliveryHistory history, long deliveryId) {
        return stores != null && history.hasLostNoted(TakenNotes.delivery(number, deliveryId));
    }

    @AnyThread
    boolean exists() {
        return number != 0;
    }

    /** The group's number in the store, or 0. */
    @AnyThread
    long number() {
        return number;
    }

    /**
     * Returns the group's number in the store. Writes the group's header if it is not stored, in the same flush as what
     * follows.
     *
     * @param loop the current event loop
     * @return 0 if the group has ended
     */
    long number(StoreLoop loop) {
        long present = number;
        if (present != 0 && headerKept) {
            return present;
        }
        synchronized (this) {
            if (number == 0 && stores != null && !group.hasEnded()) {
                number = stores.store().newSession();
            }
            if (number != 0) {
                writeHeader(loop, number);
            }
            return number;
        }
    }

    /** Marks the header as committed: messages need not include it any more. */
    private void headerKept(long of) {
        if (of == number) {
            headerKept = true;
        }
    }

    private void writeHeader(StoreLoop loop, long of) {
        loop.writer()
                .putSession(new StoredSession(
                        of, id, null, Stores.ENDLESS_SECONDS, StoredSession.NEVER, null, StoredSession.CONNECTED));
        loop.watch(this, Step.HEADER, of, 0);
    }

    /** Removes the group. */
    void remove() {
        if (number != 0) {
            remove(number);
        }
    }

    private void remove(long of) {
        StoreLoop loop = loop();
        loop.writer().removeSession(of, id);
        loop.watch(this, Step.END, of, 0);
    }

    private StoreLoop loop() {
        return Objects.requireNonNull(stores).of(owner);
    }

    /** Operations that are retried until they are committed; their value is the group's number. */
    private enum Step implements StoreStep<GroupRecord> {
        HEADER,
        END;

        @Override
        public boolean completed(GroupRecord record, long value, int bytes, boolean kept) {
            if (this == HEADER && kept) {
                record.headerKept(value);
            }
            return !kept;
        }

        @Override
        public void retry(GroupRecord record, long value) {
            record.retry(this, value);
        }
    }

    /** Submits a failed operation again. On the event loop of the queue, or of the member that wrote the header. */
    private void retry(Step step, long of) {
        owner.executor().execute(() -> {
            if (step == Step.END) {
                remove(of);
            } else if (!group.hasEnded() && !headerKept) {
                writeHeader(loop(), of);
            }
        });
    }

    // --- messages

    /** Writes a message under the group's number. */
    void put(StoreWriter writer, GroupMessage entry) {
        ApplicationMessage message = entry.message();
        writer.putMessage(
                entry.record(),
                new StoredMessage(
                        entry.number(),
                        message,
                        clientFilter,
                        message.qos(),
                        message.retain(),
                        NO_IDENTIFIERS,
                        StoredDelivery.WAITING));
    }

    /** See {@link MessageGroup#store}. */
    GroupMessage store(StoreLoop loop, ApplicationMessage message) {
        GroupMessage entry = new GroupMessage(group, message, nextSentAtOnce(), number(loop));
        if (entry.isStored()) {
            put(loop.writer(), entry);
        }
        return entry;
    }

    /** See {@link MessageGroup#takeOver}. */
    void takeOver(StoreLoop loop, ApplicationMessage message, long session, long ofSession) {
        GroupMessage entry = store(loop, message);
        if (session != 0) {
            loop.writer().removeHandedOver(session, ofSession);
        }
        loop.watch(new TakeOver(loop, entry, session, ofSession));
    }

    /** Queues a message when it is committed, and retries until then. */
    private record TakeOver(StoreLoop loop, GroupMessage entry, long session, long ofSession) implements StoreWaiter {

        @Override
        public boolean completed(boolean kept) {
            if (kept) {
                entry.group().giveBack(List.of(entry));
            }
            return !kept;
        }

        @Override
        public void retry() {
            entry.group().takeOver(loop, entry.message(), session, ofSession);
        }
    }

    /** Allocates a number below those that wait in order and unused in all runs of the broker. */
    @AnyThread
    synchronized long nextSentAtOnce() {
        if (stores != null && (sentAtOnce & LAST_OF_RANGE) == 0) { // the first one, or the range is used up
            sentAtOnce = stores.store().newSession() << RANGE_BITS;
            if (firstSentAtOnce == 0) {
                firstSentAtOnce = sentAtOnce;
            }
        }
        return sentAtOnce++;
    }

    /** Whether a member has, or had, a message in this run of the broker. */
    @AnyThread
    boolean isSentAtOnce(long message) {
        long first = firstSentAtOnce;
        return first != 0 && message >= first && message < FIRST_WAITING;
    }

    /** Reads a page; the reply comes on the event loop of the queue. */
    void read(long from, Consumer<StoredPage> reply) {
        if (stores != null) {
            loop().flush(); // makes submitted writes visible to the read
            stores.store().read(number, from, Stores.PAGE_MESSAGES, Stores.PAGE_BYTES, owner.executor(), reply);
        }
    }
}
