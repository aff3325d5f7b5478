// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.QueueBudget;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.IntSupplier;
import java.util.function.Predicate;

/**
 * What this node forwards to one peer: a bounded queue, numbered batches, and what the peer has not taken over yet. While
 * the peer cannot be reached, messages above QoS 0 are parked here and their publishers are not kept waiting. Event loops
 * {@link #offer}; everything else is on the cluster's loop.
 */
final class PeerOutbox {

    private final Executor loop;
    private final ClusterSettings settings;
    private final BrokerObserver observer;
    private final QueueBudget budget;
    private final IntSupplier streams;
    private final Predicate<Frame.PublishBatch> send;
    private final BiConsumer<OutboundMessage, SharedFilter> redispatch;

    private final Queue<List<OutboundMessage>> offered = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean reachable;

    private final ArrayDeque<OutboundMessage> unsent = new ArrayDeque<>();
    private final ArrayDeque<OutboundMessage> unacknowledged = new ArrayDeque<>();
    private long peerEpoch = Long.MIN_VALUE;
    private int stream;
    private long onTheirWayBytes;
    private long lastSequence;
    private long received;
    private long progressNanos;
    private long patienceNanos;
    private boolean pressing;
    private final ArrayDeque<Marker> markers = new ArrayDeque<>();

    /** Something waits until a message has been taken over. */
    private record Marker(OutboundMessage last, Runnable task) {}

    /**
     * Creates an empty queue to a peer that cannot be reached yet.
     *
     * @param streams gives numbers to streams; each is higher than those before, also after the peer was forgotten
     * @param send gives a batch to the transport; false if it takes none now
     * @param redispatch gives a message to another member of a group
     */
    PeerOutbox(
            Executor loop,
            ClusterSettings settings,
            BrokerObserver observer,
            QueueBudget budget,
            IntSupplier streams,
            Predicate<Frame.PublishBatch> send,
            BiConsumer<OutboundMessage, SharedFilter> redispatch) {
        this.loop = loop;
        this.settings = settings;
        this.observer = observer;
        this.budget = budget;
        this.streams = streams;
        this.send = send;
        this.redispatch = redispatch;
        this.patienceNanos = settings.retransmit().toNanos();
    }

    boolean isReachable() {
        return reachable;
    }

    /** Messages that wait, those on their way included. Any thread. */
    int size() {
        return count.get();
    }

    /** What these hold. Any thread. */
    long bytes() {
        return bytes.get();
    }

    /** Queues messages, in their order. Any thread. */
    void offer(List<OutboundMessage> messages) {
        long held = 0;
        for (OutboundMessage message : messages) {
            held += message.bytes();
        }
        List<OutboundMessage> accepted = messages;
        if (!reachable || isFull(messages.size(), held, 1)) {
            accepted = new ArrayList<>(messages.size());
            held = 0;
            for (OutboundMessage message : messages) {
                if (accepts(message, accepted.size(), held)) {
                    accepted.add(message);
                    held += message.bytes();
                }
            }
        }
        if (!accepted.isEmpty()) {
            count.addAndGet(accepted.size()); // once for all: these are shared by all event loops and the cluster's
            bytes.addAndGet(held);
            offered.add(accepted);
            if (woken.compareAndSet(false, true)) {
                loop.execute(this::collect);
            }
        }
    }

    private boolean accepts(OutboundMessage message, int more, long moreBytes) {
        if (!reachable && message.isAtMostOnce()) {
            observer.messageDropped(DropReason.PEER_GONE, 1);
            return false;
        }
        int part = reachable ? 1 : 2; // what is parked leaves room for what comes when the peer is back
        if (isFull(more, moreBytes, part)) {
            observer.messageDropped(DropReason.PEER_QUEUE, 1);
            message.settle(false); // what cannot be parked must not be acknowledged
            return false;
        }
        return true;
    }

    private boolean isFull(int more, long moreBytes, int part) {
        return count.get() + more >= settings.queueMessages() / part
                || bytes.get() + moreBytes >= settings.queueBytes() / part;
    }

    private void collect() {
        woken.set(false);
        for (List<OutboundMessage> next = offered.poll(); next != null; next = offered.poll()) {
            for (OutboundMessage message : next) {
                if (reachable || isKeptParked(message)) {
                    unsent.add(message);
                }
            }
        }
        adjustPressure();
        pump();
    }

    /** The peer can be reached, and this is its run. */
    void up(long epoch, long nowNanos) {
        if (epoch != peerEpoch) {
            beginAgain(epoch);
        }
        if (!reachable) {
            reachable = true;
            progressNanos = nowNanos;
            patienceNanos = settings.retransmit().toNanos();
            resend();
            adjustPressure();
        }
        pump();
    }

    /** What the last run has not taken over is for the next one. */
    private void beginAgain(long epoch) {
        peerEpoch = epoch;
        stream = streams.getAsInt();
        lastSequence = 0;
        received = 0;
        onTheirWayBytes = 0;
        while (!unacknowledged.isEmpty()) {
            unsent.addFirst(unacknowledged.removeLast());
        }
    }

    /** Runs a task when the peer has taken over what is here now, or cannot be reached. */
    void afterDrained(Runnable task) {
        OutboundMessage last = unsent.isEmpty() ? unacknowledged.peekLast() : unsent.peekLast();
        if (last == null || !reachable) {
            task.run();
        } else {
            markers.add(new Marker(last, task));
        }
    }

    /** The peer cannot be reached. */
    void down() {
        if (reachable) {
            reachable = false;
            park();
            while (!markers.isEmpty()) {
                markers.remove().task.run();
            }
            adjustPressure();
        }
    }

    /** Lets the publishers go, gives shared messages to others, and keeps the rest for the peer's return. */
    private void park() {
        List<OutboundMessage> kept = new ArrayList<>(unsent.size());
        for (OutboundMessage message : unsent) {
            if (isKeptParked(message)) {
                kept.add(message);
            }
        }
        unsent.clear();
        unsent.addAll(kept);
        for (OutboundMessage message : unacknowledged) {
            if (!message.isExactlyOnce()) { // it may have been delivered: that is for QoS 1 to bear
                message.takeGroups().forEach(group -> redispatch.accept(message, group));
            }
            message.settle(true);
        }
    }

    /** Parks a message that was not sent yet; false if there is nothing of it to keep. */
    private boolean isKeptParked(OutboundMessage message) {
        message.takeGroups().forEach(group -> redispatch.accept(message, group));
        boolean kept = !message.isAtMostOnce() && message.forwarded().toAll();
        if (!kept) {
            forget(message);
            if (message.isAtMostOnce() && message.forwarded().toAll()) {
                observer.messageDropped(DropReason.PEER_GONE, 1);
            }
        }
        message.settle(true);
        return kept;
    }

    /** The peer will not come back: nothing is kept for it. */
    void purge() {
        down();
        unacknowledged.forEach(this::forget);
        unsent.forEach(this::forget);
        if (!unacknowledged.isEmpty() || !unsent.isEmpty()) {
            observer.messageDropped(DropReason.PEER_GONE, unacknowledged.size() + unsent.size());
        }
        unacknowledged.clear();
        unsent.clear();
        onTheirWayBytes = 0;
        peerEpoch = Long.MIN_VALUE;
        adjustPressure();
    }

    void acknowledged(Frame.PublishAck ack, long nowNanos) {
        if (ack.stream() != stream || ack.upTo() > lastSequence) {
            return;
        }
        if (ack.received() > received) {
            received = Math.min(ack.received(), lastSequence);
            progress(nowNanos);
        }
        for (Frame.Refusal refusal : ack.refusals()) {
            refused(refusal);
        }
        int settled = 0;
        long settledBytes = 0;
        while (!unacknowledged.isEmpty() && unacknowledged.element().sequence() <= ack.upTo()) {
            OutboundMessage done = unacknowledged.remove();
            settled++;
            settledBytes += done.bytes();
            for (int i = done.deliveries(); i > 0; i--) {
                observer.messageDelivered(
                        done.message().qos(), done.message().payload().size());
            }
            done.settle(true);
            while (!markers.isEmpty() && markers.element().last == done) {
                markers.remove().task.run();
            }
        }
        if (settled > 0) {
            onTheirWayBytes -= settledBytes;
            count.addAndGet(-settled);
            bytes.addAndGet(-settledBytes);
            progress(nowNanos);
        }
        adjustPressure();
        pump();
    }

    private void progress(long nowNanos) {
        progressNanos = nowNanos;
        patienceNanos = settings.retransmit().toNanos();
    }

    private void refused(Frame.Refusal refusal) {
        for (OutboundMessage message : unacknowledged) {
            if (message.sequence() == refusal.sequence()) {
                if (refusal.group().isEmpty()) {
                    message.settle(false);
                } else {
                    redispatch.accept(message, MessageCodec.group(refusal.group()));
                }
                return;
            }
            if (message.sequence() > refusal.sequence()) {
                return;
            }
        }
    }

    /** Looks whether something has to be sent again. Called now and then. */
    void tick(long nowNanos) {
        if (!reachable) {
            return;
        }
        if (unacknowledged.isEmpty()) {
            progressNanos = nowNanos;
        } else if (nowNanos - progressNanos > patienceNanos) {
            progressNanos = nowNanos;
            patienceNanos =
                    Math.min(patienceNanos * 2, 8 * settings.retransmit().toNanos());
            resend();
        }
        pump();
    }

    /** Sends again what did not arrive; if all did, the last message, so that the acknowledgement is told again. */
    private void resend() {
        if (unacknowledged.isEmpty()) {
            return;
        }
        long from = Math.min(received + 1, unacknowledged.getLast().sequence());
        List<OutboundMessage> again = new ArrayList<>();
        int size = 0;
        for (OutboundMessage message : unacknowledged) {
            if (message.sequence() < from) {
                continue;
            }
            if (isFull(again.size(), size, message)) {
                if (!send(again)) {
                    return;
                }
                again.clear();
                size = 0;
            }
            again.add(message);
            size += message.bytes();
        }
        send(again);
    }

    private boolean isFull(int messages, int size, OutboundMessage next) {
        return messages >= settings.rowsPerFrame() || (messages > 0 && size + next.bytes() > settings.frameBytes());
    }

    private boolean send(List<OutboundMessage> messages) {
        List<ForwardedMessage> forwarded = new ArrayList<>(messages.size());
        messages.forEach(message -> forwarded.add(message.forwarded()));
        long base = unacknowledged.isEmpty()
                ? messages.get(0).sequence()
                : unacknowledged.element().sequence();
        return send.test(
                new Frame.PublishBatch(peerEpoch, stream, base, messages.get(0).sequence(), forwarded));
    }

    private void pump() {
        while (reachable && !unsent.isEmpty() && hasRoom()) {
            List<OutboundMessage> next = new ArrayList<>();
            int size = 0;
            Iterator<OutboundMessage> waiting = unsent.iterator();
            while (waiting.hasNext()) {
                OutboundMessage message = waiting.next();
                if (isFull(next.size(), size, message)) {
                    break;
                }
                message.number(lastSequence + next.size() + 1);
                next.add(message);
                size += message.bytes();
            }
            if (!send(next)) {
                return; // later
            }
            lastSequence += next.size();
            for (OutboundMessage sent : next) {
                unsent.remove();
                unacknowledged.add(sent);
                onTheirWayBytes += sent.bytes();
            }
        }
    }

    private boolean hasRoom() {
        return unacknowledged.size() < settings.windowMessages() && onTheirWayBytes < settings.windowBytes();
    }

    private void forget(OutboundMessage message) {
        count.decrementAndGet();
        bytes.addAndGet(-message.bytes());
    }

    /** Slows publishers while the queue is more than half full, until it is a quarter full. */
    private void adjustPressure() {
        boolean more = isBeyond(2);
        if (reachable && !pressing && more) {
            pressing = true;
            budget.press();
        } else if (pressing && (!reachable || !isBeyond(4))) {
            pressing = false;
            budget.ease();
        }
    }

    private boolean isBeyond(int part) {
        return count.get() > settings.queueMessages() / part || bytes.get() > settings.queueBytes() / part;
    }
}
