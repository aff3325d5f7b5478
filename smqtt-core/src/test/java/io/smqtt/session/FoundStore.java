// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredPage;
import io.smqtt.topic.TopicName;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A store with sessions of before, which notes the sessions that are removed and commits, or fails, when the test says so. */
final class FoundStore implements BrokerStore {

    final Map<Long, FoundSession> sessions = new LinkedHashMap<>();
    final Map<Long, List<StoredMessage>> messages = new LinkedHashMap<>();
    final List<Long> removed = new ArrayList<>();

    /** Removed messages, each as the number of its session and its own. */
    final List<String> removedMessages = new ArrayList<>();

    /** Notes of before, and those that were submitted. */
    final Map<String, byte[]> notes = new LinkedHashMap<>();

    /** Retained messages of before. */
    final List<ApplicationMessage> retained = new ArrayList<>();

    /** Removals of retained messages of before, with their versions. */
    final Map<TopicName, RetainedVersion> removals = new LinkedHashMap<>();

    /** The texts of messages that were submitted. */
    final List<String> put = new ArrayList<>();

    /** The identifiers of next messages that were submitted, by packet identifier. */
    final Map<Integer, Long> released = new LinkedHashMap<>();

    boolean failing;
    boolean overloaded;
    long clockMillis;
    private final List<Runnable> flushed = new ArrayList<>();
    private long numbers = 1_000;

    private @Nullable Long awaited;
    private Runnable afterRead = () -> {};

    /** Runs something when a page of a session has been read, before it arrives. Once. */
    void awaitRead(long session, Runnable action) {
        awaited = session;
        afterRead = action;
    }

    /** Commits everything that was flushed. */
    void commit() {
        List<Runnable> all = List.copyOf(flushed);
        flushed.clear();
        all.forEach(Runnable::run);
    }

    @Override
    public StoreWriter writer(Executor loop, CommitListener listener) {
        long[] position = {0};
        List<Runnable> effects = new ArrayList<>();
        return (StoreWriter) Proxy.newProxyInstance(
                StoreWriter.class.getClassLoader(), new Class<?>[] {StoreWriter.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "position" -> {
                            return position[0];
                        }
                        case "isOverloaded" -> {
                            return overloaded;
                        }
                        case "flush" -> {
                            long until = position[0];
                            List<Runnable> all = List.copyOf(effects);
                            effects.clear();
                            flushed.add(() -> settle(loop, listener, until, all));
                        }
                        case "putMessage" -> {
                            position[0]++;
                            put.add(((StoredMessage) arguments[1])
                                    .message()
                                    .payload()
                                    .asString());
                        }
                        case "putReleased" -> {
                            position[0]++;
                            released.put((Integer) arguments[1], (Long) arguments[2]);
                        }
                        case "putNote" -> {
                            position[0]++;
                            notes.put((String) arguments[0], (byte[]) arguments[1]);
                        }
                        case "removeMessage", "removeHandedOver" -> {
                            position[0]++;
                            removedMessages.add(arguments[0] + "/" + arguments[1]);
                            effects.add(() -> remove((Long) arguments[0], (Long) arguments[1]));
                        }
                        case "removeSession" -> {
                            position[0]++;
                            removed.add((Long) arguments[0]);
                        }
                        default -> position[0]++;
                    }
                    return null;
                });
    }

    private void remove(long session, long sequence) {
        messages.computeIfPresent(
                session,
                (number, rows) ->
                        rows.stream().filter(row -> row.sequence() != sequence).toList());
    }

    private void settle(Executor loop, CommitListener listener, long until, List<Runnable> effects) {
        if (!failing) {
            effects.forEach(Runnable::run);
        }
        if (failing) {
            loop.execute(() -> listener.failed(until, new IllegalStateException("it is served elsewhere")));
        } else {
            loop.execute(() -> listener.committed(until));
        }
    }

    @Override
    public void recover(RecoveryVisitor visitor) {
        sessions.values().forEach(found -> {
            visitor.session(found.session(), found.waiting());
            found.subscriptions().forEach(visitor::subscription);
            found.received().forEach(visitor::received);
            found.released().forEach(visitor::released);
        });
        retained.forEach(message -> visitor.retained(message, new RetainedVersion(message.id(), "home")));
        removals.forEach(visitor::retainedRemoval);
        notes.forEach(visitor::note);
    }

    @Override
    public void read(
            long session, long fromSequence, int maxMessages, int maxBytes, Executor loop, Consumer<StoredPage> reply) {
        List<StoredMessage> page = messages.getOrDefault(session, List.of()).stream()
                .filter(message -> message.sequence() >= fromSequence)
                .limit(maxMessages)
                .toList();
        loop.execute(() -> reply.accept(new StoredPage(page, null)));
        if (awaited != null && awaited == session) {
            awaited = null;
            afterRead.run();
        }
    }

    @Override
    public void find(long session, Executor loop, Consumer<FoundSession> found, Consumer<@Nullable Throwable> missing) {
        FoundSession read = sessions.get(session);
        loop.execute(read == null ? () -> missing.accept(null) : () -> found.accept(read));
    }

    @Override
    public long newSession() {
        return ++numbers;
    }

    /** The number of the session that was created last. */
    long newest() {
        return numbers;
    }

    @Override
    public long clockMillis() {
        return clockMillis;
    }

    @Override
    public boolean isHealthy() {
        return true;
    }

    @Override
    public void close() {
        // holds nothing
    }
}
