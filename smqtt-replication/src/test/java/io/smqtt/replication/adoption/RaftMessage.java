// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.List;

/** A message between the members of a group. */
sealed interface RaftMessage {

    int group();

    long term();

    record VoteRequest(int group, long term, long lastIndex, long lastTerm) implements RaftMessage {}

    record VoteReply(int group, long term, boolean granted) implements RaftMessage {}

    record Append(int group, long term, long previousIndex, long previousTerm, List<Disk.Entry> entries, long committed)
            implements RaftMessage {}

    /**
     * The answer to entries.
     *
     * @param match the last entry that is equal, or a guess of it
     * @param disk counts the disks of the member
     */
    record AppendReply(int group, long term, boolean success, long match, int disk, boolean voter)
            implements RaftMessage {}

    /** The receiver is to be elected. */
    record TimeoutNow(int group, long term) implements RaftMessage {}
}
