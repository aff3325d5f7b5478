// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The parked messages that a peer could not store. They are sent again after a pause, in which nothing else that is parked is sent. */
@OnClusterLoop
final class RefusedMessages {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final List<OutboundMessage> messages = new ArrayList<>();
    private boolean pausing;
    private long sinceNanos;

    void add(OutboundMessage message) {
        messages.add(message);
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    /** The last one that waits; null if there is none. */
    @Nullable
    OutboundMessage last() {
        return messages.isEmpty() ? null : messages.get(messages.size() - 1);
    }

    /** Whether messages wait here, or were taken from here and are not accepted yet. */
    boolean isOpen(Iterable<Outbound> unsent, Iterable<Outbound> unacknowledged) {
        return !messages.isEmpty() || hasSome(unsent) || hasSome(unacknowledged);
    }

    private static boolean hasSome(Iterable<Outbound> some) {
        for (Outbound message : some) {
            if (message instanceof OutboundMessage one && one.isSentAgain()) {
                return true;
            }
        }
        return false;
    }

    /** The pause begins. */
    void pause(long nowNanos) {
        pausing = true;
        sinceNanos = nowNanos;
    }

    boolean isPausing() {
        return pausing;
    }

    /** Removes the messages that are due, and marks them as sent again. Called periodically. */
    List<OutboundMessage> due(long nowNanos) {
        pausing = pausing && nowNanos - sinceNanos < PAUSE_NANOS;
        if (pausing || messages.isEmpty()) {
            return List.of();
        }
        List<OutboundMessage> due = List.copyOf(messages);
        messages.clear();
        due.forEach(OutboundMessage::sendAgain);
        return due;
    }

    /** Removes all. */
    void removeAll(Consumer<OutboundMessage> receiver) {
        messages.forEach(receiver);
        messages.clear();
    }
}
