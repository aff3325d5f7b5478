// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.Locale;

/** The scenarios that have a name, with the sizes that published comparisons of brokers use. */
enum Scenario {
    /** As many publishers as subscribers, one topic for each pair. */
    SYMMETRIC(1000, 1000, 128),
    /** Many publishers, few subscribers that share the work. */
    FANIN(2000, 100, 128),
    /** Few publishers, each with a topic that many subscribe to. */
    FANOUT(10, 2000, 128),
    /** All publishers on one topic that everybody subscribes to. */
    SINGLE_TOPIC(10, 500, 16),
    /** Symmetric, while others hold many filters with wildcards. */
    WILDCARD(100, 100, 128),
    /** Messages are stored, then fetched by one subscriber. */
    RETAINED(10, 1, 128),
    /** Messages are queued for sessions without a connection, which then come back. */
    OFFLINE(1000, 1000, 128);

    final int publishers;
    final int subscribers;
    final int payloadBytes;

    Scenario(int publishers, int subscribers, int payloadBytes) {
        this.publishers = publishers;
        this.subscribers = subscribers;
        this.payloadBytes = payloadBytes;
    }

    /** As it is written on a command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
