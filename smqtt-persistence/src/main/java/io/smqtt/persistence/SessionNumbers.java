// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Numbers for sessions. What is stored is the end of a block that may have been given out; a run begins behind it, and
 * the next block is stored when half of one is used.
 */
final class SessionNumbers {

    static final String NAME = "session-numbers";

    private static final long BLOCK = 1L << 20;

    private final AtomicLong next;
    private volatile long end;

    /** Begins behind the stored end of the last block. */
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
