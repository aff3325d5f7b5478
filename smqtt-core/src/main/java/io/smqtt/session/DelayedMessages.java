// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DelayedConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages that are published later. They wait in memory on the first event loop, in the order of their time. With a store each is also a row of
 * one queue, which is stored as a session with a reserved identifier: the event loop of the publisher writes it, and it is removed when all
 * receivers have stored the message. The time of acceptance of a waiting message is the time at which it is due, so that it survives a restart by the
 * store's clock, and an expiry interval begins then.
 */
public final class DelayedMessages {

    /** The key of the queue in the store. No client identifier can equal it. */
    static final String ID = InProcess.PREFIX + "$delayed";

    private static final Logger LOG = LoggerFactory.getLogger(DelayedMessages.class);
    private static final String ANY_FILTER = "#";
    private static final int[] NO_IDENTIFIERS = {};
    private static final int AT_ONCE = 500;

    private final SessionResources resources;
    private final RetainedKeeper retained;
    private final DelayedConfig limits;
    private final @Nullable Stores stores;
    private final RoutingLoop owner;
    private final DeadlineWheel wheel;

    // of all publishers
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final Map<String, Integer> byClient = new ConcurrentHashMap<>();
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong queue = new AtomicLong();
    private final AtomicLong lastSequence = new AtomicLong();

    /** By event loop: whether it has written the header of the queue. */
    private final boolean[] hasHeader;

    // of the owner
    private final TreeSet<Waiting> waiting = new TreeSet<>();
    private boolean isLoading;
    private final Deadline firstDue = new Deadline() {
        @Override
        protected void expired() {
            publishDue();
        }
    };

    DelayedMessages(SessionResources resources, RetainedKeeper retained, DelayedConfig limits) {
        this.resources = resources;
        this.retained = retained;
        this.limits = limits;
        this.stores = resources.stores();
        this.owner = resources.router().loops().get(0);
        this.wheel = resources.wheels().get(0);
        this.hasHeader = new boolean[resources.router().loops().size()];
    }

    /**
     * The number of waiting messages.
     *
     * @return messages
     */
    @AnyThread
    public long count() {
        return count.get();
    }

    /**
     * The size of waiting messages.
     *
     * @return bytes as counted by {@link ApplicationMessage#footprintBytes()}
     */
    @AnyThread
    public long bytes() {
        return bytes.get();
    }

    /**
     * The number of messages that were published in their time.
     *
     * @return messages since the start
     */
    @AnyThread
    public long published() {
        return published.get();
    }

    /**
     * The number of messages that were refused because of a limit.
     *
     * @return messages since the start
     */
    @AnyThread
    public long refused() {
        return refused.get();
    }

    // --- new messages

    /**
     * Accepts a message of a publisher that is allowed to publish it.
     *
     * @param loop the event loop of the publisher, on which this is called
     * @param message the message, with the topic to which it is published
     * @param seconds the delay
     * @param ticket held until the message is stored
     * @return {@link ReasonCode#SUCCESS}, or {@link ReasonCode#QUOTA_EXCEEDED}
     */
    @OnEventLoop
    public ReasonCode accept(RoutingLoop loop, ApplicationMessage message, long seconds, RouteTicket ticket) {
        ApplicationMessage kept = message.onHeap();
        if (!reserve(kept)) {
            refused.incrementAndGet();
            return ReasonCode.QUOTA_EXCEEDED;
        }
        long dueNanos = resources.ticker().nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        Waiting later =
                new Waiting(lastSequence.incrementAndGet(), kept.accepted(kept.id(), dueNanos, kept.publisherId()));
        Stores known = stores;
        if (known == null) {
            scheduleOnOwner(later);
        } else {
            store(known.of(loop), loop.index(), later, ticket == RouteTicket.NONE ? ticket : ticket.claim());
        }
        return ReasonCode.SUCCESS;
    }

    private void store(StoreLoop loop, int index, Waiting later, RouteTicket ticket) {
        Write write = new Write(index, later);
        if (!ticket.join(write)) {
            write.submit(loop.writer());
            if (ticket != RouteTicket.NONE) {
                loop.await(ticket);
            }
            loop.watch(write);
        }
    }

    /** Counts a message, unless a limit is reached. */
    private boolean reserve(ApplicationMessage message) {
        int size = message.footprintBytes();
        if (count.incrementAndGet() > limits.maxMessages()) {
            count.decrementAndGet();
            return false;
        }
        if (bytes.addAndGet(size) > limits.maxBytes()) {
            bytes.addAndGet(-size);
            count.decrementAndGet();
            return false;
        }
        if (byClient.merge(publisher(message), 1, Integer::sum) > limits.maxMessagesPerClient()) {
            release(message);
            return false;
        }
        return true;
    }

    private void release(ApplicationMessage message) {
        count.decrementAndGet();
        bytes.addAndGet(-message.footprintBytes());
        byClient.computeIfPresent(publisher(message), (id, messages) -> messages == 1 ? null : messages - 1);
    }

    private static String publisher(ApplicationMessage message) {
        return Objects.requireNonNullElse(message.publisherId(), "");
    }

    /** The number of the queue in the store; allocated with its first message. */
    private long queueNumber(Stores known) {
        long number = queue.get();
        if (number == 0) {
            queue.compareAndSet(0, known.store().newSession());
            number = queue.get();
        }
        return number;
    }

    /** The row of a message. It waits for its time from when it is stored: it would else be removed before it is written. */
    private final class Write implements JointOperation, StoreWaiter {

        private final int loopIndex;
        private final Waiting later;

        Write(int loopIndex, Waiting later) {
            this.loopIndex = loopIndex;
            this.later = later;
        }

        @Override
        public void submit(StoreWriter writer) {
            long number = queueNumber(Objects.requireNonNull(stores));
            if (!hasHeader[loopIndex]) {
                writer.putSession(header(number));
            }
            ApplicationMessage message = later.message;
            writer.putMessage(
                    number,
                    new StoredMessage(
                            later.sequence,
                            message,
                            ANY_FILTER,
                            message.qos(),
                            message.retain(),
                            NO_IDENTIFIERS,
                            StoredDelivery.WAITING));
        }

        @Override
        public void settled(boolean kept) {
            if (kept) {
                hasHeader[loopIndex] = true;
                scheduleOnOwner(later);
            } else {
                release(later.message);
                resources.observer().messageDropped(DropReason.FAILED, 1);
            }
        }

        @Override
        public boolean completed(boolean kept) {
            settled(kept);
            return false;
        }

        @Override
        public void retry() {
            // the publisher sends it again
        }
    }

    private static StoredSession header(long number) {
        return new StoredSession(
                number, ID, null, Stores.ENDLESS_SECONDS, StoredSession.NEVER, null, StoredSession.CONNECTED);
    }

    // --- messages of an earlier run

    /** Takes over the queue that was found in the store; its messages are read by {@link #start}. */
    void recovered(StoredSession header, StoredQueue found) {
        queue.set(header.number());
        lastSequence.set(found.nextSequence());
        isLoading = found.messages() > 0;
        if (isLoading) {
            LOG.info("recovered {} delayed messages", found.messages());
        }
    }

    /** Reads the messages of an earlier run. None is published before all are known, so that they leave in the order of their time. */
    void start() {
        if (isLoading) {
            long end = lastSequence.get();
            owner.executor().execute(() -> read(1, end));
        }
    }

    private void read(long from, long end) {
        Stores known = Objects.requireNonNull(stores);
        known.store()
                .read(
                        queue.get(),
                        from,
                        Stores.PAGE_MESSAGES,
                        Stores.PAGE_BYTES,
                        owner.executor(),
                        page -> loaded(known, page, from, end));
    }

    private void loaded(Stores known, StoredPage page, long from, long end) {
        if (page.failure() != null) {
            known.of(owner).readFailed(page.failure());
            known.of(owner).later(() -> read(from, end));
            return;
        }
        long next = end;
        for (StoredMessage stored : page.messages()) {
            next = stored.sequence() + 1;
            if (next <= end) {
                ApplicationMessage message = stored.message();
                count.incrementAndGet();
                bytes.addAndGet(message.footprintBytes());
                byClient.merge(publisher(message), 1, Integer::sum);
                waiting.add(new Waiting(stored.sequence(), message));
            }
        }
        if (next < end) {
            read(next, end);
        } else {
            isLoading = false;
            publishDue();
        }
    }

    // --- due messages

    /** Lets a message wait for its time, which may have come while it was stored or on its way to the owner. */
    @AnyThread
    private void scheduleOnOwner(Waiting later) {
        owner.executor().execute(() -> {
            waiting.add(later);
            if (waiting.first() == later && !isLoading) {
                publishDue();
            }
        });
    }

    private void publishDue() {
        long nowNanos = resources.ticker().nanoTime();
        for (int i = 0; i < AT_ONCE; i++) {
            if (waiting.isEmpty()) {
                return;
            }
            long leftNanos = waiting.first().dueNanos() - nowNanos;
            if (leftNanos > 0) {
                wheel.arm(firstDue, TimeUnit.NANOSECONDS.toMillis(leftNanos) + 1);
                return;
            }
            publish(Objects.requireNonNull(waiting.pollFirst()), nowNanos);
        }
        owner.executor().execute(this::publishDue); // clients have their turn in between
    }

    private void publish(Waiting due, long nowNanos) {
        ApplicationMessage message = due.message;
        release(message);
        if (message.isExpired(nowNanos)) { // the broker was not running
            resources.observer().messageDropped(DropReason.EXPIRED, 1);
            remove(due);
            return;
        }
        published.incrementAndGet();
        RouteTicket ticket = ticket(due);
        if (message.retain()) {
            retained.retain(owner, message, ticket);
        }
        resources.router().route(owner, message, ticket);
        ticket.release(true);
    }

    private RouteTicket ticket(Waiting due) {
        Stores known = stores;
        return known == null
                ? RouteTicket.NONE
                : new WillTicket(
                        () -> owner.executor().execute(() -> remove(due)),
                        known.waits(),
                        known.of(owner).isStable());
    }

    private void remove(Waiting due) {
        Stores known = stores;
        if (known != null) {
            known.of(owner).writer().removeMessage(queue.get(), due.sequence);
        }
    }

    /** A message that waits, ordered by its time; of the same time, by its arrival. */
    private record Waiting(long sequence, ApplicationMessage message) implements Comparable<Waiting> {

        long dueNanos() {
            return message.acceptedAtNanos();
        }

        @Override
        public int compareTo(Waiting other) {
            int byTime = Long.signum(dueNanos() - other.dueNanos());
            return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
        }
    }
}
