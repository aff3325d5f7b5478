// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.Arrays;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The flows of one subscriber, or of all members of one shared subscription. Owned by one event loop.
 *
 * <p>A table either knows which publishers it must hear of, so that everything missing is a loss, or is open to all, and
 * then a loss is a gap between two messages of one publisher.
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

    /** Of the publishers {@code firstPublisher … firstPublisher + publisherCount - 1}. */
    static FlowTable of(int firstPublisher, int publisherCount, boolean shared) {
        return new FlowTable(firstPublisher, publisherCount, false, shared);
    }

    /** Of whoever publishes. */
    static FlowTable open() {
        return new FlowTable(0, 0, true, false);
    }

    /** Takes note of a message; true unless it is a duplicate or nobody's business here. */
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

    /** Adds what was found to the totals. */
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
                // Members of a shared subscription are served side by side: their order means nothing.
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
