// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import org.jspecify.annotations.Nullable;

/**
 * QoS 1 and 2 messages that were sent and are not yet acknowledged, in the order of sending. A message's sequence number
 * gives both its slot in a ring and its packet identifier, so that finding a message by packet identifier is arithmetic
 * and an identifier is never used twice while in use [MQTT-2.2.1-4]. The ring grows with need, up to 65,535 slots.
 *
 * <p>A stored session keeps the number of each message in the store beside it. After a restart its messages come back in
 * their old order, each with its old identifier: {@link #reach} leaves slots empty for what was acknowledged in between.
 */
final class InFlightWindow {

    /** The states of a slot. */
    static final byte FREE = 0;

    static final byte AWAITING_PUBACK = 1;
    static final byte AWAITING_PUBREC = 2;
    static final byte AWAITING_PUBCOMP = 3;

    /**
     * Flags of a slot: the message was not sent yet; its last step is not safe in the store yet; it was offered to another
     * member of its shared group; the store does not know it yet.
     */
    static final byte UNSENT = 0x08;

    static final byte UNSAFE = 0x10;
    static final byte DEPARTING = 0x20;
    static final byte HELD_BACK = 0x40;

    private static final ApplicationMessage NOTHING =
            ApplicationMessage.builder("-").qos(QoS.EXACTLY_ONCE).build();
    private static final int STATE = 0x07;
    private static final int IDENTIFIERS = 65_535;
    private static final int FIRST_CAPACITY = 8;

    /** Windows up to here do not count against the budget: those of a fan-out hold the same messages over and over. */
    private static final long FREE_BYTES = 64 * 1024;

    private final QueueBudget budget;
    private @Nullable ApplicationMessage[] messages = new @Nullable ApplicationMessage[FIRST_CAPACITY];
    private @Nullable Subscription[] subscriptions = new @Nullable Subscription[FIRST_CAPACITY];
    private byte[] states = new byte[FIRST_CAPACITY];
    private long @Nullable [] numbers;
    private @Nullable RouteTicket @Nullable [] tickets; // of messages that are held back
    private long head;
    private long tail;
    private int size;
    private long bytes;

    InFlightWindow(QueueBudget budget) {
        this.budget = budget;
    }

    /** Tells whether one more message finds an unused packet identifier. */
    boolean hasIdentifier() {
        return tail - head < IDENTIFIERS;
    }

    int size() {
        return size;
    }

    /** What the messages take that a client has not said to have. */
    long bytes() {
        return bytes;
    }

    /** The first sequence number that may be in use. */
    long head() {
        return head;
    }

    /** The next sequence number. */
    long tail() {
        return tail;
    }

    /**
     * Adds a message.
     *
     * @return its sequence number
     */
    long add(ApplicationMessage message, Subscription subscription, QoS qos) {
        if (tail - head == states.length) {
            grow();
        }
        int slot = slot(tail);
        messages[slot] = message;
        subscriptions[slot] = subscription;
        states[slot] = qos == QoS.AT_LEAST_ONCE ? AWAITING_PUBACK : AWAITING_PUBREC;
        size++;
        account(message.footprintBytes());
        return tail++;
    }

    /** Notes which message of the store a slot holds. */
    void number(long sequence, long number) {
        long[] all = numbers;
        if (all == null) {
            all = new long[states.length];
            numbers = all;
        }
        all[slot(sequence)] = number;
    }

    /** Which message of the store a slot holds. */
    long number(long sequence) {
        return numbers == null ? 0 : numbers[slot(sequence)];
    }

    /** Marks a message that the store does not know yet, and keeps the ticket that is held for it. */
    void holdBack(long sequence, RouteTicket ticket) {
        @Nullable RouteTicket[] all = tickets;
        if (all == null) {
            all = new @Nullable RouteTicket[states.length];
            tickets = all;
        }
        all[slot(sequence)] = ticket;
        set(sequence, HELD_BACK);
    }

    /** Ends {@link #holdBack}. */
    RouteTicket takeTicket(long sequence) {
        clear(sequence, HELD_BACK);
        @Nullable RouteTicket[] all = tickets;
        RouteTicket ticket = all == null ? null : all[slot(sequence)];
        if (all != null) {
            all[slot(sequence)] = null;
        }
        return ticket == null ? RouteTicket.NONE : ticket;
    }

    /**
     * Lets the next message get a given identifier, by leaving slots empty.
     *
     * @return false if the identifier is too far from the oldest message: that one must be acknowledged first
     */
    boolean reach(int packetId) {
        long wanted = tail + (packetId - 1 - tail % IDENTIFIERS + IDENTIFIERS) % IDENTIFIERS;
        if (head == tail) {
            head = wanted;
        } else if (wanted - head >= IDENTIFIERS) {
            return false;
        }
        while (wanted - head > states.length) {
            grow();
        }
        tail = wanted;
        return true;
    }

    boolean is(long sequence, byte flag) {
        return (states[slot(sequence)] & flag) != 0;
    }

    void set(long sequence, byte flag) {
        states[slot(sequence)] |= flag;
    }

    void clear(long sequence, byte flag) {
        states[slot(sequence)] &= (byte) ~flag;
    }

    static int packetId(long sequence) {
        return (int) (sequence % IDENTIFIERS) + 1;
    }

    /**
     * Finds the message with a packet identifier.
     *
     * @return its sequence number, or -1
     */
    long find(int packetId) {
        long offset = (packetId - 1 - head % IDENTIFIERS + IDENTIFIERS) % IDENTIFIERS;
        long sequence = head + offset;
        return sequence < tail && isSent(states[slot(sequence)]) ? sequence : -1;
    }

    private static boolean isSent(byte state) {
        return state != FREE && (state & UNSENT) == 0;
    }

    byte state(long sequence) {
        return (byte) (states[slot(sequence)] & STATE);
    }

    @Nullable
    ApplicationMessage message(long sequence) {
        return messages[slot(sequence)];
    }

    @Nullable
    Subscription subscription(long sequence) {
        return subscriptions[slot(sequence)];
    }

    /** The client has the message: only the handshake is left. */
    void received(long sequence) {
        int slot = slot(sequence);
        forget(slot);
        states[slot] = AWAITING_PUBCOMP;
    }

    /** A message as it is told to another node. */
    StoredMessage snapshot(long sequence, long number) {
        ApplicationMessage message = message(sequence);
        Subscription subscription = subscription(sequence);
        if (message == null || subscription == null) { // only the handshake is left
            return new StoredMessage(
                    number,
                    NOTHING,
                    NOTHING.topic().value(),
                    QoS.EXACTLY_ONCE,
                    false,
                    new int[0],
                    new StoredDelivery(StoredDelivery.State.RECEIVED, packetId(sequence)));
        }
        QoS qos = state(sequence) == AWAITING_PUBACK ? QoS.AT_LEAST_ONCE : QoS.EXACTLY_ONCE;
        StoredDelivery delivery = new StoredDelivery(StoredDelivery.State.SENT, packetId(sequence));
        return DurableQueue.stored(number, message, subscription, qos, delivery);
    }

    /** How many messages the client has not said to have, without those that go to others. */
    int undelivered() {
        int count = 0;
        for (long sequence = head; sequence < tail; sequence++) {
            if (messages[slot(sequence)] != null && !is(sequence, DEPARTING)) {
                count++;
            }
        }
        return count;
    }

    /** How many messages were never sent, without those that go to others. */
    int unsent() {
        int count = 0;
        for (long sequence = head; sequence < tail; sequence++) {
            if (is(sequence, UNSENT) && !is(sequence, DEPARTING)) {
                count++;
            }
        }
        return count;
    }

    /** Ends the message; its packet identifier may be used again. */
    void remove(long sequence) {
        int slot = slot(sequence);
        forget(slot);
        states[slot] = FREE;
        size--;
        while (head < tail && states[slot(head)] == FREE) {
            head++;
        }
    }

    private void account(int change) {
        long before = bytes;
        bytes += change;
        if (bytes > FREE_BYTES || before > FREE_BYTES) {
            budget.add(Math.max(bytes, FREE_BYTES) - Math.max(before, FREE_BYTES));
        }
    }

    /** Lets go of all messages: the session has ended. */
    void clear() {
        for (long sequence = head; sequence < tail; sequence++) {
            if (states[slot(sequence)] != FREE) {
                remove(sequence);
            }
        }
    }

    private void forget(int slot) {
        ApplicationMessage message = messages[slot];
        if (message != null) {
            account(-message.footprintBytes());
            messages[slot] = null;
        }
        subscriptions[slot] = null;
    }

    /** Gives back what a burst took, while the client is away. */
    void trim() {
        int capacity = states.length;
        while (capacity > FIRST_CAPACITY && capacity / 2 >= tail - head) {
            capacity /= 2;
        }
        if (capacity < states.length) {
            resize(capacity);
        }
    }

    private int slot(long sequence) {
        return (int) (sequence & (states.length - 1));
    }

    private void grow() {
        resize(states.length * 2);
    }

    private void resize(int capacity) {
        int mask = states.length - 1;
        @Nullable ApplicationMessage[] oldMessages = messages;
        @Nullable Subscription[] oldSubscriptions = subscriptions;
        byte[] oldStates = states;
        long[] oldNumbers = numbers;
        @Nullable RouteTicket @Nullable [] oldTickets = tickets;
        messages = new @Nullable ApplicationMessage[capacity];
        subscriptions = new @Nullable Subscription[capacity];
        states = new byte[capacity];
        numbers = oldNumbers == null ? null : new long[capacity];
        tickets = oldTickets == null ? null : new @Nullable RouteTicket[capacity];
        for (long sequence = head; sequence < tail; sequence++) {
            int from = (int) (sequence & mask);
            int to = slot(sequence);
            messages[to] = oldMessages[from];
            subscriptions[to] = oldSubscriptions[from];
            states[to] = oldStates[from];
            if (numbers != null && oldNumbers != null) {
                numbers[to] = oldNumbers[from];
            }
            if (tickets != null && oldTickets != null) {
                tickets[to] = oldTickets[from];
            }
        }
    }
}
