// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.Locale;

/** The named scenarios, with the sizes that published comparisons of brokers use. */
enum Scenario {
    /** As many publishers as subscribers, one topic for each pair. */
    SYMMETRIC(1000, 1000, 128),
    /** Many publishers, few subscribers that share the work. */
    FANIN(2000, 100, 128),
    /** Few publishers, each with a topic that has many subscribers. */
    FANOUT(10, 2000, 128),
    /** All publishers and all subscribers on one topic. */
    SINGLE_TOPIC(10, 500, 16),
    /** Symmetric, while others hold many filters with wildcards. */
    WILDCARD(100, 100, 128),
    /** Messages are stored, then fetched by one subscriber. */
    RETAINED(10, 1, 128),
    /** Messages are queued for offline sessions, which then reconnect. */
    OFFLINE(1000, 1000, 128);

    final int publishers;
    final int subscribers;
    final int payloadBytes;

    Scenario(int publishers, int subscribers, int payloadBytes) {
        this.publishers = publishers;
        this.subscribers = subscribers;
        this.payloadBytes = payloadBytes;
    }

    /** Its name on a command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
