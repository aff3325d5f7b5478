// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DelayedConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The number of delayed messages that wait on this node, those of adopted stores included, and of those that do not wait any more. */
@AnyThread
final class DelayedCounts {

    private final AtomicLong messages = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final Map<String, Integer> byClient = new ConcurrentHashMap<>();
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong cancelled = new AtomicLong();

    /** Counts a new message; false if a limit is reached: then it is refused. */
    boolean reserve(ApplicationMessage message, DelayedConfig limits) {
        boolean fits = fits(message, limits);
        if (!fits) {
            refused.incrementAndGet();
        }
        return fits;
    }

    private boolean fits(ApplicationMessage message, DelayedConfig limits) {
        int size = message.footprintBytes();
        if (messages.incrementAndGet() > limits.maxMessages()) {
            messages.decrementAndGet();
            return false;
        }
        if (bytes.addAndGet(size) > limits.maxBytes()) {
            bytes.addAndGet(-size);
            messages.decrementAndGet();
            return false;
        }
        if (byClient.merge(publisher(message), 1, Integer::sum) > limits.maxMessagesPerClient()) {
            release(message);
            return false;
        }
        return true;
    }

    /** Counts a message that was accepted before, whatever the limits are now. */
    void count(ApplicationMessage message) {
        messages.incrementAndGet();
        bytes.addAndGet(message.footprintBytes());
        byClient.merge(publisher(message), 1, Integer::sum);
    }

    /** Uncounts a message: it does not wait any more. */
    void release(ApplicationMessage message) {
        messages.decrementAndGet();
        bytes.addAndGet(-message.footprintBytes());
        byClient.computeIfPresent(publisher(message), (id, waiting) -> waiting == 1 ? null : waiting - 1);
    }

    private static String publisher(ApplicationMessage message) {
        return Objects.requireNonNullElse(message.publisherId(), "");
    }

    void published() {
        published.incrementAndGet();
    }

    /** A message is being cancelled; or it waits again, because the store has not removed it. */
    void cancelled(int change) {
        cancelled.addAndGet(change);
    }

    long messages() {
        return messages.get();
    }

    long bytes() {
        return bytes.get();
    }

    long allPublished() {
        return published.get();
    }

    long allRefused() {
        return refused.get();
    }

    long allCancelled() {
        return cancelled.get();
    }
}
