// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.Arrays;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The flows of one subscriber, or of all members of one shared subscription. Owned by one event loop.
 *
 * <p>A table either has a fixed set of publishers, so that every missing message is a loss, or accepts all, so that a loss is a gap
 * between two messages of one publisher.
 */
final class FlowTable {

    private final int firstPublisher;
    private final boolean open;
    private final boolean shared;
    private @Nullable Flow[] flows;
    private long misrouted;

    private FlowTable(int firstPublisher, int publisherCount, boolean open, boolean shared) {
        this.firstPublisher = firstPublisher;
        this.open = open;
        this.shared = shared;
        this.flows = new Flow[publisherCount];
    }

    /** Creates a table for the publishers {@code firstPublisher … firstPublisher + publisherCount - 1}. */
    static FlowTable of(int firstPublisher, int publisherCount, boolean shared) {
        return new FlowTable(firstPublisher, publisherCount, false, shared);
    }

    /** Creates a table for any publisher. */
    static FlowTable open() {
        return new FlowTable(0, 0, true, false);
    }

    /** Records a message; true unless it is a duplicate or of an unexpected publisher. */
    boolean receive(int publisher, int sequence) {
        int index = publisher - firstPublisher;
        if (index < 0 || index >= flows.length) {
            if (!open) {
                misrouted++;
                return false;
            }
            flows = Arrays.copyOf(flows, Math.max(index + 1, flows.length * 2));
        }
        Flow flow = flows[index];
        if (flow == null) {
            flow = new Flow();
            flows[index] = flow;
            if (open) {
                flow.startAt(sequence);
            }
        }
        return flow.receive(sequence);
    }

    /** Adds the faults to the totals. */
    void addTo(Faults totals, IntToLongFunction publishedBy) {
        addTo(totals, publishedBy, true);
    }

    /** The same; unless the run is {@code complete}, only gaps are losses. */
    void addTo(Faults totals, IntToLongFunction publishedBy, boolean complete) {
        totals.misrouted += misrouted;
        for (int i = 0; i < flows.length; i++) {
            Flow flow = flows[i];
            if (open || !complete) {
                totals.lost += flow == null ? 0 : flow.gaps();
            } else {
                long published = publishedBy.applyAsLong(firstPublisher + i);
                totals.expected += published;
                totals.lost += flow == null ? published : flow.lost(published);
            }
            if (flow != null) {
                totals.unique += flow.unique();
                totals.duplicated += flow.duplicates();
                // The members of a shared subscription receive in parallel: their order is undefined.
                totals.outOfOrder += shared ? 0 : flow.outOfOrder();
            }
        }
    }

    /** Sums over tables. */
    static final class Faults {
        long expected;
        long unique;
        long lost;
        long duplicated;
        long outOfOrder;
        long misrouted;
    }
}
