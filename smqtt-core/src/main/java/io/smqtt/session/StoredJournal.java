// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The journal of a stored session. A QoS 1 message is sent at once, and written only if it is not acknowledged shortly
 * after ({@link WriteBehindWindow}). A QoS 2 message is sent after the store has committed it with its packet identifier,
 * and released after that state is committed: until then it is {@link InFlightWindow#UNSAFE}.
 */
@OnEventLoop
final class StoredJournal extends DeliveryJournal {

    private static final byte UNSENT_UNSAFE = InFlightWindow.UNSENT | InFlightWindow.UNSAFE;

    private final SessionRows rows;
    private final DurableQueue queue;
    private final OutboundFlow flow;
    private final InFlightWindow window;

    // valid for the connection
    private @Nullable WriteBehindWindow unwritten;

    StoredJournal(SessionRows rows, DurableQueue queue, OutboundFlow flow, InFlightWindow window) {
        this.rows = rows;
        this.queue = queue;
        this.flow = flow;
        this.window = window;
    }

    @Override
    boolean begin(long sequence, QoS qos, RouteTicket ticket) {
        if (qos == QoS.AT_LEAST_ONCE) {
            window.set(sequence, InFlightWindow.UNSENT); // publishers may be answered below
            window.number(sequence, isOfGroup(sequence) ? 0 : queue.nextNumber());
            if (!unwritten().add(sequence, ticket)) {
                write(ticket, sequence);
            }
            return true;
        }
        StoredMessage stored = numbered(sequence, qos);
        if (!queue.joint().offer(stored, sequence, ticket)) {
            rows.loop().writer().putMessage(rows.number(), stored);
            if (ticket.mayComeAgain()) {
                rows.took(stored);
            }
            awaitSafety(sequence, QueueStep.SENT_APPENDED);
            await(ticket);
        }
        return false;
    }

    /** Whether a QoS 1 message is stored by its shared group. */
    private boolean isOfGroup(long sequence) {
        Subscription subscription = window.subscription(sequence);
        return subscription != null && flow.isShared(subscription);
    }

    /** Gives a message in the window the next number of the queue. At QoS 2 it may not be sent yet. */
    private StoredMessage numbered(long sequence, QoS qos) {
        writeUnwritten();
        number(sequence, queue.nextNumber(), qos);
        return window.snapshot(sequence, window.number(sequence));
    }

    private void number(long sequence, long number, QoS qos) {
        window.number(sequence, number);
        if (qos == QoS.EXACTLY_ONCE) {
            window.set(sequence, UNSENT_UNSAFE);
        }
    }

    private void await(RouteTicket ticket) {
        if (ticket != RouteTicket.NONE) {
            rows.loop().await(ticket);
        }
    }

    @Override
    boolean place(long sequence, long number, QoS qos) {
        number(sequence, number, qos);
        writeSent(sequence, qos);
        return qos == QoS.AT_LEAST_ONCE;
    }

    private void writeSent(long sequence, QoS qos) {
        writeStep(sequence, StoredDelivery.State.SENT);
        if (qos == QoS.EXACTLY_ONCE) {
            awaitSafety(sequence, QueueStep.SENT_WRITTEN);
        } else {
            rows.loop().watch(queue, QueueStep.SENT_WRITTEN, sequence, 0);
        }
    }

    private void writeStep(long sequence, StoredDelivery.State state) {
        StoredDelivery delivery = new StoredDelivery(state, InFlightWindow.packetId(sequence));
        rows.writer().putDelivery(rows.number(), window.number(sequence), delivery);
    }

    /** Delays a QoS 2 message until it is committed, if the broker waits for the store at all. */
    private void awaitSafety(long sequence, QueueStep step) {
        if (rows.waits()) {
            rows.loop().await(queue, step, sequence);
        } else {
            rows.loop().watch(queue, step, sequence, 0);
            window.clear(sequence, InFlightWindow.UNSAFE);
        }
    }

    @Override
    boolean takeOver(long sequence, GroupMessage entry, QoS qos) {
        if (qos == QoS.AT_LEAST_ONCE) { // it is stored by its group
            window.number(sequence, 0);
            return true;
        }
        StoredMessage stored = numbered(sequence, qos);
        StoreWriter writer = rows.writer();
        writer.putMessage(rows.number(), stored);
        if (entry.isStored()) {
            writer.removeHandedOver(entry.record(), entry.number());
        }
        awaitSafety(sequence, QueueStep.SENT_APPENDED);
        return false;
    }

    @Override
    boolean received(long sequence) {
        if (rows.waits()) {
            window.set(sequence, InFlightWindow.UNSAFE);
        }
        writeReceived(sequence);
        return !rows.waits();
    }

    private void writeReceived(long sequence) {
        writeStep(sequence, StoredDelivery.State.RECEIVED);
        awaitSafety(sequence, QueueStep.RECEIVED_WRITTEN);
    }

    @Override
    boolean end(long sequence) {
        boolean isUnwritten = unwritten != null && unwritten.remove(sequence);
        long number = window.number(sequence);
        if (number != 0 && !isUnwritten) {
            queue.delete(number);
        }
        return number != 0;
    }

    @Override
    boolean keep(long sequence) {
        if (!queue.isEmpty()) {
            return false;
        }
        window.number(sequence, queue.nextNumber());
        append(sequence);
        return true;
    }

    @Override
    boolean giveBack(long sequence, ApplicationMessage message, MessageGroup group) {
        long number = window.number(sequence);
        if (number != 0) {
            group.takeOver(rows.loop(), message, rows.number(), number);
        }
        return number != 0;
    }

    // --- QoS 1 messages that were just sent

    private WriteBehindWindow unwritten() {
        WriteBehindWindow present = unwritten;
        if (present == null) {
            present = new WriteBehindWindow(window, this::write, rows.loop());
            unwritten = present;
        }
        return present;
    }

    /** Writes all held back messages, so that messages reach the store in order. */
    void writeUnwritten() {
        if (unwritten != null) {
            unwritten.writeAll();
        }
    }

    @Override
    void detach() {
        writeUnwritten();
        unwritten = null;
    }

    /** Writes a QoS 1 message in flight; one without a number is stored by its group. */
    private void write(RouteTicket ticket, long sequence) {
        if (window.number(sequence) != 0) {
            append(sequence);
            await(ticket);
        } else if (flow.shared().store(sequence, rows.loop())) {
            await(ticket);
        }
    }

    private void append(long sequence) {
        long number = window.number(sequence);
        rows.writer().putMessage(rows.number(), window.snapshot(sequence, number));
        rows.loop().watch(queue, QueueStep.APPENDED, number, 0);
    }

    // --- answers of the store

    /** Completes a state change of a message in the window. Returns true if it must be submitted again. */
    boolean completed(QueueStep step, long sequence, boolean kept) {
        if (!window.holds(sequence)) {
            return false;
        }
        if (kept) {
            window.clear(sequence, InFlightWindow.UNSAFE);
            switch (step) {
                case SENT_APPENDED -> flow.stored(sequence);
                case RECEIVED_WRITTEN -> flow.released(sequence);
                case SENT_WRITTEN, WAITING_APPENDED, APPENDED, REMOVED -> flow.committed();
            }
        } else if (step == QueueStep.SENT_APPENDED) {
            rows.lost(window.snapshot(sequence, window.number(sequence)));
            flow.notStored(sequence);
        } else {
            return true;
        }
        return false;
    }

    /** Submits a failed state change again, if the message still awaits it. */
    void retry(QueueStep step, long sequence) {
        if (!window.holds(sequence)) {
            return;
        }
        byte state = window.state(sequence);
        if (state == InFlightWindow.AWAITING_PUBCOMP) {
            writeReceived(sequence);
        } else if (step == QueueStep.SENT_WRITTEN) {
            writeSent(sequence, state == InFlightWindow.AWAITING_PUBREC ? QoS.EXACTLY_ONCE : QoS.AT_LEAST_ONCE);
        }
    }

    /** Handles a waiting message that could not be stored. Returns false if it was sent since. */
    boolean appendFailed(long number) {
        for (long sequence = window.head(); sequence < window.tail(); sequence = window.from(sequence + 1)) {
            if (window.holds(sequence)
                    && window.number(sequence) == number
                    && window.is(sequence, InFlightWindow.UNSENT)) {
                window.remove(sequence);
                return true;
            }
        }
        return false;
    }
}
