// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Sends the messages of the in-flight window over successive connections, and processes their acknowledgements. A message
 * is placed in the window before it is sent. Messages of an earlier connection are sent again first.
 */
@OnEventLoop
final class SendWindow {

    /** The flags of a message of which nothing is at the client. */
    private static final byte NOT_THERE = InFlightWindow.UNSENT | InFlightWindow.REFUSED;

    private final OutboundFlow flow;
    private final SessionResources resources;
    private final BrokerObserver observer;
    private final InFlightWindow inFlight;
    private final DeliveryJournal journal;

    private @Nullable SharedDeliveries shared;

    // valid for the connection
    private @Nullable PacketSink sink;
    private @Nullable DeliveryCheck check;
    private int outstanding;
    private long resendNext;
    private long resendEnd;
    private boolean paused;

    SendWindow(OutboundFlow flow, SessionResources resources, InFlightWindow inFlight, DeliveryJournal journal) {
        this.flow = flow;
        this.resources = resources;
        this.observer = resources.observer();
        this.inFlight = inFlight;
        this.journal = journal;
    }

    void attach(PacketSink newSink, @Nullable DeliveryCheck newCheck) {
        sink = newSink;
        check = newCheck;
        outstanding = 0;
        paused = false;
        resendNext = inFlight.head();
        resendEnd = inFlight.tail();
    }

    void detach() {
        sink = null;
        inFlight.moveToHeap();
        inFlight.trim();
        journal.detach();
    }

    /** Replaces the check after the client's access rights have changed. */
    void check(@Nullable DeliveryCheck newCheck) {
        check = newCheck;
    }

    /** The connection, while there is one. */
    @Nullable
    PacketSink sink() {
        return sink;
    }

    /** The messages of shared subscriptions; null if there never was one. */
    @Nullable
    SharedDeliveries shared() {
        return shared;
    }

    void shared(SharedDeliveries created) {
        shared = created;
    }

    // --- admission to the window

    boolean mayReceive(ApplicationMessage message) {
        return check == null || check.mayReceive(message.topic());
    }

    boolean isExpired(ApplicationMessage message) {
        return message.expiryIntervalSeconds() != ApplicationMessage.NEVER
                && message.isExpired(resources.ticker().nanoTime());
    }

    /** Whether all messages in the window were sent. */
    boolean isCaughtUp() {
        return resendNext == resendEnd;
    }

    /**
     * Whether the window takes one more message. A message in memory waits until those before it have been sent; a stored
     * one is placed before that.
     */
    boolean mayPlace(PacketSink current, Backlog from) {
        return !paused
                && (isCaughtUp() || !from.isInMemory())
                && inFlight.size() < current.sendMaximum() // [MQTT-3.3.4-9]
                && inFlight.hasIdentifier()
                && mayHold()
                && current.isWritable();
    }

    /** Whether the byte limits allow one more message. While all queues are full the window holds few bytes, which drains it first. */
    private boolean mayHold() {
        long bytes = inFlight.bytes();
        return bytes < InFlightWindow.STEP_BYTES
                || (bytes < flow.limits().maxQueuedBytes()
                        && !resources.budget().isExhausted());
    }

    // --- sending

    /** Assigns a message a sequence number and a packet identifier. Call {@link #leave} next. */
    long place(ApplicationMessage message, Subscription subscription, QoS qos) {
        long sequence = inFlight.add(message, subscription, qos);
        if (isCaughtUp()) {
            resendNext = sequence; // others may use the identifiers in between
        } else {
            inFlight.set(sequence, InFlightWindow.UNSENT);
        }
        resendEnd = inFlight.tail();
        return sequence;
    }

    /**
     * Sends a message that was placed: now, or after those before it.
     *
     * @param mayLeave whether the journal allows it
     */
    void leave(
            PacketSink current,
            long sequence,
            boolean mayLeave,
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            RouteTicket ticket) {
        if (!mayLeave || resendNext != sequence) {
            resend(current);
            return;
        }
        inFlight.clear(sequence, InFlightWindow.UNSENT);
        resendNext = resendEnd;
        outstanding++; // before writing, which may empty the socket and call back
        if (!write(current, message, subscription, qos, InFlightWindow.packetId(sequence), false)) {
            outstanding--;
            ticket.dropped(DropReason.PACKET_TOO_LARGE);
            remove(sequence);
        }
    }

    /** Writes a PUBLISH and counts it. Returns false if the packet is larger than the client accepts. */
    boolean write(
            PacketSink current,
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            int packetId,
            boolean duplicate) {
        boolean retain = message.retain() && subscription.retainAsPublished(); // [MQTT-3.3.1-12] [MQTT-3.3.1-13]
        boolean written = current.publish(message, subscription, qos, retain, packetId, duplicate);
        if (duplicate) { // it was already counted as delivered
            if (!written) {
                observer.messageAbandoned(DropReason.PACKET_TOO_LARGE, 1);
            }
        } else if (written) {
            observer.messageDelivered(qos, message.payload().size());
            if (message.isTimed()) {
                observer.deliveryTimed(resources.ticker().nanoTime() - message.acceptedAtNanos());
            }
        } else {
            flow.countDropped();
            observer.messageDropped(DropReason.PACKET_TOO_LARGE, 1);
            TracedQueue.dropped(message, subscription, DropReason.PACKET_TOO_LARGE);
        }
        return written;
    }

    /** Places a message that was sent before at its old position. Returns a negative number if its packet identifier is in use. */
    long placeAgain(StoredDelivery delivery, ApplicationMessage message, Subscription subscription, QoS qos) {
        if (!inFlight.reach(delivery.packetId())) {
            return -1;
        }
        long sequence = inFlight.add(message, subscription, qos);
        if (delivery.state() == StoredDelivery.State.RECEIVED) {
            inFlight.received(sequence);
        }
        resendEnd = inFlight.tail();
        return sequence;
    }

    /**
     * Sends messages in flight again after a reconnect, in the old order [MQTT-4.4.0-1] [MQTT-4.6.0-1]. A QoS 1 message
     * whose Message Expiry Interval has passed is dropped instead, which leaves no half of an exchange. At QoS 2 the
     * standard forbids that [MQTT-4.3.3-7], unless the client has ended the exchange by a refusal.
     */
    void resend(PacketSink current) {
        while (!paused && resendNext < resendEnd && outstanding < current.sendMaximum() && current.isWritable()) {
            long sequence = inFlight.from(resendNext);
            if (sequence >= resendEnd) {
                resendNext = resendEnd;
                return;
            }
            if (inFlight.is(sequence, InFlightWindow.UNSAFE)) {
                return; // resumes when the store has committed it
            }
            resendNext = sequence + 1;
            switch (inFlight.state(sequence)) {
                case InFlightWindow.AWAITING_PUBACK -> resendPublish(current, sequence, QoS.AT_LEAST_ONCE);
                case InFlightWindow.AWAITING_PUBREC -> resendPublish(current, sequence, QoS.EXACTLY_ONCE);
                case InFlightWindow.AWAITING_PUBCOMP -> {
                    outstanding++;
                    current.pubRel(InFlightWindow.packetId(sequence));
                }
                default -> { // acknowledged in the meantime
                }
            }
        }
    }

    private void resendPublish(PacketSink current, long sequence, QoS qos) {
        ApplicationMessage message = inFlight.message(sequence);
        Subscription subscription = inFlight.subscription(sequence);
        if (message == null || subscription == null) {
            throw new IllegalStateException("a message in flight has no content");
        }
        boolean first = inFlight.is(sequence, InFlightWindow.UNSENT);
        boolean isThere = !inFlight.is(sequence, NOT_THERE);
        if (!mayReceive(message)) {
            TracedQueue.dropped(message, subscription, DropReason.NOT_AUTHORIZED);
            giveUp(current, sequence, first, DropReason.NOT_AUTHORIZED);
            return;
        }
        if ((!isThere || qos == QoS.AT_LEAST_ONCE) && isExpired(message)) { // [MQTT-3.3.2-5]
            TracedQueue.dropped(message, subscription, DropReason.EXPIRED);
            giveUp(current, sequence, first, DropReason.EXPIRED);
            return;
        }
        inFlight.clear(sequence, NOT_THERE);
        outstanding++;
        if (!write(current, message, subscription, qos, InFlightWindow.packetId(sequence), !first)) {
            outstanding--;
            endWithoutContent(current, sequence, first);
        }
    }

    /** Sends no message above QoS 0 until {@link #endPause}, or the end of the connection. Acknowledgements are processed. */
    void beginPause() {
        paused = true;
    }

    /** Ends {@link #beginPause}. Call {@link OutboundFlow#pump} next. */
    void endPause() {
        paused = false;
    }

    /**
     * The client has refused a message for the time being. The exchange has ended there [MQTT-4.3.3-9], and the message was not handed over:
     * until it is sent again it may expire, at QoS 2 too.
     */
    void refused(int packetId) {
        long sequence = inFlight.find(packetId);
        if (sequence >= 0 && inFlight.message(sequence) != null) {
            inFlight.set(sequence, InFlightWindow.REFUSED);
        }
    }

    /**
     * Sends a message again that was sent over this connection, because the client has refused it for the time being: its identifier is
     * free there. During a pause, too.
     *
     * @return false if no message awaits an acknowledgement of its content with this identifier, or it was dropped instead
     */
    boolean repeat(int packetId) {
        PacketSink current = sink;
        long sequence = inFlight.find(packetId);
        if (current == null || sequence < 0 || sequence >= resendNext || inFlight.message(sequence) == null) {
            return false;
        }
        outstanding = Math.max(0, outstanding - 1); // it counts again
        boolean once = inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK;
        resendPublish(current, sequence, once ? QoS.AT_LEAST_ONCE : QoS.EXACTLY_ONCE);
        return inFlight.holds(sequence) && inFlight.message(sequence) != null;
    }

    private void giveUp(PacketSink current, long sequence, boolean first, DropReason reason) {
        if (first) {
            flow.countDropped();
            observer.messageDropped(reason, 1);
        } else {
            observer.messageAbandoned(reason, 1);
        }
        endWithoutContent(current, sequence, first);
    }

    /**
     * Ends a message that cannot be sent, or not again: access was revoked, it has expired, or the packet is larger than
     * the client accepts. At QoS 1, or if it was never sent or was refused, its identifier is free at once. At QoS 2 the client may have
     * received it, and would treat the next message with this identifier as a retransmission. So the exchange continues
     * without the content. The PUBREL makes the client forget the identifier. A client that does not know it answers so,
     * which is no error when a session is resumed (MQTT 5.0, section 3.7.2.1). After the PUBREL the message is never sent
     * again [MQTT-4.3.3-6].
     */
    private void endWithoutContent(PacketSink current, long sequence, boolean first) {
        if (first
                || inFlight.is(sequence, InFlightWindow.REFUSED)
                || inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK) {
            remove(sequence);
            return;
        }
        outstanding++;
        release(current, sequence);
    }

    /** Reduces a message to PUBREL and PUBCOMP. In a stored session that must be committed first. */
    private void release(@Nullable PacketSink current, long sequence) {
        inFlight.received(sequence);
        if (journal.received(sequence) && current != null) {
            current.pubRel(InFlightWindow.packetId(sequence));
        }
    }

    private void remove(long sequence) {
        boolean isOfSession = journal.end(sequence);
        if (shared != null) {
            shared.ended(sequence, isOfSession);
        }
        inFlight.remove(sequence);
    }

    /** Sends a PUBREL that waited for the commit. */
    void released(long sequence) {
        if (sink != null && sequence < resendNext) {
            sink.pubRel(InFlightWindow.packetId(sequence));
        }
    }

    // --- acknowledgements

    /** The message of which a client is to send a PUBACK (at QoS 1) or a PUBREC (at QoS 2); null if there is none. */
    @Nullable
    ApplicationMessage awaiting(int packetId, QoS qos) {
        long sequence = inFlight.find(packetId);
        byte state = qos == QoS.AT_LEAST_ONCE ? InFlightWindow.AWAITING_PUBACK : InFlightWindow.AWAITING_PUBREC;
        return sequence >= 0 && inFlight.state(sequence) == state ? inFlight.message(sequence) : null;
    }

    /** Processes a PUBACK. */
    AcknowledgementOutcome acknowledged(int packetId, ReasonCode reason) {
        long sequence = inFlight.find(packetId);
        if (sequence < 0 || inFlight.state(sequence) != InFlightWindow.AWAITING_PUBACK) {
            return unexpected(sequence);
        }
        if (reason.isError()) {
            observer.messageAbandoned(DropReason.REFUSED_BY_CLIENT, 1);
        }
        finish(sequence);
        return AcknowledgementOutcome.EXPECTED;
    }

    /** Processes a PUBREC; unless it was an error the PUBREL follows, also when it is repeated. */
    AcknowledgementOutcome received(int packetId, ReasonCode reason) {
        long sequence = inFlight.find(packetId);
        if (sequence < 0 || inFlight.state(sequence) == InFlightWindow.AWAITING_PUBACK) {
            return unexpected(sequence);
        }
        if (reason.isError()) { // [MQTT-4.3.3-4]: no PUBREL after an error
            if (inFlight.message(sequence) != null) {
                observer.messageAbandoned(DropReason.REFUSED_BY_CLIENT, 1);
            }
            finish(sequence);
            return AcknowledgementOutcome.EXPECTED;
        }
        if (inFlight.state(sequence) == InFlightWindow.AWAITING_PUBREC) {
            release(sink, sequence);
        } else if (sink != null && !inFlight.is(sequence, InFlightWindow.UNSAFE)) { // otherwise it follows the commit
            sink.pubRel(packetId);
        }
        return AcknowledgementOutcome.EXPECTED;
    }

    /** Processes a PUBCOMP. */
    AcknowledgementOutcome completed(int packetId) {
        long sequence = inFlight.find(packetId);
        if (sequence < 0 || inFlight.state(sequence) != InFlightWindow.AWAITING_PUBCOMP) {
            return unexpected(sequence);
        }
        finish(sequence);
        return AcknowledgementOutcome.EXPECTED;
    }

    /**
     * Classifies an acknowledgement that its delivery does not await. A message of an earlier connection may have another
     * state here than the client remembers. Only messages sent over this connection must be acknowledged in step.
     */
    private AcknowledgementOutcome unexpected(long sequence) {
        return sequence >= 0 && sequence < resendNext
                ? AcknowledgementOutcome.WRONG_STEP
                : AcknowledgementOutcome.UNKNOWN;
    }

    private void finish(long sequence) {
        remove(sequence);
        if (sequence < resendNext && outstanding > 0) {
            outstanding--;
        }
        flow.pumpIfNeeded();
    }
}
