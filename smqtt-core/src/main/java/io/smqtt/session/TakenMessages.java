// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which messages the sessions of one event loop have taken lately: they may come again with a session that was merged. Forgets the
 * oldest of a part when it is full, {@value #CAPACITY} at most are known. Written on the event loop; read on any thread, where
 * the last few may be missing.
 */
final class TakenMessages {

    static final int CAPACITY = 65_536;

    /** A cache line each. */
    private static final int WAYS = 8;

    private static final AtomicLong KEYS = new AtomicLong();

    private final AtomicLongArray values = new AtomicLongArray(CAPACITY);

    /** A number for a session. Not for its client: what a session has taken is not known to one that begins later. */
    @AnyThread
    static long newKey() {
        long mixed = KEYS.incrementAndGet() * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return (mixed ^ (mixed >>> 31)) | 1;
    }

    /** A session has taken a message. */
    @OnEventLoop
    void took(long sessionKey, long messageId) {
        long value = value(sessionKey, messageId);
        int set = setOf(value);
        for (int way = WAYS - 1; way > 0; way--) {
            values.setRelease(set + way, values.getPlain(set + way - 1));
        }
        values.setRelease(set, value);
    }

    private static long value(long sessionKey, long messageId) {
        long mixed = (messageId ^ (messageId >>> 32)) * 0x9E37_79B9_7F4A_7C15L;
        long value = (mixed ^ (mixed >>> 29)) * sessionKey; // the key is odd: different messages give different values
        return value == 0 ? 1 : value;
    }

    private static int setOf(long value) {
        return (int) (value >>> 40) * WAYS & CAPACITY - 1;
    }

    /** Whether a session has taken a message. */
    @AnyThread
    boolean knows(long sessionKey, long messageId) {
        long value = value(sessionKey, messageId);
        int set = setOf(value);
        for (int way = 0; way < WAYS; way++) {
            if (values.getAcquire(set + way) == value) {
                return true;
            }
        }
        return false;
    }
}
