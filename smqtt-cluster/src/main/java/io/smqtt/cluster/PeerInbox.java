// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.thread.AnyThread;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives the messages that one peer forwards to this node: accepts each message once, in order, and acknowledges cumulatively. On the
 * cluster's loop, unless stated otherwise.
 */
@OnClusterLoop
final class PeerInbox {

    private static final int MAXIMUM_REFUSALS = 10_000;

    /** QoS 2 messages whose repetition by a later run of the peer is noticed: more than a peer has in flight. */
    private static final int REMEMBERED = 32_768;

    /** Limits of messages, bytes and time after which messages without a waiting publisher are acknowledged. */
    private static final int UNACKNOWLEDGED_MESSAGES = 2_048;

    private static final int UNACKNOWLEDGED_BYTES = 512 * 1024;

    private final Executor loop;
    private final Consumer<List<InboundMessage>> deliver;
    private final Consumer<Frame.PublishAck> acknowledge;
    private final Consumer<Runnable> soon;
    private final BooleanSupplier paced;
    private final AdoptedHomes adopted;
    private final AtomicBoolean collecting = new AtomicBoolean();
    private final ArrayDeque<InboundBatch> open = new ArrayDeque<>();
    private final ArrayDeque<Frame.Refusal> refusals = new ArrayDeque<>();

    /** Batches of an earlier run of the peer that are not complete. */
    private final List<InboundBatch> abandoned = new ArrayList<>();

    /** Identifiers of QoS 2 messages, and whether each has been accepted. */
    private final Map<Long, Boolean> exactlyOnce = new LinkedHashMap<>();

    private long epoch = Long.MIN_VALUE;
    private int stream;
    private long received;
    private long upTo;
    private long acknowledged;
    private long unacknowledgedBytes;
    private boolean acknowledgementDue;

    /**
     * Creates an inbox.
     *
     * @param loop the cluster's loop
     * @param deliver accepts messages, in their order; each is released when it has been accepted
     * @param acknowledge sends an acknowledgement to the peer
     * @param soon runs a task on the loop within some milliseconds
     * @param paced whether messages have to be taken at the pace of the clients, because this process has paused
     * @param adopted the nodes whose sessions this one serves
     */
    PeerInbox(
            Executor loop,
            Consumer<List<InboundMessage>> deliver,
            Consumer<Frame.PublishAck> acknowledge,
            Consumer<Runnable> soon,
            BooleanSupplier paced,
            AdoptedHomes adopted) {
        this.loop = loop;
        this.deliver = deliver;
        this.acknowledge = acknowledge;
        this.soon = soon;
        this.paced = paced;
        this.adopted = adopted;
    }

    /** A batch that is for this run of this node. */
    void receive(long senderEpoch, Frame.PublishBatch batch) {
        if (senderEpoch < epoch || (senderEpoch == epoch && batch.stream() < stream)) {
            return; // of an abandoned stream
        }
        if (senderEpoch > epoch || batch.stream() > stream) {
            begin(senderEpoch, batch);
        }
        confirm(batch.base());
        List<InboundMessage> fresh = take(batch);
        if (fresh.isEmpty()) {
            sendAcknowledgement(); // the last acknowledgement was lost, or this batch came too early
        } else {
            deliver.accept(fresh);
        }
    }

    /** Processes the next messages in order. */
    private List<InboundMessage> take(Frame.PublishBatch batch) {
        List<ForwardedMessage> all = batch.messages();
        long known = received + 1 - batch.firstSequence();
        if (known < 0 || known >= all.size()) {
            return List.of();
        }
        List<ForwardedMessage> next = all.subList((int) known, all.size());
        boolean awaited = false;
        int bytes = 0;
        for (ForwardedMessage message : next) {
            awaited |= InboundMessage.isAwaited(message);
            bytes += message.message().footprintBytes();
        }
        boolean slowly = batch.parked() || paced.getAsBoolean();
        Set<String> named = Homes.nodes(batch.homes());
        Set<String> homes = batch.parked() ? named : Set.of();
        Set<String> takers = batch.parked() ? named : takers(named);
        List<String> notServed =
                named.stream().filter(home -> !adopted.serves(home)).toList();
        long sequence = received;
        received += next.size();
        InboundBatch taken = new InboundBatch(this, received, next.size(), awaited, bytes);
        open.add(taken);
        List<InboundMessage> fresh = new ArrayList<>(next.size());
        for (ForwardedMessage message : next) {
            sequence++;
            InboundMessage inbound =
                    new InboundMessage(taken, sequence, message, batch.parked(), slowly, !homes.isEmpty(), takers);
            if (!homes.isEmpty() && notServed.size() == homes.size()) {
                inbound.release(false); // it stays where it is parked
                continue;
            }
            if (!batch.parked()) {
                notServed.forEach(inbound::notServed);
            }
            // other sessions than these may have had it, and members of groups alone
            boolean isWhole = homes.isEmpty() && message.toAll();
            Boolean earlier = isWhole ? earlier(taken, sequence, message.message()) : null;
            if (earlier == null || !batch.parked()) {
                fresh.add(inbound);
            } else {
                inbound.release(earlier); // false: the first one is not accepted yet, and may fail
            }
        }
        return fresh;
    }

    /** The nodes whose adopted sessions get messages that were not parked: those that they name, and those of which the peer has not heard yet. */
    private Set<String> takers(Set<String> named) {
        Set<String> more = adopted.unknown();
        if (more.isEmpty()) {
            return named;
        }
        Set<String> all = new HashSet<>(named);
        all.addAll(more);
        return all;
    }

    /**
     * Whether a QoS 2 message that has arrived before, maybe from an earlier run of the peer, was accepted. Remembers it. Only what goes to all
     * subscribers counts: a peer may send a message to a group alone, and the parked copy of it for all others later.
     *
     * @return null if it has not arrived before
     */
    private @Nullable Boolean earlier(InboundBatch batch, long sequence, ApplicationMessage message) {
        if (message.qos() != QoS.EXACTLY_ONCE || message.id() == ApplicationMessage.NO_ID) {
            return null;
        }
        Boolean known = exactlyOnce.putIfAbsent(message.id(), false);
        if (known == null) {
            batch.identified(sequence, message.id());
        }
        if (exactlyOnce.size() > REMEMBERED) {
            Iterator<Long> oldest = exactlyOnce.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        return known;
    }

    /** A batch is complete: what was refused has not arrived. */
    private void settle(InboundBatch done) {
        for (InboundBatch.Identified message : done.exactlyOnce()) {
            if (done.isRefused(message.sequence())) {
                exactlyOnce.remove(message.id());
            } else {
                exactlyOnce.replace(message.id(), true);
            }
        }
    }

    private void begin(long senderEpoch, Frame.PublishBatch batch) {
        epoch = senderEpoch;
        stream = batch.stream();
        received = batch.base() - 1;
        upTo = received;
        acknowledged = received;
        unacknowledgedBytes = 0;
        abandoned.addAll(open);
        open.clear();
        refusals.clear();
    }

    private void confirm(long base) {
        while (!refusals.isEmpty() && refusals.element().sequence() < base) {
            refusals.remove();
        }
    }

    /** A batch has been accepted or refused. */
    @AnyThread
    void finished() {
        if (!collecting.get() && collecting.compareAndSet(false, true)) {
            loop.execute(this::collect);
        }
    }

    private void collect() {
        collecting.set(false); // before the check: a message that completes now triggers another run
        boolean awaited = false;
        abandoned.removeIf(batch -> {
            if (batch.isDone()) {
                settle(batch);
            }
            return batch.isDone();
        });
        while (!open.isEmpty() && open.element().isDone()) {
            InboundBatch done = open.remove();
            settle(done);
            upTo = done.last();
            unacknowledgedBytes += done.bytes();
            awaited |= done.isAwaited();
            refusals.addAll(done.refusals());
        }
        while (refusals.size() > MAXIMUM_REFUSALS) {
            refusals.remove();
        }
        if (awaited || upTo - acknowledged >= UNACKNOWLEDGED_MESSAGES || unacknowledgedBytes >= UNACKNOWLEDGED_BYTES) {
            sendAcknowledgement();
        } else if (upTo != acknowledged && !acknowledgementDue) {
            acknowledgementDue = true;
            soon.accept(this::sendRest);
        }
    }

    private void sendRest() {
        acknowledgementDue = false;
        if (upTo != acknowledged) {
            sendAcknowledgement();
        }
    }

    private void sendAcknowledgement() {
        acknowledged = upTo;
        unacknowledgedBytes = 0;
        acknowledge.accept(new Frame.PublishAck(epoch, stream, received, upTo, List.copyOf(refusals)));
    }
}
