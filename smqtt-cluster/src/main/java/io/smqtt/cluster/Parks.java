// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.NodeQueues;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Creates the {@link ParkedMessages} of nodes, and brings back what was found in the store. */
@OnClusterLoop
final class Parks {

    private final ParkLimits limits;
    private final @Nullable ParkStore store;
    private final BrokerObserver observer;
    private final LongSupplier nanoTime;
    private final ParkLog report;
    private final PeerDrops forgotten = new PeerDrops(BrokerObserver.NONE);
    private final Map<String, NodeQueues.Found> found = new HashMap<>();

    /**
     * Creates it.
     *
     * @param limits the limits
     * @param store null to keep messages in memory
     * @param observer notified of dropped messages
     * @param nanoTime the broker's monotonic clock
     * @param report logs dropped messages
     */
    Parks(
            ParkLimits limits,
            @Nullable ParkStore store,
            BrokerObserver observer,
            LongSupplier nanoTime,
            ParkLog report) {
        this.limits = limits;
        this.store = store;
        this.observer = observer;
        this.nanoTime = nanoTime;
        this.report = report;
    }

    ParkLimits limits() {
        return limits;
    }

    /** The park of a node that has become known. */
    ParkedMessages of(String nodeId) {
        ParkedMessages park = new ParkedMessages(nodeId, limits, store, new PeerDrops(observer), nanoTime, report);
        NodeQueues.Found before = found.remove(nodeId);
        if (before != null) {
            park.recovered(before);
            observer.deliveriesAdded(DeliverySource.RECOVERED, before.waiting().messages());
        }
        return park;
    }

    /**
     * Brings back the nodes whose queues were found in the store. Call before the node is started.
     *
     * @param queues the queues
     * @param absent makes a node known, and is given the time since which it is unreachable, by the broker's clock
     */
    void recover(NodeQueues queues, BiConsumer<NodeQueues.Found, Long> absent) {
        for (NodeQueues.Found queue : queues.take()) {
            found.put(queue.nodeId(), queue);
            long awayMillis =
                    Math.max(0, queues.store().clockMillis() - queue.header().willAtMillis());
            absent.accept(queue, nanoTime.getAsLong() - TimeUnit.MILLISECONDS.toNanos(awayMillis));
        }
    }

    /** The node of a park is forgotten; the number of its dropped messages is not. */
    void left(ParkedMessages park) {
        forgotten.addAll(park.drops());
    }

    /** The messages that were dropped for nodes which are forgotten, by reason. */
    Map<DropReason, Long> forgotten() {
        return forgotten.counts();
    }

    /** Logs what is due. Called periodically. */
    void tick() {
        report.tick();
    }

    /** Passes all operations to the store: the loop ends. */
    void flush() {
        if (store != null) {
            store.flush();
        }
    }
}
