// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.StoredMessage;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Operations that one event loop submitted between two flushes, in order; parallel arrays, so that collecting them creates no garbage.
 * Filled on the event loop, then passed to the committing thread.
 */
final class Operations {

    /** The kind of an operation. */
    enum Kind {
        PUT_SESSION,
        REMOVE_SESSION,
        PUT_SUBSCRIPTION,
        REMOVE_SUBSCRIPTION,
        PUT_MESSAGE,
        PUT_DELIVERY,
        REMOVE_MESSAGE,
        REMOVE_HANDED_OVER,
        PUT_RECEIVED,
        REMOVE_RECEIVED,
        PUT_RELEASED,
        PUT_RETAINED,
        PUT_VERSIONED,
        PUT_REMOVAL,
        REMOVE_RETAINED,
        PUT_NOTE;

        /** Whether it ends a received identifier: a client that has completed the exchange does not repeat it. */
        boolean releases(long packetId) {
            return this == REMOVE_RECEIVED || (this == PUT_RELEASED && packetId != 0);
        }

        /**
         * Whether it increases the size of the store considerably. Session headers do not, and they have deadlines that must be stored;
         * nor do the records of removed messages, which take the place of these.
         */
        boolean isNew() {
            return this == PUT_SUBSCRIPTION || this == PUT_MESSAGE || this == PUT_RETAINED || this == PUT_VERSIONED;
        }
    }

    /** Receives the result of the operations. */
    interface Listener {

        /**
         * Called on the committing thread.
         *
         * @param lastPosition the position of the last operation
         * @param cause the failure, or null if the operations are stored
         */
        void completed(long lastPosition, @Nullable Throwable cause);
    }

    private static final int OVERHEAD_BYTES = 64;

    private final Listener listener;
    private Kind[] kinds;
    private long[] sessions;
    private long[] numbers;
    private @Nullable Object[] values;
    private int size;
    private long bytes;
    private boolean addsSomething;
    private boolean sync;
    private long position;

    Operations(Listener listener, int capacity) {
        this.listener = listener;
        kinds = new Kind[capacity];
        sessions = new long[capacity];
        numbers = new long[capacity];
        values = new Object[capacity];
    }

    /**
     * Appends an operation.
     *
     * @param number sequence number or packet identifier
     * @param value the new value, or the key of the removed one
     */
    void add(Kind kind, long session, long number, @Nullable Object value, int valueBytes) {
        if (size == kinds.length) {
            grow();
        }
        kinds[size] = kind;
        sessions[size] = session;
        numbers[size] = number;
        values[size] = value;
        size++;
        bytes += OVERHEAD_BYTES + valueBytes;
        addsSomething |= kind.isNew();
    }

    /** Whether the message is that of the last operation, so that it counts once. */
    boolean endsWith(ApplicationMessage message) {
        return size > 0 && values[size - 1] instanceof StoredMessage last && last.message() == message;
    }

    private void grow() {
        int capacity = kinds.length * 2;
        kinds = Arrays.copyOf(kinds, capacity);
        sessions = Arrays.copyOf(sessions, capacity);
        numbers = Arrays.copyOf(numbers, capacity);
        values = Arrays.copyOf(values, capacity);
    }

    void requireSync() {
        sync = true;
    }

    Listener listener() {
        return listener;
    }

    /** Ends the collection. */
    void seal(long lastPosition) {
        position = lastPosition;
    }

    int size() {
        return size;
    }

    long bytes() {
        return bytes;
    }

    boolean addsSomething() {
        return addsSomething;
    }

    boolean isSync() {
        return sync;
    }

    /** The writer's position after the last operation. */
    long position() {
        return position;
    }

    Kind kind(int index) {
        return kinds[index];
    }

    long session(int index) {
        return sessions[index];
    }

    long number(int index) {
        return numbers[index];
    }

    @Nullable
    Object value(int index) {
        return values[index];
    }
}
