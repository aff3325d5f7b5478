// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import io.smqtt.BrokerClosedException;
import io.smqtt.BrokerModule;
import io.smqtt.admin.BrokerBusyException;
import io.smqtt.admin.object.ObjectRefusedException.Reason;
import io.smqtt.config.StorageConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.HeldTicket;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * The objects that operators change while the broker runs, such as users, API keys and bans. An object is a hidden retained message below
 * {@code $smqtt/object}: so it is stored, compared and replicated as retained messages are. Without a store objects live as long as a node
 * of the cluster runs. One thread applies all changes, in the order in which this node got them.
 *
 * <p>A deletion is kept for 30 days as a message that says so. A node that was away for longer may bring a deleted object back.
 */
@AnyThread
public final class LiveObjects {

    private static final Logger LOG = LoggerFactory.getLogger(LiveObjects.class);
    private static final Duration DELETIONS_KEPT = Duration.ofDays(30);
    private static final Duration LOOP_PATIENCE = Duration.ofSeconds(10);
    private static final Duration STORE_PATIENCE = Duration.ofSeconds(30);

    /** Maximum number of objects that an import makes in one task of an event loop. */
    private static final int AT_ONCE = 200;

    private static final String TOO_EARLY = "objects cannot be changed before the broker starts";

    private final Map<String, KindState<?>> kinds = new ConcurrentSkipListMap<>();
    private final ExecutorService worker = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "smqtt-objects");
        thread.setDaemon(true);
        return thread;
    });
    private volatile BrokerModule.@Nullable Core core;

    private final Duration loopPatience;
    private final Duration storePatience;

    /** Creates it without objects; they are there after {@link #start}. */
    public LiveObjects() {
        this(LOOP_PATIENCE, STORE_PATIENCE);
    }

    LiveObjects(Duration loopPatience, Duration storePatience) {
        this.loopPatience = loopPatience;
        this.storePatience = storePatience;
    }

    /**
     * Registers a kind without a rule.
     *
     * @param <T> the type of the values
     * @param name its name in topics, files and messages: lower-case letters and underscores
     * @param format reads and writes objects
     * @param limits its limits
     * @return the objects of the kind
     * @throws IllegalStateException if there is such a kind already
     */
    public <T> ObjectKind<T> kind(String name, ObjectFormat<T> format, ObjectLimits limits) {
        return kind(name, format, limits, (before, after) -> {});
    }

    /**
     * Registers a kind.
     *
     * @param <T> the type of the values
     * @param name its name in topics, files and messages: lower-case letters and underscores
     * @param format reads and writes objects
     * @param limits its limits
     * @param rule checks each change that this node makes
     * @return the objects of the kind
     * @throws IllegalStateException if there is such a kind already
     */
    public <T> ObjectKind<T> kind(String name, ObjectFormat<T> format, ObjectLimits limits, ObjectRule<T> rule) {
        if (!name.matches("[a-z][a-z_]*")) {
            throw new IllegalArgumentException("not a name of a kind: " + name);
        }
        KindState<T> state = new KindState<>(name, format, limits, rule);
        if (kinds.putIfAbsent(name, state) != null) {
            throw new IllegalStateException("the kind " + name + " is registered already");
        }
        BrokerModule.Core started = core;
        if (started != null) {
            started.router()
                    .retained()
                    .hidden(ObjectTopic.prefix(name))
                    .forEach(message -> execute(() -> apply(message.topic())));
        }
        return new ObjectKind<>(this, state);
    }

    /** The registered kinds by name. */
    Map<String, KindState<?>> kinds() {
        return kinds;
    }

    /**
     * Begins to apply the objects that the store has, and those of other nodes.
     *
     * @param started the parts of the broker
     * @return completes when the objects of the store are applied
     */
    public Mono<Void> start(BrokerModule.Core started) {
        return Mono.create(sink -> {
            core = started;
            started.router().retained().observeHidden(message -> execute(() -> apply(message.topic())));
            execute(sink::success);
        });
    }

    /** Ends the thread. What was not applied is dropped. */
    public void stop() {
        worker.shutdownNow();
    }

    /** Runs a task on the thread of the objects; drops it after the end. */
    void execute(Runnable task) {
        try {
            worker.execute(task);
        } catch (RejectedExecutionException e) {
            if (!worker.isShutdown()) {
                throw e;
            }
        }
    }

    private void apply(TopicName topic) {
        BrokerModule.Core started = core;
        ObjectTopic object = ObjectTopic.parse(topic.value());
        KindState<?> kind = object == null ? null : kinds.get(object.kind());
        if (started == null || object == null || kind == null) {
            return;
        }
        ApplicationMessage message = started.router().retained().get(topic);
        kind.apply(object.id(), message == null ? null : message.payload().toByteArray());
        String surplus = kind.surplus();
        if (surplus != null) {
            forget(started, topic(kind, surplus));
        }
    }

    private void forget(BrokerModule.Core started, TopicName topic) {
        try {
            keep(started, List.of(message(topic, Payload.EMPTY, false)), RouteTicket.NONE);
        } catch (RejectedExecutionException
                | BrokerBusyException e) { // the broker stops, or the next deletion removes it
            LOG.debug("{} is not removed", topic, e);
        }
    }

    private static TopicName topic(KindState<?> kind, String id) {
        return TopicName.of(new ObjectTopic(kind.name(), id).text());
    }

    /**
     * Changes an object.
     *
     * @param value the new value; null to delete the object
     * @return the new version
     */
    <T> Mono<Long> change(KindState<T> kind, String id, @Nullable T value, Expected expected, String origin) {
        return Mono.<Long>create(sink -> {
                    execute(() -> change(kind, id, value, expected, origin, sink));
                    if (worker.isShutdown()) {
                        sink.error(new BrokerClosedException());
                    }
                })
                .timeout(storePatience, Mono.error(LiveObjects::notStored));
    }

    private static ObjectRefusedException notStored() {
        return new ObjectRefusedException(Reason.NOT_STORED, "the change is in force, but not stored yet");
    }

    private <T> void change(
            KindState<T> kind, String id, @Nullable T value, Expected expected, String origin, MonoSink<Long> sink) {
        BrokerModule.Core started = core;
        if (started == null) {
            sink.error(new IllegalStateException(TOO_EARLY));
            return;
        }
        try {
            kind.check(id, value, expected);
            if (value != null) {
                kind.checkLimits(Map.of(id, value));
            }
            Stored<Long> ticket = new Stored<>(sink, started.config().storage().sync(), LiveObjects::notStored);
            ticket.complete(write(started, kind, id, value, origin, ticket));
        } catch (RuntimeException e) {
            sink.error(e);
        }
    }

    /** Stores and applies a version; null to delete the object. Returns the version. */
    private <T> long write(
            BrokerModule.Core started,
            KindState<T> kind,
            String id,
            @Nullable T value,
            String origin,
            RouteTicket ticket) {
        long version = nextVersion(kind, id);
        ApplicationMessage message = message(kind, id, value, origin, version);
        keep(started, List.of(message), ticket);
        apply(message.topic());
        return version;
    }

    private static long nextVersion(KindState<?> kind, String id) {
        return Math.max(kind.version(id) + 1, System.currentTimeMillis());
    }

    private static <T> ApplicationMessage message(
            KindState<T> kind, String id, @Nullable T value, String origin, long version) {
        byte[] payload = Envelope.write(
                origin, version, value == null ? null : kind.format().write(value));
        return message(topic(kind, id), Payload.of(payload), value == null);
    }

    private static ApplicationMessage message(TopicName topic, Payload payload, boolean expires) {
        ApplicationMessage.Builder message =
                ApplicationMessage.builder(topic.value()).payload(payload).retain(true);
        if (expires) {
            message.expiryInterval(DELETIONS_KEPT);
        }
        return message.build();
    }

    /**
     * Creates or replaces many objects, or none of them if one is not allowed or the broker is too busy to begin.
     *
     * @param values the objects of one kind, as a file has them
     * @return the number of objects; an error says how many objects are in force
     */
    Mono<Integer> replaceAll(List<ObjectFile.Section<?>> values, String origin) {
        Replacement all = new Replacement(values, origin);
        return Mono.<Integer>create(sink -> {
                    execute(() -> replaceAll(all, sink));
                    if (worker.isShutdown()) {
                        sink.error(new BrokerClosedException());
                    }
                })
                .timeout(storePatience, Mono.error(() -> all.ended(true)));
    }

    /** An import on its way. */
    private static final class Replacement {

        private final List<ObjectFile.Section<?>> sections;
        private final String origin;
        private final List<ApplicationMessage> messages = new ArrayList<>(); // of the thread of the objects
        private volatile int total;
        private volatile int applied;
        private volatile boolean abandoned;

        Replacement(List<ObjectFile.Section<?>> sections, String origin) {
            this.sections = sections;
            this.origin = origin;
        }

        void prepare() {
            sections.forEach(ObjectFile.Section::check);
            sections.forEach(this::prepare);
            total = messages.size();
        }

        private <T> void prepare(ObjectFile.Section<T> section) {
            KindState<T> kind = section.kind();
            section.values()
                    .forEach((id, value) -> messages.add(message(kind, id, value, origin, nextVersion(kind, id))));
        }

        /** How far it has come; if it was abandoned, no further objects are made. */
        ObjectRefusedException ended(boolean abandons) {
            abandoned |= abandons;
            String many = applied == total && total > 0 ? "all " + total : applied + " of " + total;
            return new ObjectRefusedException(
                    Reason.NOT_STORED,
                    many
                            + " objects are in force, and not stored yet; repeat the import, which makes the same objects");
        }
    }

    private void replaceAll(Replacement all, MonoSink<Integer> sink) {
        BrokerModule.Core started = core;
        if (started == null) {
            sink.error(new IllegalStateException(TOO_EARLY));
            return;
        }
        try {
            all.prepare();
            Stored<Integer> ticket =
                    new Stored<>(sink, started.config().storage().sync(), () -> all.ended(false));
            while (all.applied < all.total && !all.abandoned) {
                List<ApplicationMessage> next =
                        all.messages.subList(all.applied, Math.min(all.total, all.applied + AT_ONCE));
                keep(started, next, ticket);
                next.forEach(message -> apply(message.topic()));
                all.applied += next.size();
            }
            ticket.complete(all.applied);
        } catch (RuntimeException e) {
            sink.error(all.applied == 0 ? e : all.ended(true));
        }
    }

    /**
     * Keeps messages on an event loop, and waits until they are in memory.
     *
     * @throws BrokerBusyException if the event loop did not begin in time; then none is kept
     */
    private void keep(BrokerModule.Core started, List<ApplicationMessage> messages, RouteTicket ticket) {
        RoutingLoop loop = started.router().loops().get(0);
        AtomicBoolean begun = new AtomicBoolean();
        CompletableFuture<Void> kept = CompletableFuture.runAsync(
                () -> {
                    if (begun.compareAndSet(false, true)) {
                        messages.forEach(message -> started.sessions()
                                .retained()
                                .keep(
                                        loop,
                                        message.accepted(
                                                loop.nextMessageId(),
                                                started.ticker().nanoTime(),
                                                null),
                                        ticket));
                    }
                },
                loop.executor());
        try {
            await(kept, begun);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BrokerClosedException();
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the change could not be made", e);
        }
    }

    private void await(CompletableFuture<Void> kept, AtomicBoolean begun)
            throws InterruptedException, ExecutionException, TimeoutException {
        try {
            kept.get(loopPatience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            if (begun.compareAndSet(false, true)) {
                throw new BrokerBusyException("an event loop does not respond; nothing was changed");
            }
            kept.get(loopPatience.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** Completes a change when the store has it. */
    private final class Stored<R> extends HeldTicket {

        private final MonoSink<R> sink;
        private final StorageConfig.Sync sync;
        private final Supplier<ObjectRefusedException> refusal;
        private @Nullable R result; // set before the last hold is released

        Stored(MonoSink<R> sink, StorageConfig.Sync sync, Supplier<ObjectRefusedException> refusal) {
            super(1);
            this.sink = sink;
            this.sync = sync;
            this.refusal = refusal;
        }

        void complete(R value) {
            result = value;
            release(true);
        }

        @Override
        protected void released(boolean success) {
            execute(() -> {
                if (success) {
                    sink.success(result);
                } else {
                    sink.error(refusal.get());
                }
            });
        }

        @Override
        public boolean waitsForStore() {
            return sync != StorageConfig.Sync.NONE;
        }

        @Override
        public boolean wantsStable() {
            return sync == StorageConfig.Sync.SYNC;
        }
    }
}
