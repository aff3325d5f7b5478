// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import org.jspecify.annotations.Nullable;

/**
 * A message that is published later. Ordered by its time; of the same time, by its arrival. Immutable.
 *
 * @param sequence its place among all delayed messages of this broker, by arrival
 * @param message the message, whose time of acceptance is the time at which it is due
 * @param delaySeconds the delay that its publisher has asked for; 0 if an earlier version of the broker has stored it
 */
public record DelayedMessage(long sequence, ApplicationMessage message, int delaySeconds)
        implements Comparable<DelayedMessage> {

    /**
     * The time at which it is published.
     *
     * @return by the clock of the broker, {@link io.smqtt.spi.Ticker#nanoTime()}
     */
    public long dueNanos() {
        return message.acceptedAtNanos();
    }

    @Override
    public int compareTo(DelayedMessage other) {
        int byTime = Long.signum(dueNanos() - other.dueNanos());
        return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DelayedMessage message && message.sequence == sequence;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(sequence);
    }
}
