// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.thread.AnyThread;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** The relayed connections of a node, and the limit of their number. */
@AnyThread
final class RelayCounts {

    private final int maximum;
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private final LongAdder opened = new LongAdder();
    private final Map<RelayRefusal, LongAdder> refused = new EnumMap<>(RelayRefusal.class);

    RelayCounts(int maximum) {
        this.maximum = maximum;
        for (RelayRefusal reason : RelayRefusal.values()) {
            refused.put(reason, new LongAdder());
        }
    }

    /** Counts one more connection; false if there are too many. */
    boolean enter() {
        if (open.incrementAndGet() > maximum) {
            open.decrementAndGet();
            return false;
        }
        return true;
    }

    /** A counted connection has ended. */
    void left() {
        open.decrementAndGet();
    }

    /** A counted connection has no node yet, or its node is found (-1). */
    void waits(int difference) {
        waiting.addAndGet(difference);
    }

    /** A connection has a node. */
    void opened() {
        opened.increment();
    }

    void refused(RelayRefusal reason) {
        LongAdder counter = refused.get(reason);
        if (counter != null) {
            counter.increment();
        }
    }

    ClusterStatus.Relay status() {
        Map<RelayRefusal, Long> counts = new EnumMap<>(RelayRefusal.class);
        refused.forEach((reason, count) -> counts.put(reason, count.sum()));
        int all = open.get();
        int pending = Math.min(all, waiting.get());
        return new ClusterStatus.Relay(all - pending, pending, opened.sum(), counts);
    }
}
