// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The routes of one peer, as far as this node has received them. Rows of a run are replaced by those of the next only when these are
 * complete, so that a node that returns quickly always has routes. While the node is unreachable, routes of clean sessions are kept here, but
 * not in effect.
 */
@OnClusterLoop
final class PeerRoutes {

    /** The maximum number of parts of a snapshot. */
    static final int MAXIMUM_PARTS = 1 << 16;

    private final Consumer<RouteRow> changes;
    private final Map<String, Integer> rows = new HashMap<>();

    /** The run of the rows; {@link Long#MIN_VALUE} without rows. */
    private long epoch = Long.MIN_VALUE;

    private long sequence = Frame.NOTHING;
    private long hash;
    private int durable;

    /** The number of the last complete snapshot of this run, of which parts may arrive again. */
    private long completed;

    private @Nullable Assembly assembly;
    private boolean suspended;

    /**
     * Creates an empty table.
     *
     * @param changes called for each changed row
     */
    PeerRoutes(Consumer<RouteRow> changes) {
        this.changes = changes;
    }

    /** The result of applying a frame. */
    enum Outcome {
        /** It was applied, or has nothing new. */
        FINE,
        /** Changes are missing and must be requested. */
        BEHIND,
        /** The rows differ from the owner's digest: all must be requested. */
        DIFFERENT
    }

    /** The last change that is known of a run, or {@link Frame#NOTHING}. */
    long sequenceOf(long run) {
        return run == epoch ? sequence : Frame.NOTHING;
    }

    int size() {
        return rows.size();
    }

    /** The number of rows that stay while the node is unreachable. */
    int durable() {
        return durable;
    }

    /** The filters of durable sessions. */
    Set<String> durableFilters() {
        Set<String> filters = new HashSet<>();
        forEach(row -> {
            if (row.weight() == RouteRow.DURABLE && !SharedFilter.isShared(row.filter())) {
                filters.add(row.filter());
            }
        });
        return filters;
    }

    /** Rows that were known to an earlier run of this node. The first snapshot replaces them. */
    void recovered(Collection<String> filters) {
        filters.forEach(filter -> put(new RouteRow(filter, RouteRow.DURABLE)));
    }

    long hash() {
        return hash;
    }

    void forEach(Consumer<RouteRow> action) {
        rows.forEach((filter, weight) -> action.accept(new RouteRow(filter, weight)));
    }

    Outcome apply(long run, Frame.Delta delta) {
        if (run < epoch) {
            return Outcome.FINE;
        }
        long known = sequenceOf(run);
        long last = delta.firstSequence() + delta.rows().size() - 1;
        if (run != epoch || delta.firstSequence() > known + 1) {
            return Outcome.BEHIND;
        }
        if (last <= known) {
            return Outcome.FINE;
        }
        int skipped = (int) (known + 1 - delta.firstSequence());
        delta.rows().subList(skipped, delta.rows().size()).forEach(this::put);
        sequence = last;
        Assembly current = assembly;
        if (current != null && current.run == epoch && current.sequence <= sequence) {
            assembly = null; // it has nothing new any more
        }
        return Outcome.FINE;
    }

    Outcome compare(long run, Frame.Digest digest) {
        if (run < epoch || (run == epoch && digest.sequence() < sequence)) {
            return Outcome.FINE; // sent earlier, arrived later
        }
        if (run != epoch || digest.sequence() > sequence) {
            return Outcome.BEHIND;
        }
        return digest.count() == rows.size() && digest.hash() == hash ? Outcome.FINE : Outcome.DIFFERENT;
    }

    /** Adds a part of a snapshot; the snapshot is applied when it is complete. */
    Outcome apply(long run, Frame.Snapshot part) {
        if (run < epoch || (run == epoch && (part.sequence() < sequence || part.number() <= completed))) {
            return Outcome.FINE;
        }
        Assembly current = assembly;
        if (current == null || current.isOlderThan(run, part.number())) {
            current = new Assembly(run, part);
            assembly = current;
        }
        boolean fits = current.add(run, part);
        if (fits && run != epoch) { // applied at once: a million rows at the end would block the loop
            part.rows().forEach(this::put);
        }
        if (current.missing == 0) {
            assembly = null;
            replace(current);
        }
        return Outcome.FINE;
    }

    /** Removes everything of a run and of earlier ones. */
    void purge(long run) {
        if (epoch > run) {
            return;
        }
        assembly = null;
        epoch = Long.MIN_VALUE;
        sequence = Frame.NOTHING;
        new ArrayList<>(rows.keySet()).forEach(filter -> put(new RouteRow(filter, 0)));
    }

    /** The node is unreachable: its routes of clean sessions have no effect. */
    void suspend() {
        if (!suspended) {
            suspended = true;
            clean().forEach(row -> changes.accept(row.durable()));
        }
    }

    /** The node is reachable with this run. Clean sessions of earlier runs have ended. */
    void resume(long run) {
        if (!suspended) {
            return;
        }
        suspended = false;
        if (run == epoch) {
            clean().forEach(changes);
        } else {
            assembly = null; // applied parts have the same rows
            clean().forEach(row -> put(row.durable()));
        }
    }

    /** The rows of clean sessions, alone or with others. */
    private List<RouteRow> clean() {
        List<RouteRow> clean = new ArrayList<>();
        forEach(row -> {
            if (!row.durable().equals(row)) {
                clean.add(row);
            }
        });
        return clean;
    }

    /** Whether parts of a snapshot are missing. */
    boolean isAssembling() {
        return assembly != null;
    }

    /**
     * The request that continues the current snapshot.
     *
     * @param run the owner's run
     * @param again whether to request even without progress
     * @param step the number of parts that count as progress
     * @return the request, or null if none is needed
     */
    Frame.@Nullable More more(long run, boolean again, int step) {
        Assembly current = assembly;
        if (current == null || current.run != run) {
            return null;
        }
        int part = current.firstMissing();
        if (!again && part - current.askedFor < step) {
            return null;
        }
        current.askedFor = part;
        return new Frame.More(run, sequenceOf(run), current.number, part, again);
    }

    private void replace(Assembly complete) {
        boolean isFirst = complete.run != epoch;
        epoch = complete.run;
        sequence = complete.sequence;
        completed = complete.number;
        if (isFirst && rows.size() == complete.size()) {
            return; // all have been applied
        }
        Map<String, Integer> next = new HashMap<>();
        complete.forEach(row -> next.put(row.filter(), row.weight()));
        for (String filter : new ArrayList<>(rows.keySet())) {
            if (!next.containsKey(filter)) {
                put(new RouteRow(filter, 0));
            }
        }
        next.forEach((filter, weight) -> put(new RouteRow(filter, weight)));
    }

    private void put(RouteRow row) {
        Integer before = row.isRemoval() ? rows.remove(row.filter()) : rows.put(row.filter(), row.weight());
        int old = before == null ? 0 : before;
        if (old == row.weight()) {
            return;
        }
        durable += (row.isRemoval() || row.endsWithNode() ? 0 : 1)
                - (old == 0 || new RouteRow(row.filter(), old).endsWithNode() ? 0 : 1);
        hash ^= (old == 0 ? 0 : RouteHash.of(row.filter(), old))
                ^ (row.isRemoval() ? 0 : RouteHash.of(row.filter(), row.weight()));
        changes.accept(suspended ? row.durable() : row);
    }

    /** The received parts of a snapshot. */
    private static final class Assembly {

        private final long run;
        private final long number;
        private final long sequence;
        private final int count;
        private int missing;
        private int first;
        private int askedFor;

        /** By index; a map, because the announced number of parts must not cause an allocation. */
        private final Map<Integer, List<RouteRow>> parts = new HashMap<>();

        Assembly(long run, Frame.Snapshot first) {
            this.run = run;
            this.number = first.number();
            this.sequence = first.sequence();
            this.count = first.parts();
            this.missing = count;
        }

        boolean isOlderThan(long otherRun, long otherNumber) {
            return run < otherRun || (run == otherRun && number < otherNumber);
        }

        /** Returns whether it is a missing part of this snapshot. */
        boolean add(long ofRun, Frame.Snapshot part) {
            boolean fits = ofRun == run
                    && part.number() == number
                    && part.parts() == count
                    && parts.putIfAbsent(part.index(), part.rows()) == null;
            if (fits) {
                missing--;
            }
            return fits;
        }

        int firstMissing() {
            while (parts.containsKey(first)) {
                first++;
            }
            return first;
        }

        int size() {
            int size = 0;
            for (List<RouteRow> part : parts.values()) {
                size += part.size();
            }
            return size;
        }

        void forEach(Consumer<RouteRow> action) {
            parts.values().forEach(part -> part.forEach(action));
        }
    }
}
