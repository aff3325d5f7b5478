// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.topic.SharedFilter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The routes of this node: the filters of its subscribers. The only writer of these rows in the cluster. Counts subscriptions, and
 * announces only the first and the end of the last one of a filter, and of the durable ones among them. A filter that is added and removed between two flushes is not
 * announced.
 */
@OnClusterLoop
final class OwnRoutes {

    /** The number of changes that are kept for peers that have missed some. */
    static final int KEPT_CHANGES = 65_536;

    private final Map<String, Row> rows = new HashMap<>();
    private final Map<String, Row> changed = new LinkedHashMap<>();
    private final ArrayDeque<RouteRow> recent = new ArrayDeque<>();
    private final int keptChanges;
    private long sequence;
    private long hash;
    private int count;
    private long keptAfter = Long.MAX_VALUE;

    OwnRoutes(int keptChanges) {
        this.keptChanges = keptChanges;
    }

    /**
     * Adds or removes a subscription.
     *
     * @param filter as the client writes it
     * @param difference 1 or -1
     * @param durable whether its subscriber outlives its connection
     */
    void change(String filter, int difference, boolean durable) {
        Row row = rows.computeIfAbsent(filter, key -> new Row());
        row.subscriptions += difference;
        row.durable += durable ? difference : 0;
        changed.put(filter, row);
    }

    boolean hasChanges() {
        return !changed.isEmpty();
    }

    int changes() {
        return changed.size();
    }

    /** Numbers the changes since the last call. The first number is the previous {@link #sequence()} plus 1. */
    List<RouteRow> flush() {
        List<RouteRow> announced = new ArrayList<>(changed.size());
        changed.forEach((filter, row) -> {
            int weight = row.weight(filter);
            if (weight != row.announced) {
                if (row.announced != 0) {
                    hash ^= RouteHash.of(filter, row.announced);
                    count--;
                }
                if (weight != 0) {
                    hash ^= RouteHash.of(filter, weight);
                    count++;
                }
                row.announced = weight;
                announced.add(new RouteRow(filter, weight));
            }
            if (row.subscriptions == 0) {
                rows.remove(filter);
            }
        });
        changed.clear();
        sequence += announced.size();
        recent.addAll(announced);
        trim();
        return announced;
    }

    /** Retains the changes after this one while they are fewer than all rows; {@link Long#MAX_VALUE} retains none. */
    void keepAfter(long known) {
        keptAfter = known;
        trim();
    }

    private void trim() {
        while (recent.size() > keptChanges && (sequence - recent.size() < keptAfter || recent.size() > count)) {
            recent.remove(); // the oldest change
        }
    }

    long sequence() {
        return sequence;
    }

    Frame.Digest digest() {
        return new Frame.Digest(sequence, count, hash);
    }

    /** Whether the changes after a sequence number are still kept. */
    boolean knowsChangesAfter(long known) {
        return known >= 0 && known <= sequence && sequence - known <= recent.size();
    }

    /** The changes after a sequence number. */
    List<RouteRow> changesAfter(long known) {
        List<RouteRow> missed = new ArrayList<>();
        int skipped = recent.size() - (int) (sequence - known);
        Iterator<RouteRow> all = recent.iterator();
        for (int i = 0; all.hasNext(); i++) {
            RouteRow next = all.next();
            if (i >= skipped) {
                missed.add(next);
            }
        }
        return missed;
    }

    /** All announced rows. */
    List<RouteRow> all() {
        List<RouteRow> all = new ArrayList<>(count);
        rows.forEach((filter, row) -> {
            if (row.announced != 0) {
                all.add(new RouteRow(filter, row.announced));
            }
        });
        return all;
    }

    private static final class Row {

        private int subscriptions;
        private int durable;
        private int announced;

        private int weight(String filter) {
            if (SharedFilter.isShared(filter)) {
                return RouteRow.ofGroup(subscriptions, durable);
            }
            if (subscriptions == 0) {
                return 0;
            }
            return durable > 0 ? RouteRow.DURABLE : RouteRow.CLEAN;
        }
    }
}
