// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * The client side of a session for a consumer in this process. It connects a subscriber of a Flux to a session as a
 * connection does for a client; the session makes no difference.
 *
 * <p>Demand, acknowledgements and cancellation may come from any thread. They are recorded, and the event loop of the session
 * is woken up once for all of them ({@link #wake()}). All other work, and all signals to the subscriber, happen there.
 */
final class Consumer implements PacketSink, org.reactivestreams.Subscription {

    private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

    /** Maximum number of messages that are handed over before other tasks of the event loop run. */
    private static final int AT_ONCE = 256;

    /** Creates and removes the session of a consumer. On the consumer's event loop. */
    interface Home {

        /** Called when the consumer has its session: subscribes and delivers retained messages. */
        void opened(Consumer consumer, Session session);

        /** Called once, when the consumer has released its session or will never have one. */
        void ended(Consumer consumer);
    }

    private final String id;
    private final CoreSubscriber<? super ReceivedMessage> actual;
    private final Home home;
    private final RoutingLoop loop;
    private final int window;
    private final boolean automatic;

    // from any thread
    private final AtomicInteger wakes = new AtomicInteger();
    private final AtomicLong demand = new AtomicLong();
    private final Queue<ReceivedMessage> acknowledged = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile boolean stopped;
    private volatile @Nullable Throwable error;

    // on the loop
    private final ArrayDeque<ReceivedMessage> waiting = new ArrayDeque<>();
    private final ArrayDeque<Integer> released = new ArrayDeque<>();
    private @Nullable Session session;
    private boolean opening = true;
    private boolean full;
    private boolean left;

    /**
     * Creates a consumer.
     *
     * @param id the name of its session
     * @param loop the event loop of its session
     * @param window maximum number of messages it has at a time
     * @param automatic whether messages are acknowledged when the subscriber has taken them
     */
    Consumer(
            String id,
            CoreSubscriber<? super ReceivedMessage> actual,
            Home home,
            RoutingLoop loop,
            int window,
            boolean automatic) {
        this.id = id;
        this.actual = actual;
        this.home = home;
        this.loop = loop;
        this.window = window;
        this.automatic = automatic;
    }

    String id() {
        return id;
    }

    RoutingLoop loop() {
        return loop;
    }

    // --- any thread

    /** The reason of the end. */
    Throwable reason() {
        Throwable cause = error;
        if (cause != null) {
            return cause;
        }
        return stopped ? new BrokerClosedException() : new CancellationException("the consumer was cancelled");
    }

    /** Whether the subscriber gets no further signals. */
    boolean isOver() {
        return over.get();
    }

    @Override
    public void request(long messages) {
        if (messages <= 0) { // rule 3.9 of Reactive Streams
            fail(new IllegalArgumentException("rule 3.9: a demand of " + messages + " messages"));
        } else {
            demand.accumulateAndGet(messages, Operators::addCap);
            wake();
        }
    }

    @Override
    public void cancel() {
        over.set(true);
        wake();
    }

    void acknowledge(ReceivedMessage message) {
        acknowledged.add(message);
        wake();
    }

    /** Ends the consumer with an error. */
    void fail(Throwable cause) {
        error = cause;
        stop();
    }

    /** Ends the consumer: its subscriber gets the messages for which it has demand, then the last signal. */
    void stop() {
        stopped = true;
        wake();
    }

    private void wake() {
        if (wakes.getAndIncrement() == 0) {
            runLater();
        }
    }

    private void runLater() {
        try {
            loop.executor().execute(this::run);
        } catch (RejectedExecutionException e) { // the broker has stopped
            finish();
        }
    }

    // --- on the loop

    private void run() {
        int seen = wakes.get();
        int more = AT_ONCE;
        do {
            flushAcknowledgements();
            more = emit(more);
            if (more == 0) {
                runLater();
                return;
            }
            endIfOver();
            seen = wakes.addAndGet(-seen);
        } while (seen != 0);
    }

    /** Passes acknowledgements to the session. */
    private void flushAcknowledgements() {
        Session current = attached();
        for (ReceivedMessage next = acknowledged.poll(); next != null; next = acknowledged.poll()) {
            if (current != null) {
                acknowledge(current, next);
            }
        }
        for (Integer next = released.poll(); next != null; next = released.poll()) {
            if (current != null) {
                current.onPubComp(next);
            }
        }
    }

    private void acknowledge(Session current, ReceivedMessage message) {
        if (message.qos() == QoS.EXACTLY_ONCE) { // both steps at once: nothing can be lost between them
            current.onPubRec(message.packetId(), ReasonCode.SUCCESS);
            released.removeLastOccurrence(message.packetId());
            current.onPubComp(message.packetId());
        } else {
            current.onPubAck(message.packetId(), ReasonCode.SUCCESS);
        }
    }

    /** The session; null if it was taken over by another consumer. */
    private @Nullable Session attached() {
        Session current = session;
        return current != null && current.sink() == this ? current : null;
    }

    /** Hands over messages for which there is demand; returns how many more may be handed over in this run. */
    private int emit(int atMost) {
        int most = (int) Math.min(demand.get(), Math.min(atMost, waiting.size()));
        int handedOver = 0;
        while (handedOver < most && !over.get()) {
            handedOver++;
            handOver(waiting.remove());
        }
        if (handedOver > 0) { // what was asked for meanwhile is for the next pass
            int taken = handedOver;
            demand.updateAndGet(open -> open == Long.MAX_VALUE ? open : open - taken);
        }
        int more = atMost - handedOver;
        Session current = attached();
        if (full && waiting.size() < window && current != null) {
            full = false;
            current.start();
        }
        return more;
    }

    private void handOver(ReceivedMessage message) {
        try {
            actual.onNext(message);
            if (automatic) {
                message.acknowledge();
            }
        } catch (Throwable e) {
            over.set(true);
            subscriberFailed(e);
        }
    }

    /** Handles a subscriber that throws, against rule 2.13 of Reactive Streams. Reactor's operators throw only fatal errors. */
    private void subscriberFailed(Throwable e) {
        LOG.error("the subscriber of {} failed, its subscription ends", LogText.escape(id), e);
        if (e instanceof VirtualMachineError fatal) {
            runLater(); // ends it
            throw fatal;
        }
    }

    private void endIfOver() {
        if (stopped) {
            finish();
        }
        if (over.get() && !opening && !left) {
            flushAcknowledgements(); // the last ones
            left = true;
            waiting.clear();
            if (session != null) {
                session.connectionEnded(this, false, -1);
            }
            home.ended(this);
        }
    }

    /** Sends the last signal, unless the subscriber has cancelled. */
    private void finish() {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        Throwable cause = error;
        try {
            if (cause == null) {
                actual.onComplete();
            } else {
                actual.onError(cause);
            }
        } catch (Throwable e) { // the session must be released all the same
            subscriberFailed(e);
        }
    }

    // --- calls of the session

    /** Called when this consumer is the client of the session. */
    void opened(Session opened) {
        opening = false;
        session = opened;
        if (!over.get()) {
            home.opened(this, opened);
        }
        wake();
    }

    /** Called when there is no session, or no subscription. */
    void refused(ReasonCode reason) {
        opening = false;
        fail(new ConsumerEndedException(id, reason));
    }

    /** Called when the consumer ended before its session was opened. */
    void notOpened() {
        opening = false;
        wake();
    }

    @Override
    public boolean isWritable() {
        boolean writable = waiting.size() < window;
        full |= !writable;
        return writable;
    }

    @Override
    public int sendMaximum() {
        return window;
    }

    @Override
    public boolean publish(
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            boolean retain,
            int packetId,
            boolean duplicate) {
        waiting.add(new ReceivedMessage(this, message, qos, retain, duplicate, packetId));
        wake();
        return true;
    }

    @Override
    public void pubRel(int packetId) {
        released.add(packetId);
        wake();
    }

    @Override
    public void disconnect(ReasonCode reason) {
        if (reason == ReasonCode.SERVER_SHUTTING_DOWN) {
            stop();
        } else {
            fail(new ConsumerEndedException(id, reason));
        }
    }
}
