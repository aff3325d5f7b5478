// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts the messages that were dropped for one other node, by reason. */
@AnyThread
final class PeerDrops {

    private final BrokerObserver observer;
    private final Map<DropReason, LongAdder> counts = new EnumMap<>(DropReason.class);

    /**
     * Creates it.
     *
     * @param observer notified of each drop, too
     */
    PeerDrops(BrokerObserver observer) {
        this.observer = observer;
        for (DropReason reason : DropReason.values()) {
            counts.put(reason, new LongAdder());
        }
    }

    void add(DropReason reason, int messages) {
        observer.messageDropped(reason, messages);
        counts.getOrDefault(reason, new LongAdder()).add(messages);
    }

    /** Adds the counts of another node, of which the observer knows. */
    void addAll(PeerDrops other) {
        counts.forEach((reason, count) ->
                count.add(other.counts.getOrDefault(reason, new LongAdder()).sum()));
    }

    /** The reasons that have occurred. */
    Map<DropReason, Long> counts() {
        Map<DropReason, Long> all = new EnumMap<>(DropReason.class);
        counts.forEach((reason, count) -> {
            if (count.sum() > 0) {
                all.put(reason, count.sum());
            }
        });
        return all;
    }
}
