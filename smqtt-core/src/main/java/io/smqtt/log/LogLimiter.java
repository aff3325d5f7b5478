// SPDX-License-Identifier: Apache-2.0
package io.smqtt.log;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.github.benmanes.caffeine.cache.Scheduler;
import com.github.benmanes.caffeine.cache.Ticker;
import io.smqtt.message.LogText;
import io.smqtt.thread.AnyThread;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Rate-limits log messages by key, such as a client's address, and counts the suppressed ones. The first messages of a key are
 * logged at once, the rest of the minute is counted; when the minute is over, the count is logged. All keys together can have a
 * limit, too. For a condition that begins and ends see {@link Outage}.
 *
 * <p>At most 10,000 keys are counted at a time; past that the count of one that is forgotten is logged at once.
 */
@AnyThread
public final class LogLimiter {

    private static final int MAXIMUM_KEYS = 10_000;
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final String ALL = "all of them together";

    private final Logger log;
    private final Level level;
    private final int perKey;
    private final int inAll;
    private final Cache<Object, AtomicInteger> messages;

    /**
     * Creates a limiter for keys that the program chooses, which are few.
     *
     * @param log where the number of suppressed messages is logged
     * @param level the level of the messages and of their number
     * @param perKey messages in a minute for one key
     */
    public LogLimiter(Logger log, Level level, int perKey) {
        this(log, level, perKey, Integer.MAX_VALUE);
    }

    /**
     * Creates a limiter for keys that a peer chooses.
     *
     * @param log where the number of suppressed messages is logged
     * @param level the level of the messages and of their number
     * @param perKey messages in a minute for one key
     * @param inAll messages in a minute for all keys together
     */
    public LogLimiter(Logger log, Level level, int perKey, int inAll) {
        this(log, level, perKey, inAll, System::nanoTime, Scheduler.systemScheduler());
    }

    LogLimiter(Logger log, Level level, int perKey, int inAll, LongSupplier nanoTime, Scheduler scheduler) {
        this.log = log;
        this.level = level;
        this.perKey = perKey;
        this.inAll = inAll;
        Ticker ticker = nanoTime::getAsLong;
        this.messages = Caffeine.newBuilder()
                .maximumSize(MAXIMUM_KEYS)
                .expireAfterWrite(WINDOW)
                .ticker(ticker)
                .scheduler(scheduler)
                .executor(Runnable::run)
                .evictionListener((@Nullable Object key, @Nullable AtomicInteger count, RemovalCause cause) ->
                        over(key, count == null ? 0 : count.get()))
                .build();
    }

    /**
     * Counts a message.
     *
     * @param key what it is counted under; its text, without the host name of an address, is shown with the number of suppressed messages
     * @return true if the message is to be logged
     */
    public boolean allows(Object key) {
        return count(key) <= perKey && (inAll == Integer.MAX_VALUE || count(ALL) <= inAll);
    }

    private int count(Object key) {
        AtomicInteger counted = messages.get(key, first -> new AtomicInteger());
        return counted.incrementAndGet();
    }

    private void over(@Nullable Object key, int count) {
        int suppressed = count - (ALL.equals(key) ? inAll : perKey);
        if (suppressed > 0) {
            log.atLevel(level)
                    .log(
                            "{} more messages like these were suppressed within a minute: {}",
                            suppressed,
                            LogText.escape(
                                    key instanceof InetAddress from ? from.getHostAddress() : String.valueOf(key)));
        }
    }

    /** Ends the minutes that are over, as a later message does. */
    void settle() {
        messages.cleanUp();
    }
}
