// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.spi.ReplicaStatus;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.jgroups.View;
import org.jspecify.annotations.Nullable;

/**
 * Readers of a group's figures. The bytes in the log are measured once in a while, by the group's thread: asking the log waits for its disk, which
 * may hang, and the figures are to tell that.
 *
 * <p>Thread-safe.
 */
final class GroupGauges {

    private final GroupSettings settings;
    private final RocksRaftLog log;
    private final GroupRaft raft;
    private final Proposals proposals;
    private final MemberMessages messages;
    private volatile long logBytes;
    private volatile Map<String, Long> lagBytes = Map.of();
    private volatile long committedNanos = System.nanoTime();

    GroupGauges(
            GroupSettings settings, RocksRaftLog log, GroupRaft raft, Proposals proposals, MemberMessages messages) {
        this.settings = settings;
        this.log = log;
        this.raft = raft;
        this.proposals = proposals;
        this.messages = messages;
    }

    /** An entry of this member was committed. */
    void committed() {
        committedNanos = System.nanoTime();
    }

    /** The approximate bytes of the log when it was measured last. */
    long logBytes() {
        return logBytes;
    }

    /**
     * Measures the bytes of the log, and of what other members lack. Waits for the disk.
     *
     * @param followers the present members if this one leads, otherwise null
     */
    void measure(@Nullable View followers) {
        logBytes = log.sizeInBytes();
        Map<String, Long> measured = new TreeMap<>();
        if (followers != null) {
            for (Address member : followers) {
                String name = GroupMembers.nameOf(member);
                long matching = raft.matching(member);
                if (name != null && matching >= 0) {
                    measured.put(name, log.bytesFrom(matching + 1));
                }
            }
        }
        lagBytes = measured;
    }

    /**
     * Reads all figures. Does not wait for the disk.
     *
     * @param present the present members, or null
     */
    GroupFigures read(@Nullable View present) {
        long last = log.lastAppended();
        Map<String, Long> measured = lagBytes;
        Map<String, ReplicaStatus.Lag> lags = new TreeMap<>();
        if (present != null) {
            for (Address member : present) {
                long matching = raft.matching(member);
                String name = GroupMembers.nameOf(member);
                if (matching >= 0 && name != null) {
                    long entries = Math.max(0, last - matching);
                    long bytes = entries == 0 ? 0 : measured.getOrDefault(name, 0L);
                    lags.put(name, new ReplicaStatus.Lag(entries, bytes));
                }
            }
        }
        return new GroupFigures(
                settings.name(),
                settings.home(),
                GroupMembers.nameOf(raft.leader()),
                log.currentTerm(),
                log.isVoter(),
                log.firstAppended(),
                last,
                log.commitIndex(),
                logBytes,
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - committedNanos),
                proposals.entries(),
                proposals.bytes(),
                proposals.refused(),
                messages.sentBytes(),
                messages.receivedBytes(),
                messages.refused(),
                Map.copyOf(lags));
    }
}
