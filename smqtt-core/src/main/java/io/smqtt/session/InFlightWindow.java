// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;
import java.util.Arrays;
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

    private @Nullable ApplicationMessage[] messages = new @Nullable ApplicationMessage[FIRST_CAPACITY];
    private @Nullable Subscription[] subscriptions = new @Nullable Subscription[FIRST_CAPACITY];
    private byte[] states = new byte[FIRST_CAPACITY];
    private long head;
    private long tail;
    private int size;

    /** Tells whether one more message finds an unused packet identifier. */
    boolean hasIdentifier() {
        return tail - head < IDENTIFIERS;
    }

    int size() {
        return size;
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

    @Nullable ApplicationMessage message(long sequence) {
        return messages[slot(sequence)];
    }

    @Nullable Subscription subscription(long sequence) {
        return subscriptions[slot(sequence)];
    }

    /** The client has the message: only the handshake is left. */
    void received(long sequence) {
        int slot = slot(sequence);
        messages[slot] = null;
        subscriptions[slot] = null;
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
        messages[slot] = null;
        subscriptions[slot] = null;
        states[slot] = FREE;
        size--;
        while (head < tail && states[slot(head)] == FREE) {
            head++;
        }
    }

    private int slot(long sequence) {
        return (int) (sequence & (states.length - 1));
    }

    private void grow() {
        int capacity = states.length;
        @Nullable ApplicationMessage[] oldMessages = messages;
        @Nullable Subscription[] oldSubscriptions = subscriptions;
        byte[] oldStates = states;
        messages = Arrays.copyOf(oldMessages, capacity * 2);
        subscriptions = Arrays.copyOf(oldSubscriptions, capacity * 2);
        states = new byte[capacity * 2];
        for (long sequence = head; sequence < tail; sequence++) {
            int from = (int) (sequence & (capacity - 1));
            int to = slot(sequence);
            ApplicationMessage message = oldMessages[from];
            Subscription subscription = oldSubscriptions[from];
            if (to != from) {
                messages[from] = null;
                subscriptions[from] = null;
            }
            messages[to] = message;
            subscriptions[to] = subscription;
            states[to] = oldStates[from];
        }
    }
}
