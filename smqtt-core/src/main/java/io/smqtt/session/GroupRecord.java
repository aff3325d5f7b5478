// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The stored part of a shared group, in the form of a session. It is written by the event loop of the group's queue, and by those
 * of members: a member stores a QoS 1 message under the group's number if it is not acknowledged at once, and removes it when it
 * is. So such a message is the group's after a crash, whoever had it.
 */
@OnEventLoop
final class GroupRecord {

    private static final int RANGE_BITS = 24;
    private static final long LAST_OF_RANGE = (1L << RANGE_BITS) - 1;
    private static final int[] NO_IDENTIFIERS = {};

    private final GroupQueue queue;
    private final @Nullable Stores stores;
    private volatile long number;
    private volatile boolean headerKept;
    private volatile boolean recovered;

    /** Numbers of messages that are sent at once begin here in this run of the broker; 0 if none was sent. */
    private volatile long firstSentAtOnce;

    /** Guarded by this. */
    private long sentAtOnce;

    GroupRecord(GroupQueue queue, @Nullable Stores stores) {
        this.queue = queue;
        this.stores = stores;
    }

    /** The group was found in the store. At the start. */
    @AnyThread
    void recovered(long found) {
        number = found;
        headerKept = true;
        recovered = true;
    }

    /** Whether the group was there in an earlier run of the broker. */
    @AnyThread
    boolean wasRecovered() {
        return recovered;
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
     * The group's number in the store. The group is written there if it is not, in the same flush as what follows.
     *
     * @param loop the event loop where this is called
     * @return 0 if the group is no more
     */
    long number(StoreLoop loop) {
        long present = number;
        if (present != 0 && headerKept) {
            return present;
        }
        synchronized (this) {
            if (number == 0 && stores != null && !queue.hasEnded()) {
                number = stores.store().newSession();
            }
            if (number != 0) {
                writeHeader(loop, number);
            }
            return number;
        }
    }

    /** The header is safe: messages need not bring it any more. */
    @AnyThread
    void headerKept(long of) {
        if (of == number) {
            headerKept = true;
        }
    }

    private void writeHeader(StoreLoop loop, long of) {
        loop.writer()
                .putSession(new StoredSession(
                        of,
                        queue.id(),
                        null,
                        SessionRecord.ENDLESS_SECONDS,
                        StoredSession.NEVER,
                        null,
                        StoredSession.CONNECTED));
        loop.watch(queue, GroupStep.HEADER, of, 0);
    }

    /** The group is gone. */
    void remove() {
        if (number != 0) {
            remove(number);
        }
    }

    private void remove(long of) {
        StoreLoop loop = queue.loop();
        loop.writer().removeSession(of, queue.id());
        loop.watch(queue, GroupStep.END, of, 0);
    }

    /** Submits a step again. On the event loop of the queue, or of a member that wrote the header. */
    void retry(GroupStep step, long of) {
        queue.owner().executor().execute(() -> {
            if (step == GroupStep.END) {
                remove(of);
            } else if (!queue.hasEnded() && !headerKept) {
                writeHeader(queue.loop(), of);
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
                        queue.subscription().clientFilter(),
                        message.qos(),
                        message.retain(),
                        NO_IDENTIFIERS,
                        StoredDelivery.WAITING));
    }

    /**
     * Stores a QoS 1 message that a member was sent at once and has not acknowledged in time.
     *
     * @param loop the member's event loop, where this is called
     */
    GroupMessage store(StoreLoop loop, ApplicationMessage message) {
        GroupMessage entry = new GroupMessage(queue, message, nextSentAtOnce(), number(loop));
        if (entry.isStored()) {
            put(loop.writer(), entry);
        }
        return entry;
    }

    /**
     * Takes a QoS 2 message that a member has stored and not sent. It waits in the queue when the store has done so.
     *
     * @param loop the member's event loop, where this is called
     * @param session the member's number in the store
     * @param ofSession the message's number there
     */
    void takeOver(StoreLoop loop, ApplicationMessage message, long session, long ofSession) {
        GroupMessage entry = store(loop, message);
        if (session != 0) {
            loop.writer().removeHandedOver(session, ofSession);
        }
        loop.watch(new TakeOver(loop, entry, session, ofSession));
    }

    /** Puts a message into the queue when it is safe there, however long that takes. */
    private record TakeOver(StoreLoop loop, GroupMessage entry, long session, long ofSession) implements StoreWaiter {

        @Override
        public boolean completed(boolean kept) {
            if (kept) {
                entry.queue().giveBack(List.of(entry));
            }
            return !kept;
        }

        @Override
        public void retry() {
            entry.queue().record().takeOver(loop, entry.message(), session, ofSession);
        }
    }

    /** A number below those that wait in order, which no run of the broker has given before. */
    @AnyThread
    synchronized long nextSentAtOnce() {
        if (stores != null && (sentAtOnce & LAST_OF_RANGE) == 0) { // the first, or all of a range are used up
            sentAtOnce = stores.store().newSession() << RANGE_BITS;
            if (firstSentAtOnce == 0) {
                firstSentAtOnce = sentAtOnce;
            }
        }
        return sentAtOnce++;
    }

    /** Whether a member of this run has, or had, a message. */
    @AnyThread
    boolean isSentAtOnce(long message) {
        long first = firstSentAtOnce;
        return first != 0 && message >= first && message < GroupQueue.FIRST_WAITING;
    }

    /**
     * Forgets a message that a member is done with.
     *
     * @param loop the event loop where this is called
     */
    static void settle(StoreLoop loop, GroupMessage entry) {
        loop.writer().removeMessage(entry.record(), entry.number());
        loop.watch(new Removal(loop, entry));
    }

    /** Removes a message again if the store has not done so. */
    private record Removal(StoreLoop loop, GroupMessage entry) implements StoreWaiter {

        @Override
        public boolean completed(boolean kept) {
            return !kept;
        }

        @Override
        public void retry() {
            if (!entry.queue().hasEnded()) {
                settle(loop, entry);
            }
        }
    }

    /** Reads a page; the reply comes on the event loop of the queue. */
    void read(long from, Consumer<StoredPage> reply) {
        queue.loop().flush(); // what is submitted is seen
        if (stores != null) {
            stores.store()
                    .read(
                            number,
                            from,
                            DurableQueue.PAGE_MESSAGES,
                            DurableQueue.PAGE_BYTES,
                            queue.owner().executor(),
                            reply);
        }
    }
}
