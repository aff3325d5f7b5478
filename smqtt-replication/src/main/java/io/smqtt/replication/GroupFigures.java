// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.spi.ReplicaStatus;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Figures of a group on one of its members.
 *
 * @param group the name of the group
 * @param home the home of the group, or null if it has none
 * @param leader the name of the leader, or null if this member knows none
 * @param term the current term
 * @param isVoter whether this member may vote
 * @param firstIndex the first entry in its log
 * @param lastIndex the last entry in its log
 * @param commitIndex the last entry that it knows to be committed
 * @param logBytes the approximate bytes of its log
 * @param committedMillis on the leader, the milliseconds since its last commit, or since the start
 * @param waitingEntries proposed entries that wait for a majority
 * @param waitingBytes their bytes
 * @param refusedEntries entries that were refused since the start because too many waited
 * @param sentCheckpointBytes the bytes of checkpoints that were sent to other members since the start
 * @param receivedCheckpointBytes the bytes of checkpoints that were received since the start
 * @param refusedMessages messages of other members that were refused since the start because they were damaged
 * @param lags on the leader, how far each other member is behind; members that are away are missing
 */
record GroupFigures(
        String group,
        @Nullable String home,
        @Nullable String leader,
        long term,
        boolean isVoter,
        long firstIndex,
        long lastIndex,
        long commitIndex,
        long logBytes,
        long committedMillis,
        int waitingEntries,
        long waitingBytes,
        long refusedEntries,
        long sentCheckpointBytes,
        long receivedCheckpointBytes,
        long refusedMessages,
        Map<String, ReplicaStatus.Lag> lags) {}
