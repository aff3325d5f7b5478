// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that were found in the store and do not fit into memory. For each one it keeps the hash of the client identifier
 * and the session's number, 16 bytes, and the claims that wait while it is read. Guarded by its own monitor.
 */
@AnyThread
final class LeftOut {

    /** {@link #begin} for a client that has no session here, and for one whose session is being read. */
    static final long NONE = 0;

    static final long WAITS = -1;

    private static final long REMOVED = -1;

    private final long key = ThreadLocalRandom.current().nextLong() | 1; // random: collisions must not be predictable
    private long[] table = new long[32]; // hash, number
    private int used; // pairs that are not NONE
    private int live; // of those, the ones that are not REMOVED
    private final Map<String, List<Runnable>> waiting = new HashMap<>();

    synchronized void add(String clientId, long number) {
        if ((used + 1) * 8 > table.length * 3) { // at most three quarters of the pairs
            long[] before = table; // if it is full of removed pairs, it is rebuilt in the same size
            table = new long[(live + 1) * 16 > before.length * 3 ? before.length * 2 : before.length];
            used = 0;
            live = 0;
            for (int at = 0; at < before.length; at += 2) {
                if (before[at + 1] > 0) {
                    put(before[at], before[at + 1]);
                }
            }
        }
        put(hash(clientId), number);
    }

    private void put(long hash, long number) {
        int at = place(hash);
        while (table[at + 1] > 0) {
            at = at + 2 & table.length - 1;
        }
        used += table[at + 1] == NONE ? 1 : 0;
        live++;
        table[at] = hash;
        table[at + 1] = number;
    }

    /** Whether a client has a session here, or one that is being read. */
    synchronized boolean has(String clientId) {
        if (waiting.containsKey(clientId)) {
            return true;
        }
        long hash = hash(clientId);
        for (int at = place(hash); table[at + 1] != NONE; at = at + 2 & table.length - 1) {
            if (table[at] == hash && table[at + 1] > 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Begins to read the session of a client. {@link #end} follows if this returns a number.
     *
     * @param retry runs when a pending read of the session is complete
     * @return the number of the session, or {@link #NONE} or {@link #WAITS}
     */
    synchronized long begin(String clientId, Runnable retry) {
        List<Runnable> others = waiting.get(clientId);
        if (others != null) {
            others.add(retry);
            return WAITS;
        }
        long hash = hash(clientId);
        for (int at = place(hash); table[at + 1] != NONE; at = at + 2 & table.length - 1) {
            if (table[at] == hash && table[at + 1] > 0) {
                waiting.put(clientId, new ArrayList<>());
                long number = table[at + 1];
                table[at + 1] = REMOVED;
                live--;
                return number;
            }
        }
        return NONE;
    }

    /** Completes a read; the session stays here if it still does not fit. */
    void end(String clientId, long number, boolean stays) {
        @Nullable List<Runnable> others;
        synchronized (this) {
            if (stays) {
                add(clientId, number);
            }
            others = waiting.remove(clientId);
        }
        if (others != null) {
            others.forEach(Runnable::run);
        }
    }

    /** The capacity of the table, in pairs. */
    synchronized int capacity() {
        return table.length / 2;
    }

    private int place(long hash) {
        return (int) (hash >>> 32) * 2 & table.length - 1;
    }

    private long hash(String text) {
        long hash = key;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * key;
            hash ^= hash >>> 29;
        }
        return hash;
    }
}
