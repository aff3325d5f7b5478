// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The answers of one backend that are used again. An answer is kept for a time that differs from one to the next, so that the answers of
 * clients that connected together do not end together. Its use does not prolong it.
 */
@AnyThread
final class AnswerCache {

    private static final double POSITIVE_JITTER = 0.1;
    private static final double NEGATIVE_JITTER = 0.2;
    private static final int OVERHEAD_BYTES = 200;
    private static final int RULE_BYTES = 150;

    private final AccessBackendConfig config;
    private final Cache<ByteBuffer, Object> answers;

    AnswerCache(AccessBackendConfig config, Ticker ticker) {
        this.config = config;
        long least = Math.max(1, config.cacheBytes() / config.cacheEntries()); // bounds the number by the weight
        answers = Caffeine.newBuilder()
                .maximumWeight(config.cacheBytes())
                .weigher((ByteBuffer key, Object answer) -> (int) Math.max(least, bytes(answer)))
                .expireAfter(Expiry.creating((ByteBuffer key, Object answer) -> time(answer)))
                .ticker(ticker::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    @Nullable
    Object get(ByteBuffer key) {
        Object answer = answers.getIfPresent(key);
        boolean over = answer instanceof BackendAnswer.Allow allow
                && allow.expiresAt() != null
                && !Instant.now().isBefore(allow.expiresAt());
        return over ? null : answer;
    }

    void put(ByteBuffer key, Object answer) {
        Duration time = isPositive(answer) ? config.cacheTtl() : config.refusedCacheTtl();
        if (!time.isZero()) {
            answers.put(key, answer);
        }
    }

    /** Forgets one answer, so that the backend is asked again. */
    void remove(ByteBuffer key) {
        answers.invalidate(key);
    }

    /** Forgets all answers. Returns how many there were. */
    long clear() {
        long count = answers.estimatedSize();
        answers.invalidateAll();
        return count;
    }

    private Duration time(Object answer) {
        boolean positive = isPositive(answer);
        Duration time = positive ? config.cacheTtl() : config.refusedCacheTtl();
        double jitter = positive ? POSITIVE_JITTER : NEGATIVE_JITTER;
        double factor = 1 + ThreadLocalRandom.current().nextDouble(-jitter, jitter);
        return Duration.ofNanos((long) (time.toNanos() * factor));
    }

    private static boolean isPositive(Object answer) {
        return answer instanceof BackendAnswer.Allow || answer instanceof List || answer == AccessDecision.ALLOW;
    }

    private static long bytes(Object answer) {
        if (answer instanceof BackendAnswer.Allow allow) {
            long bytes = OVERHEAD_BYTES + rules(allow.rules());
            for (String value : allow.attributes().values()) {
                bytes += OVERHEAD_BYTES + value.length();
            }
            return bytes;
        }
        return OVERHEAD_BYTES + (answer instanceof List<?> list ? rules(list) : 0);
    }

    private static long rules(@Nullable List<?> rules) {
        long bytes = 0;
        if (rules != null) {
            for (Object rule : rules) {
                bytes += RULE_BYTES
                        + (rule instanceof AccessRule read ? read.rule().topic().length() : 0);
            }
        }
        return bytes;
    }
}
