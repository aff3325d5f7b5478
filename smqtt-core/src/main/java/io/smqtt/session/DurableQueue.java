// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredQueue;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages of a stored session. All of them are in the store, numbered in their order. Those in flight are in the
 * {@link InFlightWindow} as well, and while a client is connected some of those that follow wait here to be sent; of the
 * others only their number and their bytes are in memory. They are read page by page as the window has room, so that the
 * numbers of what is in flight, of what is at hand and of what is only in the store always follow each other. On the
 * session's event loop.
 */
final class DurableQueue implements StoreWaiter {

    /** What a commit is about; the footprint of a message stands above it in the detail. */
    static final int WAITING_APPENDED = 0;

    static final int SENT_APPENDED = 1;
    static final int SENT_WRITTEN = 2;
    static final int RECEIVED_WRITTEN = 3;
    static final int REMOVED = 4;
    static final int READ = 5;

    private static final Logger LOG = LoggerFactory.getLogger(DurableQueue.class);
    private static final int KIND_BITS = 3;
    private static final int PAGE_MESSAGES = 256;
    private static final int PAGE_BYTES = 256 * 1024;
    private static final int FEW = 64;

    private final Session session;
    private final SessionRecord record;
    private final SessionResources resources;
    private @Nullable OutboundFlow flow;

    private long next;
    private long unreadFrom;
    private int waiting;
    private long bytes;

    /** Joint messages that wait and are not safe yet, in order. */
    private @Nullable ArrayDeque<Joint> joint;

    // valid for the connection
    private @Nullable ArrayDeque<Ready> ready;
    private boolean connected;
    private boolean reading;
    private int epoch;
    private @Nullable StoredMessage last;
    private @Nullable Subscription lastSubscription;

    /** A message that can be sent when the window has room. */
    record Ready(
            long number, ApplicationMessage message, Subscription subscription, QoS qos, StoredDelivery delivery) {}

    DurableQueue(Session session, SessionRecord record, SessionResources resources, StoredQueue stored) {
        this.session = session;
        this.record = record;
        this.resources = resources;
        this.next = stored.nextSequence();
        this.unreadFrom = stored.firstSequence();
        this.waiting = stored.messages();
        this.bytes = stored.bytes();
    }

    void flow(OutboundFlow newFlow) {
        flow = newFlow;
    }

    void attach() {
        epoch++;
        connected = true;
        reading = false;
    }

    /** What is at hand is only in the store again. */
    void detach() {
        epoch++;
        connected = false;
        reading = false;
        if (ready != null && !ready.isEmpty()) {
            unreadFrom = ready.element().number;
            ready.forEach(entry -> resources.budget().add(-entry.message.footprintBytes()));
        }
        ready = null;
        last = null;
        lastSubscription = null;
    }

    /** Whether nothing waits: what comes may be sent at once. */
    boolean isEmpty() {
        return waiting == 0 && unreadFrom == next;
    }

    int count() {
        return waiting;
    }

    long bytes() {
        return bytes;
    }

    boolean waits() {
        return record.waits();
    }

    /** Why one more message does not fit, or null if it does. */
    @Nullable
    DropReason refusal(int footprintBytes, LimitsConfig limits) {
        if (waiting >= limits.maxQueuedMessages()) {
            return DropReason.QUEUE_COUNT;
        }
        return bytes + footprintBytes > limits.maxQueuedBytes() ? DropReason.QUEUE_BYTES : null;
    }

    // --- what is written

    /**
     * Stores a message that is about to be sent; nothing must wait.
     *
     * @param sequence its place in the window
     * @return its number
     */
    long append(
            ApplicationMessage message, Subscription subscription, QoS qos, long sequence, RouteTicket ticket) {
        long number = next++;
        unreadFrom = next;
        StoredDelivery delivery =
                new StoredDelivery(StoredDelivery.State.SENT, InFlightWindow.packetId(sequence));
        StoredMessage stored = stored(number, message, subscription, qos, delivery);
        if (qos == QoS.EXACTLY_ONCE && ticket.join(new Joint(stored, sequence))) {
            return number;
        }
        StoreLoop loop = record.loop();
        loop.writer().putMessage(record.number(), stored);
        if (qos == QoS.EXACTLY_ONCE && waits()) {
            loop.await(this, sequence, SENT_APPENDED);
        }
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        return number;
    }

    /** Stores a message that has to wait. */
    void enqueue(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        long number = next++;
        int footprint = message.footprintBytes();
        waiting++;
        bytes += footprint;
        StoredMessage stored = stored(number, message, subscription, qos, StoredDelivery.WAITING);
        if (qos == QoS.EXACTLY_ONCE) {
            Joint part = new Joint(stored, -1);
            if (ticket.join(part)) {
                if (joint == null) {
                    joint = new ArrayDeque<>();
                }
                joint.add(part);
                return;
            }
        }
        StoreLoop loop = record.loop();
        loop.writer().putMessage(record.number(), stored);
        if (ticket != RouteTicket.NONE) {
            loop.await(ticket);
        }
        loop.watch(this, number, footprint << KIND_BITS | WAITING_APPENDED);
        if (connected && unreadFrom == number && readyCount() < PAGE_MESSAGES) {
            unreadFrom = next;
            addReady(new Ready(number, message, subscription, qos, StoredDelivery.WAITING));
        }
    }

    private static StoredMessage stored(
            long number, ApplicationMessage message, Subscription subscription, QoS qos, StoredDelivery delivery) {
        return new StoredMessage(
                number,
                message,
                subscription.clientFilter(),
                qos,
                message.retain() && subscription.retainAsPublished(),
                subscription.identifiers(),
                delivery);
    }

    /** A message that waited is about to be sent. */
    void sent(long number, QoS qos, long sequence) {
        StoreLoop loop = record.loop();
        loop.writer()
                .putDelivery(
                        record.number(),
                        number,
                        new StoredDelivery(StoredDelivery.State.SENT, InFlightWindow.packetId(sequence)));
        if (qos == QoS.EXACTLY_ONCE && waits()) {
            loop.await(this, sequence, SENT_WRITTEN);
        } else {
            loop.watch(this, sequence, SENT_WRITTEN);
        }
    }

    /** A PUBREC has come. */
    void received(long number, long sequence) {
        StoreLoop loop = record.loop();
        loop.writer()
                .putDelivery(
                        record.number(),
                        number,
                        new StoredDelivery(StoredDelivery.State.RECEIVED, InFlightWindow.packetId(sequence)));
        if (waits()) {
            loop.await(this, sequence, RECEIVED_WRITTEN);
        } else {
            loop.watch(this, sequence, RECEIVED_WRITTEN);
        }
    }

    /** A message is done with. */
    void remove(long number) {
        StoreLoop loop = record.loop();
        loop.writer().removeMessage(record.number(), number);
        loop.watch(this, number, REMOVED);
    }

    /** A message of a shared subscription that goes to another member. */
    Departure departure(ApplicationMessage message, Subscription subscription, long number) {
        return new Departure(session, this, number, message, subscription);
    }

    // --- what became of it

    @Override
    public boolean settled(long value, int detail, boolean kept) {
        int kind = detail & (1 << KIND_BITS) - 1;
        if (kept && (kind == WAITING_APPENDED || kind == REMOVED)) {
            return false;
        }
        if (session.isHere()) {
            return settledHere(value, detail, kept);
        }
        session.execute(() -> {
            if (settledHere(value, detail, kept)) {
                again(value, detail);
            }
        });
        return false;
    }

    private boolean settledHere(long value, int detail, boolean kept) {
        if (session.hasEnded()) {
            return false;
        }
        int kind = detail & (1 << KIND_BITS) - 1;
        switch (kind) {
            case WAITING_APPENDED -> lost(value, detail >>> KIND_BITS);
            case REMOVED, READ -> {
                return true;
            }
            default -> {
                return flow != null && flow.stored(value, kind, kept);
            }
        }
        return false;
    }

    @Override
    public void again(long value, int detail) {
        if (!session.isHere()) {
            session.execute(() -> again(value, detail));
        } else if (!session.hasEnded()) {
            int kind = detail & (1 << KIND_BITS) - 1;
            switch (kind) {
                case REMOVED -> remove(value);
                case READ -> fetch();
                default -> {
                    if (flow != null) {
                        flow.storeAgain(value, kind);
                    }
                }
            }
        }
    }

    /** A message that waited could not be stored. */
    private void lost(long number, int footprint) {
        if (number >= unreadFrom) {
            forget(footprint);
        } else if (ready != null && ready.removeIf(entry -> entry.number == number)) {
            resources.budget().add(-footprint);
            forget(footprint);
        } else if (flow == null || !flow.lost(number)) {
            return; // it was sent meanwhile
        }
        resources.observer().messageDropped(DropReason.FAILED, 1);
    }

    private void forget(int footprint) {
        waiting = Math.max(0, waiting - 1);
        bytes = waiting == 0 ? 0 : Math.max(0, bytes - footprint);
    }

    /** A message that is stored by the publisher's event loop. */
    private final class Joint implements JointOperation {

        private final StoredMessage stored;
        private final long sequence;
        private boolean isSettled;

        Joint(StoredMessage stored, long sequence) {
            this.stored = stored;
            this.sequence = sequence;
        }

        @Override
        public void submit(StoreWriter writer) {
            writer.putMessage(record.number(), stored);
        }

        @Override
        public void settled(boolean kept) {
            if (session.isHere()) {
                settledHere(kept);
            } else {
                session.execute(() -> settledHere(kept));
            }
        }

        private void settledHere(boolean kept) {
            if (session.hasEnded()) {
                if (kept) {
                    record.writer().removeMessage(record.number(), stored.sequence()); // came behind the session's end
                }
            } else if (sequence >= 0) {
                if (flow != null) {
                    flow.stored(sequence, SENT_APPENDED, kept);
                }
            } else {
                isSettled = true;
                if (!kept) {
                    forget(stored.message().footprintBytes());
                    resources.observer().messageDropped(DropReason.FAILED, 1);
                }
                jointSettled();
            }
        }
    }

    private void jointSettled() {
        ArrayDeque<Joint> parts = joint;
        while (parts != null && !parts.isEmpty() && parts.element().isSettled) {
            parts.remove();
        }
        if (parts != null && parts.isEmpty()) {
            joint = null;
        }
        fetch();
    }

    // --- what is read

    @Nullable
    Ready peek() {
        return ready == null ? null : ready.peek();
    }

    /** Takes off what {@link #peek()} gave. */
    void poll() {
        if (ready != null) {
            int footprint = ready.remove().message.footprintBytes();
            resources.budget().add(-footprint);
            forget(footprint);
        }
    }

    private int readyCount() {
        return ready == null ? 0 : ready.size();
    }

    private void addReady(Ready entry) {
        if (ready == null) {
            ready = new ArrayDeque<>();
        }
        ready.add(entry);
        resources.budget().add(entry.message.footprintBytes());
    }

    /** Reads a page if little is left at hand. */
    void fetch() {
        if (reading || !connected || unreadFrom == next || readyCount() >= FEW) {
            return;
        }
        if (joint != null && joint.element().stored.sequence() <= unreadFrom) {
            return; // goes on when it is safe
        }
        reading = true;
        record.loop().flush(); // what is submitted is seen
        int asked = epoch;
        long end = next;
        record.stores()
                .store()
                .read(
                        record.number(),
                        unreadFrom,
                        PAGE_MESSAGES,
                        PAGE_BYTES,
                        session.owner().executor(),
                        page -> read(page, asked, end));
    }

    private void read(StoredPage page, int asked, long end) {
        if (asked != epoch || session.hasEnded()) {
            return;
        }
        reading = false;
        if (page.failure() != null) {
            LOG.warn("messages of a session cannot be read; trying again", page.failure());
            record.loop().later(this, 0, READ);
            return;
        }
        long barrier = joint == null ? Long.MAX_VALUE : joint.element().stored.sequence();
        boolean found = false;
        for (StoredMessage message : page.messages()) {
            if (message.sequence() >= barrier) {
                break;
            }
            if (message.sequence() >= unreadFrom) {
                found = true;
                unreadFrom = message.sequence() + 1;
                addReady(ready(message));
            }
        }
        if (!found) {
            nothingUpTo(Math.min(end, barrier));
        }
        if (flow != null) {
            flow.pump();
        }
    }

    /** There is nothing up to a number: what was counted and is not there, was lost or done with. */
    private void nothingUpTo(long end) {
        unreadFrom = Math.max(unreadFrom, end);
        if (unreadFrom == next) {
            waiting = readyCount();
            if (waiting == 0) {
                bytes = 0;
            }
        }
    }

    private Ready ready(StoredMessage message) {
        Subscription subscription = lastSubscription;
        StoredMessage like = last;
        boolean same = like != null
                && like.qos() == message.qos()
                && like.retain() == message.retain()
                && like.clientFilter().equals(message.clientFilter())
                && Arrays.equals(like.identifiers(), message.identifiers());
        if (subscription == null || !same) {
            subscription = Subscription.ofDelivery(
                    session, message.clientFilter(), message.qos(), message.retain(), message.identifiers());
            lastSubscription = subscription;
            last = message;
        }
        return new Ready(message.sequence(), message.message(), subscription, message.qos(), message.delivery());
    }

    /** Forgets everything, when the session ends. */
    int end() {
        int dropped = waiting;
        detach();
        waiting = 0;
        bytes = 0;
        joint = null;
        return dropped;
    }
}
