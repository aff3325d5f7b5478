// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Allocates session numbers. The end of the allocated block is stored. A run begins after it, and the next block is stored when half of
 * the current one is used.
 */
final class SessionNumbers {

    static final String NAME = "session-numbers";

    private static final long BLOCK = 1L << 20;

    private final AtomicLong next;
    private volatile long end;

    /** Begins after the stored end of the last block. */
    SessionNumbers(long storedEnd) {
        next = new AtomicLong(storedEnd);
        end = storedEnd;
    }

    long take() {
        return next.getAndIncrement();
    }

    boolean needsBlock() {
        return end - next.get() < BLOCK / 2;
    }

    /** The end to store now. */
    long nextEnd() {
        return next.get() + BLOCK;
    }

    void stored(long newEnd) {
        end = newEnd;
    }
}
