// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Which messages of other nodes, or that went to other nodes, the sessions of one event loop have taken lately: they may come
 * again with a session that was merged. Forgets the oldest of a part when it is full, {@value #CAPACITY} at most are known.
 * Written on the event loop; read on any thread, where the last few may be missing.
 */
final class RecentMarks {

    static final int CAPACITY = 65_536;

    /** A cache line each. */
    private static final int WAYS = 8;

    private final AtomicLongArray values = new AtomicLongArray(CAPACITY);
    private static final AtomicLong KEYS = new AtomicLong();

    private @Nullable ApplicationMessage[] pending = new ApplicationMessage[64];
    private long[] pendingSessions = new long[pending.length];
    private int pendingCount;

    /**
     * A number for a session. Not for its client: what a session has taken that went to another node since is not known to
     * one that begins here later.
     */
    @AnyThread
    static long newKey() {
        long mixed = KEYS.incrementAndGet() * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return (mixed ^ (mixed >>> 31)) | 1;
    }

    /** A session has taken a message, which gets its mark within this pass of the router if it gets one. */
    void took(long sessionKey, ApplicationMessage message) {
        if (pendingCount > 0 && (pending[pendingCount - 1] != message || pendingCount == CAPACITY)) {
            settle();
        }
        if (pendingCount == pending.length) { // its mark comes when all have taken it
            pending = Arrays.copyOf(pending, 2 * pendingCount);
            pendingSessions = Arrays.copyOf(pendingSessions, 2 * pendingCount);
        }
        pending[pendingCount] = message;
        pendingSessions[pendingCount++] = sessionKey;
    }

    /** A session has taken the message with a mark. */
    void took(long sessionKey, long mark) {
        add(value(sessionKey, mark));
    }

    /** All that was taken up to now can be looked up. */
    @OnEventLoop
    void settle() {
        for (int i = 0; i < pendingCount; i++) {
            ApplicationMessage message = pending[i];
            long mark = message == null ? 0 : message.mark();
            if (mark != 0) {
                add(value(pendingSessions[i], mark));
            }
            pending[i] = null;
        }
        pendingCount = 0;
    }

    private static long value(long sessionKey, long mark) {
        long mixed = (mark ^ (mark >>> 32)) * 0x9E37_79B9_7F4A_7C15L;
        long value = (mixed ^ (mixed >>> 29)) * sessionKey; // the key is odd: different marks give different values
        return value == 0 ? 1 : value;
    }

    private void add(long value) {
        int set = setOf(value);
        for (int way = WAYS - 1; way > 0; way--) {
            values.setRelease(set + way, values.getPlain(set + way - 1));
        }
        values.setRelease(set, value);
    }

    private static int setOf(long value) {
        return (int) (value >>> 40) * WAYS & CAPACITY - 1;
    }

    /** Whether a session has taken the message with a mark. */
    boolean knows(long sessionKey, long mark) {
        long value = value(sessionKey, mark);
        int set = setOf(value);
        for (int way = 0; way < WAYS; way++) {
            if (values.getAcquire(set + way) == value) {
                return true;
            }
        }
        return false;
    }
}
