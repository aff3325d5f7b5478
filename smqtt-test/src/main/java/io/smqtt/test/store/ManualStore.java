// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store in memory for tests. What is flushed is committed at once, or, after {@link #hold}, when the test says so; it can
 * be told to fail, and to stop as a process does that is killed. It outlives the brokers that use it: give the same store
 * to the next broker, which finds what was committed. Thread-safe.
 */
public final class ManualStore implements BrokerStore {

    /** Operations that were flushed and are not committed. */
    record Batch(ManualWriter writer, List<Consumer<StoredState>> operations, long position, boolean sync) {}

    /** A message that cannot be read. */
    private record Damaged(long session, long sequence) {}

    private final Ticker ticker;
    private final long createdNanos;
    private final StoredState committed;
    private final ArrayDeque<Batch> pending = new ArrayDeque<>();
    private boolean held;
    private boolean heldReads;
    private final List<Runnable> waitingReads = new ArrayList<>();
    private @Nullable RuntimeException failure;
    private final Set<Damaged> damaged;
    private boolean overloaded;
    private boolean cutOff;
    private long lastSession;
    private int life;
    private int killed;
    private int commits;
    private int syncs;
    private int failures;

    /**
     * Creates an empty store.
     *
     * @param ticker the clock of the brokers that use it
     */
    public ManualStore(Ticker ticker) {
        this(ticker, new StoredState(), 0, 0, Set.of());
    }

    private ManualStore(Ticker ticker, StoredState committed, long clockNanos, long lastSession, Set<Damaged> damaged) {
        this.ticker = ticker;
        this.committed = committed;
        this.createdNanos = ticker.nanoTime() - clockNanos;
        this.lastSession = lastSession;
        this.damaged = new HashSet<>(damaged);
    }

    /**
     * A store with what this one has committed, as the next process finds it.
     *
     * @param next the clock of the brokers that use it, which may show quite another time
     * @return another store; this one stays as it is
     */
    public synchronized ManualStore reopened(Ticker next) {
        long clockNanos = ticker.nanoTime() - createdNanos;
        long stepNanos = next.nanoTime() - ticker.nanoTime();
        return new ManualStore(next, committed.moved(stepNanos), clockNanos, lastSession, damaged);
    }

    /** Creates an empty store with the system's clock. */
    public ManualStore() {
        this(Ticker.SYSTEM);
    }

    // --- what a test does

    /** From now on nothing is committed before {@link #commit} or {@link #release}. */
    public synchronized void hold() {
        held = true;
    }

    /** Commits everything that was flushed, and goes on holding. */
    public synchronized void commit() {
        while (!pending.isEmpty()) {
            finish(pending.remove());
        }
    }

    /**
     * Commits the oldest flush only.
     *
     * @return false if there is none
     */
    public synchronized boolean commitOne() {
        Batch oldest = pending.poll();
        if (oldest != null) {
            finish(oldest);
        }
        return oldest != null;
    }

    /** Commits everything that was flushed, and whatever comes, at once. */
    public synchronized void release() {
        held = false;
        commit();
    }

    /** From now on nothing that is to be committed is kept. */
    public synchronized void fail() {
        failure = new IllegalStateException("the disk is full");
    }

    /** From now on what is to be committed is kept again. */
    public synchronized void heal() {
        failure = null;
    }

    /**
     * From now on a message cannot be read; others can.
     *
     * @param clientId the client identifier of its session
     * @param sequence its sequence number
     */
    public synchronized void damage(String clientId, long sequence) {
        damaged.add(new Damaged(session(clientId).orElseThrow().number(), sequence));
    }

    /**
     * Sets whether too much waits.
     *
     * @param value what writers say from now on
     */
    public synchronized void overloaded(boolean value) {
        overloaded = value;
    }

    /**
     * Sets whether too few other nodes can be reached.
     *
     * @param value what the store says from now on
     */
    public synchronized void cutOff(boolean value) {
        cutOff = value;
    }

    /** From now on pages that are read come with {@link #releaseReads}. */
    public synchronized void holdReads() {
        heldReads = true;
    }

    /** Lets all pages come. */
    public synchronized void releaseReads() {
        heldReads = false;
        waitingReads.forEach(Runnable::run);
        waitingReads.clear();
    }

    /** Ends as a killed process does: what is not committed is lost, and present writers reach nothing any more. */
    public synchronized void kill() {
        killed = ++life;
        pending.clear();
        waitingReads.clear();
        held = false;
        heldReads = false;
    }

    /**
     * How many flushes wait for a commit.
     *
     * @return flushes with at least one operation
     */
    public synchronized int pending() {
        return pending.size();
    }

    /**
     * How many flushes were committed.
     *
     * @return flushes with at least one operation
     */
    public synchronized int commits() {
        return commits;
    }

    /**
     * How many flushes asked for stable storage.
     *
     * @return committed flushes
     */
    public synchronized int syncs() {
        return syncs;
    }

    /**
     * How many flushes were not kept.
     *
     * @return flushes with at least one operation
     */
    public synchronized int failures() {
        return failures;
    }

    /**
     * The header of a client's session.
     *
     * @param clientId the client identifier
     * @return empty if there is none
     */
    public synchronized Optional<StoredSession> session(String clientId) {
        return committed.sessions.values().stream()
                .flatMap(entry -> Optional.ofNullable(entry.header).stream())
                .filter(header -> header.clientId().equals(clientId))
                .findFirst();
    }

    private Optional<StoredState.Entry> entry(String clientId) {
        return session(clientId).map(header -> committed.session(header.number()));
    }

    /**
     * The messages that are stored for a client.
     *
     * @param clientId the client identifier
     * @return in order
     */
    public synchronized List<StoredMessage> messages(String clientId) {
        return entry(clientId)
                .map(entry -> List.copyOf(entry.messages.values()))
                .orElse(List.of());
    }

    /**
     * The filters of a client's stored subscriptions.
     *
     * @param clientId the client identifier
     * @return as the client gave them
     */
    public synchronized List<String> subscriptions(String clientId) {
        return entry(clientId)
                .map(entry -> List.copyOf(entry.subscriptions.keySet()))
                .orElse(List.of());
    }

    /**
     * The identifiers of a client's QoS 2 messages that wait for PUBREL.
     *
     * @param clientId the client identifier
     * @return in rising order
     */
    public synchronized List<Integer> received(String clientId) {
        return entry(clientId).map(entry -> List.copyOf(entry.received)).orElse(List.of());
    }

    /**
     * The identifiers of a client's next QoS 2 messages.
     *
     * @param clientId the client identifier
     * @return by packet identifier; 0 has the number from which others are derived
     */
    public synchronized Map<Integer, Long> released(String clientId) {
        return entry(clientId).map(entry -> Map.copyOf(entry.released)).orElse(Map.of());
    }

    /**
     * The stored retained messages.
     *
     * @return in the order of their topics
     */
    public synchronized List<ApplicationMessage> retained() {
        return List.copyOf(committed.retained.values());
    }

    /**
     * Whether anything was ever stored.
     *
     * @return true if there is neither a session nor a retained message, committed or waiting
     */
    public synchronized boolean isUntouched() {
        return committed.sessions.isEmpty() && committed.retained.isEmpty() && pending.isEmpty() && commits == 0;
    }

    // --- what a broker does

    @Override
    public synchronized ManualWriter writer(Executor loop, CommitListener listener) {
        return new ManualWriter(this, loop, listener, life);
    }

    @Override
    public synchronized void recover(RecoveryVisitor visitor) {
        committed.show(visitor);
    }

    @Override
    public synchronized void find(
            long session, Executor loop, Consumer<FoundSession> found, Consumer<@Nullable Throwable> missing) {
        StoredState.Entry entry = committed.sessions.get(session);
        FoundSession read = entry == null ? null : entry.found();
        execute(loop, read == null ? () -> missing.accept(null) : () -> found.accept(read));
    }

    @Override
    public synchronized void read(
            long session, long fromSequence, int maxMessages, int maxBytes, Executor loop, Consumer<StoredPage> reply) {
        StoredState seen = committed;
        if (!pending.isEmpty()) {
            seen = committed.copy();
            for (Batch batch : pending) {
                for (Consumer<StoredState> operation : batch.operations) {
                    operation.accept(seen);
                }
            }
        }
        List<StoredMessage> page = new ArrayList<>();
        StoreDamagedException failure = null;
        long bytes = 0;
        StoredState.Entry entry = seen.sessions.get(session);
        if (entry != null) {
            for (StoredMessage message : entry.messages.tailMap(fromSequence).values()) {
                bytes += message.message().footprintBytes();
                if (page.size() == maxMessages || (bytes > maxBytes && !page.isEmpty())) {
                    break;
                }
                if (damaged.contains(new Damaged(session, message.sequence()))) {
                    failure = new StoreDamagedException("a test damages it", null, message.sequence());
                    break;
                }
                page.add(StoredState.asRead(message));
            }
        }
        StoredPage read = failure == null ? new StoredPage(page, null) : new StoredPage(List.of(), failure);
        Runnable answer = () -> execute(loop, () -> reply.accept(read));
        if (heldReads) {
            waitingReads.add(answer);
        } else {
            answer.run();
        }
    }

    @Override
    public synchronized long newSession() {
        return ++lastSession;
    }

    @Override
    public long clockMillis() {
        return TimeUnit.NANOSECONDS.toMillis(ticker.nanoTime() - createdNanos);
    }

    @Override
    public synchronized boolean isCutOff() {
        return cutOff;
    }

    @Override
    public synchronized ReasonCode refusal() {
        return cutOff ? ReasonCode.SERVER_UNAVAILABLE : ReasonCode.QUOTA_EXCEEDED;
    }

    @Override
    public synchronized boolean isHealthy() {
        return failure == null;
    }

    @Override
    public synchronized void close() {
        commit();
        life++;
        held = false;
    }

    synchronized boolean isOverloaded() {
        return overloaded;
    }

    synchronized void flushed(Batch batch) {
        if (batch.writer().life() < killed) {
            return; // nobody is there any more
        }
        if (batch.writer().life() != life) {
            IllegalStateException closed = new IllegalStateException("the store is closed");
            execute(batch.writer.loop(), () -> batch.writer.listener().failed(batch.position, closed));
        } else if (held) {
            pending.add(batch);
        } else {
            finish(batch);
        }
    }

    private void finish(Batch batch) {
        RuntimeException cause = failure;
        if (cause == null) {
            batch.operations.forEach(operation -> operation.accept(committed));
            commits++;
            syncs += batch.sync ? 1 : 0;
            execute(batch.writer.loop(), () -> batch.writer.listener().committed(batch.position));
        } else {
            failures++;
            execute(batch.writer.loop(), () -> batch.writer.listener().failed(batch.position, cause));
        }
    }

    private static void execute(Executor loop, Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            // a broker that is gone hears nothing
        }
    }
}
