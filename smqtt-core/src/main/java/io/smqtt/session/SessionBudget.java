// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.HeapWeight;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that sessions keep while their clients are offline, by {@link HeapWeight}: the sessions themselves, wills and
 * subscriptions. Limited for each session, for each user, and in total. The last fifth of the total is reserved for
 * sessions that end with their connections and for in-process consumers, and these have no limit per user: sessions of
 * absent clients cannot keep them out. Neither limit applies to recovered sessions, which were admitted before. Users share
 * 4,096 counters by a hash with a random key of this process, so that many users cost no memory; two users with the same
 * counter share one limit. Concurrent additions by several event loops may exceed a limit briefly.
 */
@AnyThread
public final class SessionBudget {

    private static final int USERS = 4_096;

    private final LongAdder bytes = new LongAdder();
    private final AtomicLongArray users = new AtomicLongArray(USERS);
    private final LongAdder leftOut = new LongAdder();
    private final long key = ThreadLocalRandom.current().nextLong() | 1;
    private final long sessionLimit;
    private final long userLimit;
    private final long limit;

    SessionBudget(LimitsConfig limits) {
        sessionLimit = limits.maxSessionBytes();
        userLimit = limits.maxUserSessionBytes();
        limit = limits.maxTotalSessionBytes();
    }

    /** The index of a user's counter; all clients without a user name share one. */
    short user(@Nullable String name) {
        long hash = key;
        for (int i = 0; name != null && i < name.length(); i++) {
            hash = (hash + name.charAt(i)) * key;
        }
        return (short) ((hash ^ hash >>> 32) * 0x9E37_79B9_7F4A_7C15L >>> 52);
    }

    /**
     * Checks whether a session may hold a number of bytes, in place of an existing charge: its own, or that of the session
     * that it replaces. A session that does not grow is within its limit.
     *
     * @param held the existing charge that is released; 0 for a session that replaces none
     * @param holder the user of the existing charge
     * @param weight the new charge
     * @param user the user of the new charge
     * @param shared whether the limit per user applies, and the last fifth is reserved for others
     * @return null if it may, or the configuration key of the exceeded limit
     */
    @Nullable
    String refusal(long held, short holder, long weight, short user, boolean shared) {
        long more = weight - held;
        long ofUser = holder == user ? more : weight;
        if (more > 0 && weight > sessionLimit) {
            return "limits.max-session-bytes";
        }
        if (shared && ofUser > 0 && users.get(user) + ofUser > userLimit) {
            return "limits.max-user-session-bytes";
        }
        return more > 0 && bytes.sum() + more > (shared ? limit - limit / 5 : limit)
                ? "limits.max-total-session-bytes"
                : null;
    }

    void add(long change, short user) {
        bytes.add(change);
        users.addAndGet(user, change);
    }

    /** Moves a charge to another user. */
    void move(long held, short from, short to) {
        users.addAndGet(from, -held);
        users.addAndGet(to, held);
    }

    /**
     * The bytes held by all sessions.
     *
     * @return bytes
     */
    public long bytes() {
        return bytes.sum();
    }

    void leftOut(int change) {
        leftOut.add(change);
    }

    /**
     * The number of sessions in the store that do not fit into memory. They stay in the store.
     *
     * @return sessions
     */
    public long leftOut() {
        return leftOut.sum();
    }
}
