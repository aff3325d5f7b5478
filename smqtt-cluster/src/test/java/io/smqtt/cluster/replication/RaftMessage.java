// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.List;

/** A message between replicas of a group. */
sealed interface RaftMessage {

    int group();

    long term();

    record VoteRequest(int group, long term, long lastIndex, long lastTerm) implements RaftMessage {}

    record VoteReply(int group, long term, boolean granted) implements RaftMessage {}

    /**
     * Entries, or none as a heartbeat.
     *
     * @param round counts the heartbeats of a leader
     */
    record Append(
            int group,
            long term,
            long previousIndex,
            long previousTerm,
            List<Disk.Entry> entries,
            long committed,
            long round)
            implements RaftMessage {}

    /**
     * Answer to {@link Append} and {@link Snapshot}.
     *
     * @param match up to where the logs are equal; if not successful, where to try again
     * @param wipes which disk answers
     */
    record AppendReply(int group, long term, boolean success, long match, long round, int wipes, boolean voter)
            implements RaftMessage {}

    record Snapshot(int group, long term, long index, long indexTerm, GroupState state, long round)
            implements RaftMessage {}

    /** Tells the replica of the group's own node to take the leadership. */
    record TimeoutNow(int group, long term) implements RaftMessage {}

    /** Gives a vote to a replica whose disk was wiped and that has caught up. */
    record Promote(int group, long term, int wipes) implements RaftMessage {}
}
