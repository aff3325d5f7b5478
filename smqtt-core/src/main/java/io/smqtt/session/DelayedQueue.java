// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The delayed messages of one store: that of this node, or one that it has adopted; or those in memory. They wait in memory on the first event loop, in the
 * order of their time, and are published there. With a store each is also a row of one queue, which is stored as a session with a reserved identifier, and
 * removed when all receivers have stored the message.
 *
 * <p>A message at QoS 2 is marked as one that may have come before, if it was read from a store, or another node may have the store: that one, or an earlier run
 * of this one, may have failed after the receivers had the message, and before its row was removed.
 */
@OnEventLoop
final class DelayedQueue {

    private static final Logger LOG = LoggerFactory.getLogger(DelayedQueue.class);
    private static final String ANY_FILTER = "#";
    private static final int AT_ONCE = 500;

    /** How often a message is published that a receiver does not take although the store works. */
    private static final int ATTEMPTS = 5;

    private final SessionResources resources;
    private final RetainedKeeper retained;
    private final DelayedCounts counts;
    private final @Nullable Stores stores;
    private final RoutingLoop owner;
    private final DeadlineWheel wheel;

    // of all publishers
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

    /** Messages that are being published, or removed. */
    private int leaving;

    /** Completes when none is, since the end. */
    private @Nullable CompletableFuture<Void> ended;

    private final Deadline firstDue = new Deadline() {
        @Override
        protected void expired() {
            publishDue();
        }
    };

    /**
     * Creates a queue without messages.
     *
     * @param stores the store; null to keep messages in memory
     * @param counts those of this node
     */
    DelayedQueue(SessionResources resources, RetainedKeeper retained, @Nullable Stores stores, DelayedCounts counts) {
        this.resources = resources;
        this.retained = retained;
        this.counts = counts;
        this.stores = stores;
        this.owner = resources.router().loops().get(0);
        this.wheel = resources.wheels().get(0);
        this.hasHeader = new boolean[resources.router().loops().size()];
    }

    // --- what waits

    /** The waiting messages, in the order of their time. Weakly consistent. */
    @AnyThread
    Stream<DelayedMessage> waiting() {
        return waiting.stream();
    }

    /** Whether a message waits here; an equal one of another queue does not count. */
    @AnyThread
    boolean holds(DelayedMessage message) {
        return waiting.floor(message) == message;
    }

    /**
     * Cancels a message.
     *
     * @param done receives on the owning event loop whether the store has removed it
     * @return false if it does not wait any more: then nothing is received
     */
    boolean cancel(DelayedMessage message, Consumer<Boolean> done) {
        if (!holds(message)) {
            return false;
        }
        waiting.remove(message);
        counts.release(message.message());
        counts.cancelled(1);
        remove(message, kept -> {
            if (!kept) {
                counts.cancelled(-1);
                waitAgain(message);
            }
            done.accept(kept);
        });
        return true;
    }

    // --- new messages

    /** Accepts a message that is counted; see {@link DelayedMessages#accept}. On the event loop of the publisher. */
    void accept(RoutingLoop loop, ApplicationMessage kept, long seconds, RouteTicket ticket) {
        long dueNanos = resources.ticker().nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        DelayedMessage later = new DelayedMessage(
                lastSequence.incrementAndGet(), kept.accepted(kept.id(), dueNanos, kept.publisherId()), (int) seconds);
        Stores known = stores;
        if (known == null) {
            scheduleOnOwner(later);
        } else {
            store(known.of(loop), loop.index(), later, ticket == RouteTicket.NONE ? ticket : ticket.claim());
        }
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
                counts.release(later.message());
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
                number,
                DelayedMessages.ID,
                null,
                Stores.ENDLESS_SECONDS,
                StoredSession.NEVER,
                null,
                StoredSession.CONNECTED);
    }

    // --- messages of the store

    /** Takes over the queue that was found in the store; its messages are read by {@link #start}. */
    @AnyThread
    void recovered(StoredSession header, StoredQueue found) {
        queue.set(header.number());
        lastSequence.set(found.nextSequence());
        isLoading = found.messages() > 0;
        String home = stores == null ? null : stores.home();
        if (isLoading && home == null) {
            LOG.info("recovered {} delayed messages", found.messages());
        } else if (isLoading) {
            LOG.info("adopted {} delayed messages of node {}", found.messages(), home);
        }
    }

    /** Reads the messages of the store. None is published before all are known, so that they leave in the order of their time. */
    @AnyThread
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
        if (hasEnded()) {
            return;
        }
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
                counts.count(message);
                waiting.add(new DelayedMessage(stored.sequence(), marked(message), delaySeconds(stored)));
            }
        }
        if (next < end) {
            read(next, end);
        } else {
            isLoading = false;
            publishDue();
        }
    }

    private static ApplicationMessage marked(ApplicationMessage message) {
        return message.qos() == QoS.EXACTLY_ONCE && !message.isRepeated() ? message.repeated() : message;
    }

    /** The delay, which stands where other rows have the identifiers of a subscription; 0 for rows of earlier versions. */
    private static int delaySeconds(StoredMessage stored) {
        return stored.identifiers().length == 0 ? 0 : stored.identifiers()[0];
    }

    // --- the end

    private boolean hasEnded() {
        return ended != null;
    }

    /**
     * Publishes nothing more: another node is to have the store. What waits stays there.
     *
     * @return completes when what has been published is removed from the store, or stays there; at once if nothing is in flight
     */
    @AnyThread
    CompletableFuture<Void> end() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        owner.executor().execute(() -> {
            CompletableFuture<Void> earlier = ended;
            if (earlier != null) {
                earlier.thenRun(() -> end.complete(null));
                return;
            }
            ended = end;
            firstDue.cancel();
            waiting.forEach(message -> counts.release(message.message()));
            waiting.clear();
            failed.clear();
            failures.clear();
            left(0);
        });
        return end;
    }

    /** Messages have left, or wait again. */
    private void left(int messages) {
        leaving -= messages;
        CompletableFuture<Void> end = ended;
        if (leaving == 0 && end != null) {
            end.complete(null);
        }
    }

    // --- due messages

    /** Lets a message wait for its time, which may have come while it was stored or in flight to the owner. */
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
        if (hasEnded()) {
            return;
        }
        counts.count(message.message());
        waiting.add(message);
        publishDue();
    }

    private void publishDue() {
        long nowNanos = resources.ticker().nanoTime();
        for (int i = 0; i < AT_ONCE; i++) {
            if (waiting.isEmpty() || !failed.isEmpty() || hasEnded()) {
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
        Stores known = stores;
        ApplicationMessage message =
                known != null && known.mayBeServedElsewhere() ? marked(due.message()) : due.message();
        counts.release(message);
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
            counts.published();
            remove(due, kept -> {});
        } else {
            leaving++;
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
                        known.home() == null,
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
            leaving++;
            loop.await(
                    (CommitCallback) kept -> {
                        done.committed(kept);
                        left(1);
                    },
                    false);
        }
    }

    /**
     * Handles the outcome of a publication. A message that a receiver could not store is published again when the store works, and all that are due
     * wait until then.
     */
    private void settled(DelayedMessage due, boolean kept) {
        left(1);
        if (kept) {
            counts.published();
        }
        if (hasEnded()) {
            return; // if it has failed, the node that has the store next publishes it
        }
        if (kept) {
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

    /** Receivers are in the store of this node, which may be another one. */
    private boolean canReceiversStore() {
        Stores own = resources.stores();
        return own == null || own.store().isHealthy();
    }

    /** Writes the header of the queue, to find out whether the store works again. */
    private void tryStore() {
        StoreLoop loop = Objects.requireNonNull(stores).of(owner);
        loop.writer().putSession(header(queue.get()));
        loop.await(
                kept -> {
                    if (hasEnded()) {
                        return;
                    }
                    if (kept && canReceiversStore()) {
                        failed.forEach(one -> counts.count(one.message()));
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
