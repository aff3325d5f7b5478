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
 * A consumer in this process as the client of a session: what a connection is to a client, this is to a subscriber of a
 * Flux. The session keeps, queues and sends again as it does for clients, and knows no difference.
 *
 * <p>Demand, acknowledgements and cancellation come from any thread; they are noted, and the event loop of the session is
 * woken up once for all of them ({@link #wake()}). Everything else, and all signals to the subscriber, happens there.
 */
final class Consumer implements PacketSink, org.reactivestreams.Subscription {

    private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

    /** How many messages are handed over before the others of the event loop have their turn. */
    private static final int AT_ONCE = 256;

    /** Creates and removes the session of a consumer. On the consumer's event loop. */
    interface Home {

        /** The consumer has its session: makes the subscription and sees to retained messages. */
        void opened(Consumer consumer, Session session);

        /** The consumer has let go of its session, or will never have one. Once. */
        void left(Consumer consumer);
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
     * @param loop where its session will be
     * @param window how many messages it has at once
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

    /** Why it is over. */
    Throwable reason() {
        Throwable cause = error;
        if (cause != null) {
            return cause;
        }
        return stopped ? new BrokerClosedException() : new CancellationException("the consumer was cancelled");
    }

    /** Whether the subscriber gets nothing any more. */
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

    /** Ends the consumer: its subscriber gets what is there and asked for, then the end. */
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
        } catch (RejectedExecutionException e) { // the broker has ended, and this with it
            finish();
        }
    }

    // --- on the loop

    private void run() {
        int seen = wakes.get();
        int more = AT_ONCE;
        do {
            settle();
            more = emit(more);
            if (more == 0) {
                runLater();
                return;
            }
            endIfOver();
            seen = wakes.addAndGet(-seen);
        } while (seen != 0);
    }

    /** Tells the session what was acknowledged. */
    private void settle() {
        Session current = attached();
        for (ReceivedMessage next = acknowledged.poll(); next != null; next = acknowledged.poll()) {
            if (current != null) {
                settle(current, next);
            }
        }
        for (Integer next = released.poll(); next != null; next = released.poll()) {
            if (current != null) {
                current.onPubComp(next);
            }
        }
    }

    private void settle(Session current, ReceivedMessage message) {
        if (message.qos() == QoS.EXACTLY_ONCE) { // both steps at once: nothing can get lost in between
            current.onPubRec(message.packetId(), ReasonCode.SUCCESS);
            released.removeLastOccurrence(message.packetId());
            current.onPubComp(message.packetId());
        } else {
            current.onPubAck(message.packetId(), ReasonCode.SUCCESS);
        }
    }

    /** The session, unless somebody else has it. */
    private @Nullable Session attached() {
        Session current = session;
        return current != null && current.sink() == this ? current : null;
    }

    /** Hands over what was asked for; returns how many more may be handed over now. */
    private int emit(int atMost) {
        int more = atMost;
        while (more > 0 && !waiting.isEmpty() && demand.get() > 0 && !over.get()) {
            more--;
            demand.updateAndGet(open -> open == Long.MAX_VALUE ? open : open - 1);
            hand(waiting.remove());
        }
        Session current = attached();
        if (full && waiting.size() < window && current != null) {
            full = false;
            current.start();
        }
        return more;
    }

    private void hand(ReceivedMessage message) {
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

    /** Against rule 2.13; the operators of Reactor do not, but for fatal errors. */
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
            settle(); // what it has acknowledged at last
            left = true;
            waiting.clear();
            if (session != null) {
                session.connectionEnded(this, false, -1);
            }
            home.left(this);
        }
    }

    /** The last signal, if the subscriber still listens. */
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
        } catch (Throwable e) { // its session must not stay with it
            subscriberFailed(e);
        }
    }

    // --- what the session says

    /** This is the session's client from now on. */
    void opened(Session opened) {
        opening = false;
        session = opened;
        if (!over.get()) {
            home.opened(this, opened);
        }
        wake();
    }

    /** There is no session, or no subscription. */
    void refused(ReasonCode reason) {
        opening = false;
        fail(new ConsumerEndedException(id, reason));
    }

    /** It was over before it began. */
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
