// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.ArrayList;
import java.util.List;

/** What survives a crash of a member. Writes are complete at once. */
final class Disk {

    /** An entry of the log. */
    record Entry(long term, Command command) {}

    private static final int AT_ONCE = 100;

    private final List<Entry> log = new ArrayList<>();
    private final int number;
    long term;
    int votedFor = -1;
    boolean voter;
    long applied;

    /**
     * Creates an empty disk.
     *
     * @param number counts the disks of the member
     */
    Disk(int number, boolean voter) {
        this.number = number;
        this.voter = voter;
    }

    int number() {
        return number;
    }

    long lastIndex() {
        return log.size();
    }

    long lastTerm() {
        return termAt(lastIndex());
    }

    long termAt(long index) {
        return index == 0 ? 0 : entry(index).term();
    }

    Entry entry(long index) {
        return log.get((int) index - 1);
    }

    /** A part of the log, from an entry on. */
    List<Entry> from(long index) {
        int first = (int) index - 1;
        return List.copyOf(log.subList(first, Math.min(log.size(), first + AT_ONCE)));
    }

    void append(Entry entry) {
        log.add(entry);
    }

    /** Writes an entry of the leader, in place of another one and all behind it. */
    void write(long index, Entry entry) {
        if (index <= lastIndex() && termAt(index) != entry.term()) {
            log.subList((int) index - 1, log.size()).clear();
        }
        if (index > lastIndex()) {
            append(entry);
        }
    }
}
