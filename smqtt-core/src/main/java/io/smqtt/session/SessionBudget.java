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
 * Bytes that sessions keep while their clients are away, by {@link HeapWeight}: the sessions themselves, wills and
 * subscriptions. Limited for each session, for each user, and for all. The last fifth of what all may hold is for sessions
 * that end with their connections and for consumers of this process, and those have no limit of their user: what absent
 * clients leave keeps nobody out who leaves nothing. Nor do the two hold for what is found in the store, which was let in
 * before. Users share 4,096 counters by a hash with a key of this process, so that many users cost nothing; two that share
 * one share the limit of one, too. A limit may be passed by as much as the event loops add in the same moment.
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

    /** The counter of a user; all clients without one are one user. */
    short user(@Nullable String name) {
        long hash = key;
        for (int i = 0; name != null && i < name.length(); i++) {
            hash = (hash + name.charAt(i)) * key;
        }
        return (short) ((hash ^ hash >>> 32) * 0x9E37_79B9_7F4A_7C15L >>> 52);
    }

    /**
     * Tells whether a session may hold so much, in the place of what is charged and goes: what it holds itself, or the session that
     * it replaces. What does not grow is within its limit.
     *
     * @param held what is charged and goes; 0 for a session in nobody's place
     * @param holder the user that is charged with it
     * @param weight what the session is to hold
     * @param user its user from then on
     * @param shared whether the session has the limit of its user, and leaves the last fifth to others
     * @return null if it may, or the configuration key of the limit
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

    /** A session changes its user. */
    void move(long held, short from, short to) {
        users.addAndGet(from, -held);
        users.addAndGet(to, held);
    }

    /**
     * What all sessions hold.
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
     * How many sessions were found in the store and do not fit. They stay there.
     *
     * @return sessions
     */
    public long leftOut() {
        return leftOut.sum();
    }
}
