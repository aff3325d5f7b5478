// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.smqtt.thread.AnyThread;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * New connections per second from one address. Each address may open a second's worth at once and then as many as its
 * rate grants (the generic cell rate algorithm: one time stamp per address). An address without connections for a second has its whole
 * allowance again, so its entry can be removed; there is also a maximum number of entries.
 */
@AnyThread
final class ConnectRates {

    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_ADDRESSES = 100_000;

    private final long intervalNanos;
    private final Ticker ticker;
    private final Cache<InetAddress, Long> spentUntilNanos;

    /** With a rate of 0 everything is allowed. */
    ConnectRates(int perSecond, Ticker ticker) {
        this.intervalNanos = perSecond == 0 ? 0 : SECOND_NANOS / perSecond;
        this.ticker = ticker;
        this.spentUntilNanos = Caffeine.newBuilder()
                .maximumSize(MAX_ADDRESSES)
                .expireAfterWrite(Duration.ofNanos(SECOND_NANOS))
                .ticker(ticker)
                .executor(Runnable::run)
                .build();
    }

    boolean allow(InetAddress address) {
        if (intervalNanos == 0) {
            return true;
        }
        long now = ticker.read();
        boolean[] allowed = new boolean[1];
        spentUntilNanos.asMap().compute(address, (key, until) -> {
            long begin = until == null || until - now < 0 ? now : until;
            allowed[0] = begin + intervalNanos - now <= SECOND_NANOS;
            return allowed[0] ? Long.valueOf(begin + intervalNanos) : until;
        });
        return allowed[0];
    }

    long addressCount() {
        spentUntilNanos.cleanUp();
        return spentUntilNanos.estimatedSize();
    }
}
