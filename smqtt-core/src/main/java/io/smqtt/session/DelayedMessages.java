// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DelayedConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

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
    private static final int AT_ONCE = 500;

    /** How often a message is published that a receiver does not take although the store works. */
    private static final int ATTEMPTS = 5;

    private final SessionResources resources;
    private final RetainedKeeper retained;
    private volatile DelayedConfig limits;
    private final @Nullable Stores stores;
    private final RoutingLoop owner;
    private final DeadlineWheel wheel;

    // of all publishers
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final Map<String, Integer> byClient = new ConcurrentHashMap<>();
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong cancelled = new AtomicLong();
    private final AtomicLong queue = new AtomicLong();
    private final AtomicLong lastSequence = new AtomicLong();

    /** By event loop: whether it has written the header of the queue. */
    private final boolean[] hasHeader;

    // of the owner
    /** Changed by the owner; read on any thread. */
    private final ConcurrentSkipListSet<DelayedMessage> waiting = new ConcurrentSkipListSet<>();

    /** Messages that a receiver could not store, until the store works again. */
    private final List<DelayedMessage> failed = new ArrayList<>();

    /** By sequence number: how often a message has failed. */
    private final Map<Long, Integer> failures = new HashMap<>();

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
     * Whether messages can be delayed, and the limits.
     *
     * @return those in force
     */
    @AnyThread
    public DelayedConfig limits() {
        return limits;
    }

    /**
     * Replaces the limits. Messages that wait already stay, also above them.
     *
     * @param changed the limits for messages that follow
     */
    @AnyThread
    public void limits(DelayedConfig changed) {
        limits = changed;
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

    /**
     * The number of messages that were cancelled.
     *
     * @return messages since the start
     */
    @AnyThread
    public long cancelled() {
        return cancelled.get();
    }

    // --- what waits

    /**
     * Lists waiting messages in the order of their time. Takes some time for long lists, so it is not for event loops.
     *
     * @param skip number of messages before the part
     * @param limit maximum number of messages
     * @return the part; messages that come or leave meanwhile may be missing
     */
    @AnyThread
    public List<DelayedMessage> list(int skip, int limit) {
        return waiting.stream().skip(skip).limit(limit).toList();
    }

    /**
     * Finds a waiting message. Reads all of them, so it is not for event loops.
     *
     * @param messageId the {@linkplain ApplicationMessage#id() identifier} of the message
     * @return null if none waits
     */
    @AnyThread
    public @Nullable DelayedMessage find(long messageId) {
        return waiting.stream()
                .filter(one -> one.message().id() == messageId)
                .findFirst()
                .orElse(null);
    }

    /**
     * Cancels a waiting message.
     *
     * @param message the message
     * @return false if it does not wait any more; completes on the owning event loop when the store has removed it, with an error if it cannot
     */
    @AnyThread
    public Mono<Boolean> cancel(DelayedMessage message) {
        return Mono.create(sink -> {
            try {
                owner.executor().execute(() -> {
                    if (waiting.remove(message)) {
                        release(message.message());
                        cancelled.incrementAndGet();
                        remove(message, kept -> {
                            if (kept) {
                                sink.success(true);
                            } else {
                                cancelled.decrementAndGet();
                                waitAgain(message);
                                sink.error(new IllegalStateException("the store has not removed the message"));
                            }
                        });
                    } else {
                        sink.success(false);
                    }
                });
            } catch (RejectedExecutionException e) {
                sink.error(new IllegalStateException("the broker stops", e));
            }
        });
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
        DelayedMessage later = new DelayedMessage(
                lastSequence.incrementAndGet(), kept.accepted(kept.id(), dueNanos, kept.publisherId()), (int) seconds);
        Stores known = stores;
        if (known == null) {
            scheduleOnOwner(later);
        } else {
            store(known.of(loop), loop.index(), later, ticket == RouteTicket.NONE ? ticket : ticket.claim());
        }
        return ReasonCode.SUCCESS;
    }

    private void store(StoreLoop loop, int index, DelayedMessage later, RouteTicket ticket) {
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
        DelayedConfig present = limits;
        if (count.incrementAndGet() > present.maxMessages()) {
            count.decrementAndGet();
            return false;
        }
        if (bytes.addAndGet(size) > present.maxBytes()) {
            bytes.addAndGet(-size);
            count.decrementAndGet();
            return false;
        }
        if (byClient.merge(publisher(message), 1, Integer::sum) > present.maxMessagesPerClient()) {
            release(message);
            return false;
        }
        return true;
    }

    /** Counts a message that was accepted before, whatever the limits are now. */
    private void count(ApplicationMessage message) {
        count.incrementAndGet();
        bytes.addAndGet(message.footprintBytes());
        byClient.merge(publisher(message), 1, Integer::sum);
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
        private final DelayedMessage later;

        Write(int loopIndex, DelayedMessage later) {
            this.loopIndex = loopIndex;
            this.later = later;
        }

        @Override
        public void submit(StoreWriter writer) {
            long number = queueNumber(Objects.requireNonNull(stores));
            if (!hasHeader[loopIndex]) {
                writer.putSession(header(number));
            }
            ApplicationMessage message = later.message();
            writer.putMessage(
                    number,
                    new StoredMessage(
                            later.sequence(),
                            message,
                            ANY_FILTER,
                            message.qos(),
                            message.retain(),
                            new int[] {later.delaySeconds()},
                            StoredDelivery.WAITING));
        }

        @Override
        public void settled(boolean kept) {
            if (kept) {
                hasHeader[loopIndex] = true;
                scheduleOnOwner(later);
            } else {
                release(later.message());
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
                count(message);
                waiting.add(new DelayedMessage(stored.sequence(), message, delaySeconds(stored)));
            }
        }
        if (next < end) {
            read(next, end);
        } else {
            isLoading = false;
            publishDue();
        }
    }

    /** The delay, which stands where other rows have the identifiers of a subscription; 0 for rows of earlier versions. */
    private static int delaySeconds(StoredMessage stored) {
        return stored.identifiers().length == 0 ? 0 : stored.identifiers()[0];
    }

    // --- due messages

    /** Lets a message wait for its time, which may have come while it was stored or on its way to the owner. */
    @AnyThread
    private void scheduleOnOwner(DelayedMessage later) {
        owner.executor().execute(() -> {
            waiting.add(later);
            if (waiting.first() == later && !isLoading) {
                publishDue();
            }
        });
    }

    /** Lets a message wait that was taken from the waiting ones. */
    private void waitAgain(DelayedMessage message) {
        count(message.message());
        waiting.add(message);
        publishDue();
    }

    private void publishDue() {
        long nowNanos = resources.ticker().nanoTime();
        for (int i = 0; i < AT_ONCE; i++) {
            if (waiting.isEmpty() || !failed.isEmpty()) {
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

    private void publish(DelayedMessage due, long nowNanos) {
        ApplicationMessage message = due.message();
        release(message);
        if (message.isExpired(nowNanos)) { // the broker was not running
            resources.observer().messageDropped(DropReason.EXPIRED, 1);
            remove(due, kept -> {});
            return;
        }
        RouteTicket ticket = ticket(due);
        if (message.retain()) {
            retained.retain(owner, message, ticket);
        }
        resources.router().route(owner, message, ticket);
        if (ticket == RouteTicket.NONE) {
            published.incrementAndGet();
            remove(due, kept -> {});
        } else {
            ticket.release(true);
        }
    }

    private RouteTicket ticket(DelayedMessage due) {
        Stores known = stores;
        return known == null || due.message().qos() == QoS.AT_MOST_ONCE
                ? RouteTicket.NONE
                : new DueTicket(
                        known.of(owner),
                        known.waits(),
                        known.of(owner).isStable(),
                        writer -> writer.removeMessage(queue.get(), due.sequence()),
                        kept -> settled(due, kept));
    }

    private void remove(DelayedMessage message, CommitCallback done) {
        Stores known = stores;
        if (known == null) {
            done.committed(true);
        } else {
            StoreLoop loop = known.of(owner);
            loop.writer().removeMessage(queue.get(), message.sequence());
            loop.await(done, false);
        }
    }

    /**
     * Handles the outcome of a publication. A message that a receiver could not store is published again when the store works, and all that are due
     * wait until then.
     */
    private void settled(DelayedMessage due, boolean kept) {
        if (kept) {
            published.incrementAndGet();
            failures.remove(due.sequence());
        } else if (failures.merge(due.sequence(), 1, Integer::sum) < ATTEMPTS) {
            failed.add(due);
            if (failed.size() == 1) {
                Objects.requireNonNull(stores).of(owner).later(this::tryStore);
            }
        } else {
            failures.remove(due.sequence());
            resources.observer().messageDropped(DropReason.FAILED, 1);
            remove(due, removed -> {});
        }
    }

    /** Writes the header of the queue, to find out whether the store works again. */
    private void tryStore() {
        StoreLoop loop = Objects.requireNonNull(stores).of(owner);
        loop.writer().putSession(header(queue.get()));
        loop.await(
                kept -> {
                    if (kept) {
                        failed.forEach(one -> count(one.message()));
                        waiting.addAll(failed);
                        failed.clear();
                        publishDue();
                    } else {
                        loop.later(this::tryStore);
                    }
                },
                loop.isStable());
    }
}
