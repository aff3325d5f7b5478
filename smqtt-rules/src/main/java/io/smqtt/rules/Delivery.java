// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.ReceivedMessage;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/** A message in an action, with all rows that the statement has made of it: acknowledged when all of them are settled. */
@AnyThread
final class Delivery {

    private static final int ABANDONED = Integer.MIN_VALUE / 2;
    private static final AtomicIntegerFieldUpdater<Delivery> OPEN =
            AtomicIntegerFieldUpdater.newUpdater(Delivery.class, "open");

    private final ReceivedMessage message;
    private final int rows;
    private final long bytes;
    private volatile int open; // by its updater: an object less for each message
    private volatile @Nullable String refusal;

    /** With the approximate size of message and rows. */
    Delivery(ReceivedMessage message, int rows, long bytes) {
        this.message = message;
        this.rows = rows;
        this.bytes = bytes;
        this.open = rows;
    }

    /** One row of a message. */
    record Item(SinkRecord record, Delivery delivery) {

        /** Its approximate size: its part of that of the message. */
        long bytes() {
            return delivery.bytes / delivery.rows;
        }
    }

    /** The approximate size of message and rows. */
    long bytes() {
        return bytes;
    }

    ReceivedMessage message() {
        return message;
    }

    /** Settles a row that the sink has; true if it was the last one. */
    boolean settle() {
        return OPEN.decrementAndGet(this) == 0;
    }

    /** Settles a row that the sink will never have; true if it was the last one. */
    boolean refuse(String reason) {
        synchronized (this) {
            if (refusal == null) {
                refusal = reason;
            }
        }
        return settle();
    }

    /** Settles all rows, because the action has ended; true if not all were settled. An answer that comes afterwards settles nothing. */
    boolean abandon() {
        return open > 0 && OPEN.getAndSet(this, ABANDONED) > 0;
    }

    /** Why a row was refused; null if none was. */
    @Nullable
    String refusal() {
        return refusal;
    }
}
