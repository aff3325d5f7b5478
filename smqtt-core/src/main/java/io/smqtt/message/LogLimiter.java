// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.github.benmanes.caffeine.cache.Scheduler;
import com.github.benmanes.caffeine.cache.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Rate-limits log lines that a peer can cause. Of each key, such as a client's address, the first lines of a minute are
 * logged and the rest is counted; when the minute is over, the count is logged. All keys together have a limit, too.
 *
 * <p>Any thread. At most 10,000 keys are counted at a time; past that the count of one that is forgotten is logged at once.
 */
public final class LogLimiter {

    private static final int MAXIMUM_KEYS = 10_000;
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final String ALL = "all addresses";

    private final Logger log;
    private final int perKey;
    private final int inAll;
    private final Cache<Object, AtomicInteger> lines;

    /**
     * Creates a limiter that counts nothing yet.
     *
     * @param log where the count of suppressed lines is logged, at level INFO
     * @param perKey lines in a minute for one key
     * @param inAll lines in a minute for all keys together
     */
    public LogLimiter(Logger log, int perKey, int inAll) {
        this(log, perKey, inAll, System::nanoTime, Scheduler.systemScheduler());
    }

    LogLimiter(Logger log, int perKey, int inAll, LongSupplier nanoTime, Scheduler scheduler) {
        this.log = log;
        this.perKey = perKey;
        this.inAll = inAll;
        Ticker ticker = nanoTime::getAsLong;
        this.lines = Caffeine.newBuilder()
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
     * Counts a line.
     *
     * @param key what it is counted under; its text is shown with the number of suppressed lines
     * @return true if the line is to be logged
     */
    public boolean allows(Object key) {
        return count(key) <= perKey && count(ALL) <= inAll;
    }

    private int count(Object key) {
        AtomicInteger counted = lines.get(key, first -> new AtomicInteger());
        return counted.incrementAndGet();
    }

    private void over(@Nullable Object key, int count) {
        int suppressed = count - (ALL.equals(key) ? inAll : perKey);
        if (suppressed > 0) {
            log.info("{} more lines like these were suppressed within a minute, for {}", suppressed, key);
        }
    }

    /** Ends the minutes that are over, as a later line does. */
    void settle() {
        lines.cleanUp();
    }
}
