// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import java.util.concurrent.atomic.AtomicLongArray;

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
    private final ApplicationMessage[] pending = new ApplicationMessage[64];
    private final long[] pendingSessions = new long[pending.length];
    private int pendingCount;

    /** A number for a client identifier, so that two of them hardly ever have the same. */
    static long keyOf(String clientId) {
        long hash = 0xCBF2_9CE4_8422_2325L;
        for (int i = 0; i < clientId.length(); i++) {
            hash = (hash ^ clientId.charAt(i)) * 0x100_0000_01B3L;
        }
        return hash | 1;
    }

    /** A session has taken a message, which gets its mark within this pass of the router if it gets one. */
    void took(long sessionKey, ApplicationMessage message) {
        if (pendingCount > 0 && (pending[pendingCount - 1] != message || pendingCount == pending.length)) {
            settle();
        }
        pending[pendingCount] = message;
        pendingSessions[pendingCount++] = sessionKey;
    }

    /** A session has taken the message with a mark. */
    void took(long sessionKey, long mark) {
        add(value(sessionKey, mark));
    }

    /** All that was taken up to now can be looked up. On the event loop. */
    void settle() {
        for (int i = 0; i < pendingCount; i++) {
            long mark = pending[i].mark();
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
