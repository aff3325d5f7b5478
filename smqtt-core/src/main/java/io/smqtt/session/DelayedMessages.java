// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DelayedConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Messages that are published later. They wait in memory on the first event loop, in the order of their time. With a store each is also a row of
 * one queue, which is stored as a session with a reserved identifier: the event loop of the publisher writes it, and it is removed when all
 * receivers have stored the message. The time of acceptance of a waiting message is the time at which it is due, so that it survives a restart by the
 * store's clock, and an expiry interval begins then. Messages of stores that this node has adopted wait here, too, as long as it has the store.
 */
public final class DelayedMessages {

    /** The key of the queue in the store. No client identifier can equal it. */
    static final String ID = InProcess.PREFIX + "$delayed";

    private final SessionResources resources;
    private final RetainedKeeper retained;
    private volatile DelayedConfig limits;
    private final DelayedCounts counts = new DelayedCounts();
    private final RoutingLoop owner;
    private final DelayedQueue own;

    /** Those of adopted stores. */
    private final List<DelayedQueue> adopted = new CopyOnWriteArrayList<>();

    DelayedMessages(SessionResources resources, RetainedKeeper retained, DelayedConfig limits) {
        this.resources = resources;
        this.retained = retained;
        this.limits = limits;
        this.owner = resources.router().loops().get(0);
        this.own = new DelayedQueue(resources, retained, resources.stores(), counts);
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
     * The number of waiting messages, those of adopted stores included.
     *
     * @return messages
     */
    @AnyThread
    public long count() {
        return counts.messages();
    }

    /**
     * The size of waiting messages.
     *
     * @return bytes as counted by {@link ApplicationMessage#footprintBytes()}
     */
    @AnyThread
    public long bytes() {
        return counts.bytes();
    }

    /**
     * The number of messages that were published in their time.
     *
     * @return messages since the start
     */
    @AnyThread
    public long published() {
        return counts.allPublished();
    }

    /**
     * The number of messages that were refused because of a limit.
     *
     * @return messages since the start
     */
    @AnyThread
    public long refused() {
        return counts.allRefused();
    }

    /**
     * The number of messages that were cancelled.
     *
     * @return messages since the start
     */
    @AnyThread
    public long cancelled() {
        return counts.allCancelled();
    }

    // --- what waits

    private Stream<DelayedMessage> waiting() {
        return adopted.isEmpty()
                ? own.waiting()
                : Stream.concat(own.waiting(), adopted.stream().flatMap(DelayedQueue::waiting))
                        .sorted();
    }

    /**
     * Lists waiting messages in the order of their time. Takes some time for long lists, so it is not for event loops.
     *
     * @param skip number of messages before the part
     * @param limit maximum number of messages
     * @return the part; messages that come or leave meanwhile may be missing
     */
    @AnyThread
    public List<DelayedMessage> list(int skip, int limit) {
        return waiting().skip(skip).limit(limit).toList();
    }

    /**
     * Finds a waiting message. Reads all of them, so it is not for event loops.
     *
     * @param messageId the {@linkplain ApplicationMessage#id() identifier} of the message
     * @return null if none waits
     */
    @AnyThread
    public @Nullable DelayedMessage find(long messageId) {
        return waiting()
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
                    boolean waits = Stream.concat(Stream.of(own), adopted.stream())
                            .anyMatch(queue -> queue.cancel(message, removed -> {
                                if (removed) {
                                    sink.success(true);
                                } else {
                                    sink.error(new IllegalStateException("the store has not removed the message"));
                                }
                            }));
                    if (!waits) {
                        sink.success(false);
                    }
                });
            } catch (RejectedExecutionException e) {
                sink.error(new IllegalStateException("the broker stops", e));
            }
        });
    }

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
        if (!counts.reserve(kept, limits)) {
            return ReasonCode.QUOTA_EXCEEDED;
        }
        own.accept(loop, kept, seconds, ticket);
        return ReasonCode.SUCCESS;
    }

    // --- messages of stores

    /** Takes over the queue that was found in the store; its messages are read by {@link #start}. */
    void recovered(StoredSession header, StoredQueue found) {
        own.recovered(header, found);
    }

    /** Reads the messages of an earlier run. */
    void start() {
        own.start();
    }

    /**
     * Reads the messages of an adopted store, and publishes them at their time.
     *
     * @param stores the adopted store, whose writers are open
     */
    @AnyThread
    DelayedQueue adopt(Stores stores, StoredSession header, StoredQueue found) {
        DelayedQueue queue = new DelayedQueue(resources, retained, stores, counts);
        queue.recovered(header, found);
        adopted.add(queue);
        queue.start();
        return queue;
    }

    /**
     * Publishes no more of an adopted store; what waits stays there.
     *
     * @return completes when what has been published is removed from the store, or stays there
     */
    @AnyThread
    CompletableFuture<Void> end(DelayedQueue queue) {
        adopted.remove(queue);
        return queue.end();
    }
}
