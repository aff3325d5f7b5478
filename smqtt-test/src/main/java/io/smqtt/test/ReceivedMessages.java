// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.smqtt.message.ApplicationMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * The messages that a broker was given to route. Adding costs the same however many there are; those above the limit are
 * only counted. Any thread.
 */
final class ReceivedMessages {

    private static final int DEFAULT_LIMIT = 100_000;

    private final List<ApplicationMessage> kept = new ArrayList<>(); // these three guarded by this
    private long total;
    private int limit = DEFAULT_LIMIT;

    synchronized void limit(int messages) {
        if (messages < 1) {
            throw new IllegalArgumentException("at least one message must be remembered, but it is " + messages);
        }
        limit = messages;
    }

    synchronized void add(ApplicationMessage message) {
        total++;
        if (kept.size() < limit) {
            kept.add(message);
        }
    }

    /** {@return a snapshot, in order} */
    synchronized List<ApplicationMessage> all() {
        if (total > limit) {
            throw new IllegalStateException("received() has kept " + limit + " messages of " + total
                    + "; TestBroker.builder().remember(n) keeps more, clear() begins anew");
        }
        return List.copyOf(kept);
    }

    synchronized void clear() {
        kept.clear();
        total = 0;
    }
}
