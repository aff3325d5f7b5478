// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.smqtt.codec.PacketDecoder;
import io.smqtt.codec.PublishEncoder;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.overload.Overload;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.Deadline;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.session.QueueBudget;
import io.smqtt.session.StoreLoop;
import io.smqtt.spi.TrafficCounts;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.trace.RunningTraces;
import io.smqtt.trace.TracedLoop;
import java.util.Arrays;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * State shared by the connections of one event loop: decoder, encoder, deadlines, and the list of connections with unwritten output.
 * All output of a pass is written at the end of that pass, one write per connection: the first connection with output queues the
 * flush task, which the event loop runs before it waits again.
 */
public final class ConnectionLoop implements TracedLoop {

    private static final int FIRST_DIRTY = 64;

    private final RoutingLoop routing;
    private final DeadlineWheel wheel;
    private final PacketDecoder decoder;
    private final PublishEncoder encoder = new PublishEncoder();
    private final QueueBudget budget;
    private final Overload overload;
    private final @Nullable StoreLoop store;
    private @Nullable TicketOffer ticketOffer;
    private final HandedBack handedBack;
    private final TrafficCounts traffic = new TrafficCounts();
    private final Runnable flushTask = this::flush;
    private OutboundBuffer[] dirty = new OutboundBuffer[FIRST_DIRTY];
    private int dirtyCount;
    private boolean overloaded;
    private @Nullable RunningTraces traces;
    private @Nullable DecisionListener decisions;
    private boolean storeOverloaded;
    private @Nullable ApplicationMessage sharedMessage;
    private @Nullable ByteBuf sharedPayload;

    /**
     * Creates the state of one event loop.
     *
     * @param routing the loop
     * @param wheel the deadlines of the event loop
     * @param decoder the decoder of the event loop
     * @param budget the budget of all queues of the broker
     */
    public ConnectionLoop(RoutingLoop routing, DeadlineWheel wheel, PacketDecoder decoder, QueueBudget budget) {
        this(routing, wheel, decoder, budget, Overload.NONE, null);
    }

    /**
     * Creates the state of one event loop of a broker with a store.
     *
     * @param routing the loop
     * @param wheel the deadlines of the event loop
     * @param decoder the decoder of the event loop
     * @param budget the budget of all queues of the broker
     * @param overload how overloaded the broker is
     * @param store the writes of the event loop to the store, or null
     */
    public ConnectionLoop(
            RoutingLoop routing,
            DeadlineWheel wheel,
            PacketDecoder decoder,
            QueueBudget budget,
            Overload overload,
            @Nullable StoreLoop store) {
        this.routing = routing;
        this.handedBack = new HandedBack(routing.executor());
        this.wheel = wheel;
        this.decoder = decoder;
        this.budget = budget;
        this.overload = overload;
        this.store = store;
    }

    @Override
    @AnyThread
    public Executor executor() {
        return routing.executor();
    }

    @Override
    @OnEventLoop
    public void traces(@Nullable RunningTraces running) {
        traces = running;
    }

    /** The traces that run; null if there are none. Kept here as well as in the routing loop: one object less on the way of a message. */
    @Nullable
    RunningTraces traces() {
        return traces;
    }

    /**
     * Sets who is notified of decisions on clients of this event loop.
     *
     * @param listener the listener from now on; null without a listener
     */
    @OnEventLoop
    public void decisions(@Nullable DecisionListener listener) {
        decisions = listener;
    }

    /** The listener for decisions; null if there is none. */
    @Nullable
    DecisionListener decisions() {
        return decisions;
    }

    /** Starts the overload check. */
    @OnEventLoop
    public void start() {
        wheel.arm(new OverloadCheck(), 0);
    }

    /** Checks the budget of all queues and the storage backlog once per tick, so that reading need not. */
    private final class OverloadCheck extends Deadline {

        @Override
        protected void expired() {
            overloaded = budget.isExceeded();
            budget.look();
            storeOverloaded = store != null && store.isOverloaded();
            wheel.arm(this, 0);
        }
    }

    /**
     * The traffic of the connections of this event loop.
     *
     * @return counts that any thread may read
     */
    public TrafficCounts traffic() {
        return traffic;
    }

    /** Takes acknowledgements that other threads have completed. */
    HandedBack handedBack() {
        return handedBack;
    }

    RoutingLoop routing() {
        return routing;
    }

    /** The writes of the event loop to the store; null without a store. */
    @Nullable
    StoreLoop store() {
        return store;
    }

    /** Whether only stable storage counts as stored. */
    boolean wantsStable() {
        return store != null && store.isStable();
    }

    /** Whether acknowledgements wait for the store. */
    boolean waitsForStore() {
        return store != null && store.isAwaited();
    }

    /** Prepares a ticket that is created only when a subscriber holds it. */
    TicketOffer offer(TicketOffer.Publisher publisher, int packetId, QoS qos) {
        TicketOffer offer = ticketOffer;
        ticketOffer = null; // a nested route gets another
        return (offer == null ? new TicketOffer() : offer).of(publisher, packetId, qos);
    }

    /** Takes back the ticket offer after routing. */
    void takeBack(TicketOffer offer) {
        offer.clear();
        ticketOffer = offer;
    }

    DeadlineWheel wheel() {
        return wheel;
    }

    PacketDecoder decoder() {
        return decoder;
    }

    PublishEncoder encoder() {
        return encoder;
    }

    /** Whether publishers are slowed because the queues are nearly full. */
    boolean isOverloaded() {
        return overloaded;
    }

    /** Whether publishers at QoS 0 are not read because the broker is overloaded. */
    boolean pausesPublishers() {
        return overload.pausesPublishers();
    }

    /** Whether publishers of messages that may be stored are slowed because of the storage backlog. */
    boolean isStoreOverloaded() {
        return storeOverloaded;
    }

    /**
     * Waits until the storage backlog is below its limit.
     *
     * @return completes on the event loop
     */
    @OnEventLoop
    Mono<ReasonCode> storeHasRoom() {
        assert inEventLoop();
        return Mono.create(sink -> {
            RoomCheck check = new RoomCheck(sink);
            sink.onCancel(check::stop);
            wheel.arm(check, 0);
        });
    }

    private final class RoomCheck extends Deadline {

        private final MonoSink<ReasonCode> sink;
        private volatile boolean stopped;

        RoomCheck(MonoSink<ReasonCode> sink) {
            this.sink = sink;
        }

        void stop() { // on any thread
            stopped = true;
        }

        @Override
        protected void expired() {
            if (!storeOverloaded) {
                sink.success(ReasonCode.SUCCESS);
            } else if (!stopped) {
                wheel.arm(this, 0);
            }
        }
    }

    boolean inEventLoop() {
        return routing.executor().inEventLoop();
    }

    void markDirty(OutboundBuffer buffer) {
        assert inEventLoop();
        if (dirtyCount == 0) {
            routing.executor().execute(flushTask);
        }
        if (dirtyCount == dirty.length) {
            dirty = Arrays.copyOf(dirty, dirtyCount * 2);
        }
        dirty[dirtyCount++] = buffer;
    }

    private void flush() {
        if (store != null) {
            store.flush(); // the disk works while the sockets are being written
        }
        int count = dirtyCount;
        OutboundBuffer[] flushing = dirty;
        for (int i = 0; i < count; i++) {
            flushing[i].flush();
        }
        if (dirtyCount > count) { // a flush caused output of other connections
            System.arraycopy(dirty, count, dirty, 0, dirtyCount - count);
            Arrays.fill(dirty, dirtyCount - count, dirtyCount, null);
            dirtyCount -= count;
            routing.executor().execute(flushTask);
        } else {
            Arrays.fill(dirty, 0, count, null);
            dirtyCount = 0;
        }
        releaseShared();
    }

    /** A large payload as one direct buffer that all its subscribers in this pass share; the caller retains it. */
    ByteBuf sharedPayload(ApplicationMessage message, ByteBufAllocator allocator) {
        ByteBuf payload = sharedPayload;
        if (payload == null || sharedMessage != message) {
            releaseShared();
            payload = allocator.directBuffer(message.payload().size());
            message.payload().writeTo(payload);
            sharedPayload = payload;
            sharedMessage = message;
        }
        return payload;
    }

    private void releaseShared() {
        if (sharedPayload != null) {
            sharedPayload.release();
            sharedPayload = null;
            sharedMessage = null;
        }
    }
}
