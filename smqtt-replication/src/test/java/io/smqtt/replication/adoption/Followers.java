// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The other members of a group as its leader knows them. */
final class Followers {

    /** No member. */
    static final int NONE = -1;

    private static final long SILENT_MILLIS = 500;

    private static final class Progress {

        private long match;
        private long next;
        private int disk = NONE;
        private boolean voter;
        private long heardNanos;
    }

    private final Model model;
    private final int self;
    private final int group;
    private final Disk disk;
    private final SortedMap<Integer, Progress> others = new TreeMap<>();

    Followers(Model model, int self, int group, Disk disk) {
        this.model = model;
        this.self = self;
        this.group = group;
        this.disk = disk;
    }

    /** A leadership begins: nothing is known. */
    void begin() {
        others.clear();
        for (int member : model.members(group)) {
            if (member != self) {
                Progress progress = new Progress();
                progress.next = disk.lastIndex() + 1;
                progress.heardNanos = model.nanoTime();
                others.put(member, progress);
            }
        }
    }

    /** Sends to all what they lack. */
    void replicate(long committed) {
        others.forEach((member, progress) -> replicate(member, progress.next, committed));
    }

    /** The same after a new entry: one that does not answer gets it later. */
    void appended(long committed) {
        others.forEach((member, progress) -> {
            if (silentMillis(member) < SILENT_MILLIS) {
                replicate(member, progress.next, committed);
            }
        });
    }

    private void replicate(int member, long next, long committed) {
        RaftMessage append =
                new RaftMessage.Append(group, disk.term, next - 1, disk.termAt(next - 1), disk.from(next), committed);
        model.network().send(self, member, append);
    }

    /** Takes an answer in the current term. What an earlier disk has answered counts no more. */
    void answered(int from, RaftMessage.AppendReply reply, long committed) {
        Progress progress = others.get(from);
        if (progress == null || reply.disk() < progress.disk) {
            return;
        }
        if (reply.disk() > progress.disk) {
            progress.disk = reply.disk();
            progress.match = 0;
        }
        progress.voter = reply.voter();
        progress.heardNanos = model.nanoTime();
        if (reply.success()) {
            progress.match = Math.max(progress.match, reply.match());
            progress.next = progress.match + 1;
        } else {
            progress.next = Math.max(progress.match, Math.min(progress.next - 2, reply.match())) + 1;
        }
        if (progress.next <= disk.lastIndex()) {
            replicate(from, progress.next, committed);
        }
    }

    /** Whether a majority, the leader included, has an entry. */
    boolean isWithMajority(long index) {
        long holders =
                others.values().stream().filter(other -> other.match >= index).count();
        return holders >= model.members(group).length / 2;
    }

    boolean isWithAll(long index) {
        return others.values().stream().allMatch(other -> other.match >= index);
    }

    /** Whether a majority, the leader included, was heard lately. */
    boolean hasMajority(long millis) {
        long heard = others.keySet().stream()
                .filter(member -> silentMillis(member) < millis)
                .count();
        return heard >= model.members(group).length / 2;
    }

    /** How long nothing was heard of a member. */
    long silentMillis(int member) {
        Progress progress = others.get(member);
        return progress == null ? 0 : (model.nanoTime() - progress.heardNanos) / 1_000_000;
    }

    /** Whether a member may lead, and has everything. */
    boolean isComplete(int member) {
        Progress progress = others.get(member);
        return progress != null
                && progress.voter
                && progress.match == disk.lastIndex()
                && silentMillis(member) < SILENT_MILLIS;
    }

    /** The admission of a member with a new disk, which may not vote; null if there is none. */
    Command.@Nullable Admit admission() {
        for (Map.Entry<Integer, Progress> other : others.entrySet()) {
            Progress progress = other.getValue();
            if (progress.disk > NONE && !progress.voter) {
                return new Command.Admit(other.getKey(), progress.disk);
            }
        }
        return null;
    }
}
