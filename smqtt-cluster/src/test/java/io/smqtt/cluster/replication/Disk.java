// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a replica of a group has on its disk: vote, log, snapshot. It survives a crash, not a wipe. */
final class Disk {

    /** An entry of the log. */
    record Entry(long term, Command command) {}

    private final List<Entry> log = new ArrayList<>();
    private final int wipes;
    private long base;
    private long baseTerm;
    private @Nullable GroupState snapshot;
    boolean voter;
    long term;
    int votedFor = -1;

    /**
     * An empty disk.
     *
     * @param wipes how many disks this replica had before
     * @param voter whether its replica may vote: one of those that the group began with
     */
    Disk(int wipes, boolean voter) {
        this.wipes = wipes;
        this.voter = voter;
    }

    Disk wiped() {
        return new Disk(wipes + 1, false);
    }

    int wipes() {
        return wipes;
    }

    /** Index of the snapshot. */
    long base() {
        return base;
    }

    long baseTerm() {
        return baseTerm;
    }

    @Nullable
    GroupState snapshot() {
        return snapshot;
    }

    long lastIndex() {
        return base + log.size();
    }

    long termAt(long index) {
        return index == base ? baseTerm : entry(index).term();
    }

    Entry entry(long index) {
        return log.get((int) (index - base - 1));
    }

    void append(Entry entry) {
        log.add(entry);
    }

    /** Entries from an index on, 32 at most. */
    List<Entry> from(long index) {
        int first = (int) (index - base - 1);
        return List.copyOf(log.subList(first, Math.min(log.size(), first + 32)));
    }

    /** Removes the entry of this index and all behind it. */
    void truncate(long index) {
        log.subList((int) (index - base - 1), log.size()).clear();
    }

    /** Replaces the entries up to an index by a snapshot. What is behind it stays if it continues the snapshot. */
    void compact(long index, long indexTerm, GroupState state) {
        boolean continues = index <= lastIndex() && index >= base && termAt(index) == indexTerm;
        log.subList(0, continues ? (int) (index - base) : log.size()).clear();
        base = index;
        baseTerm = indexTerm;
        snapshot = state;
    }
}
