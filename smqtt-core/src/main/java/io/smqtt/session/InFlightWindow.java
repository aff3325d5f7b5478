// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * QoS 1 and 2 messages that were sent and are not yet acknowledged, in the order of sending. A message's sequence number
 * gives both its slot in a ring and its packet identifier, so that finding a message by packet identifier is arithmetic
 * and an identifier is never used twice while in use [MQTT-2.2.1-4]. The ring grows with need, up to 65,535 slots.
 */
final class InFlightWindow {

    /** The states of a slot. */
    static final byte FREE = 0;

    static final byte AWAITING_PUBACK = 1;
    static final byte AWAITING_PUBREC = 2;
    static final byte AWAITING_PUBCOMP = 3;

    private static final int IDENTIFIERS = 65_535;
    private static final int FIRST_CAPACITY = 8;

    /** Windows up to here do not count against the budget: those of a fan-out hold the same messages over and over. */
    private static final long FREE_BYTES = 64 * 1024;

    private final QueueBudget budget;
    private @Nullable ApplicationMessage[] messages = new @Nullable ApplicationMessage[FIRST_CAPACITY];
    private @Nullable Subscription[] subscriptions = new @Nullable Subscription[FIRST_CAPACITY];
    private byte[] states = new byte[FIRST_CAPACITY];
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
        return sequence < tail && states[slot(sequence)] != FREE ? sequence : -1;
    }

    byte state(long sequence) {
        return states[slot(sequence)];
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

    /** How many messages the client has not said to have. */
    int undelivered() {
        int count = 0;
        for (long sequence = head; sequence < tail; sequence++) {
            if (messages[slot(sequence)] != null) {
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
        messages = new @Nullable ApplicationMessage[capacity];
        subscriptions = new @Nullable Subscription[capacity];
        states = new byte[capacity];
        for (long sequence = head; sequence < tail; sequence++) {
            int from = (int) (sequence & mask);
            int to = slot(sequence);
            messages[to] = oldMessages[from];
            subscriptions[to] = oldSubscriptions[from];
            states[to] = oldStates[from];
        }
    }
}
