// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The replicas of one node's store, as one of their holders sees them. Immutable.
 *
 * @param home the place of the node whose store it is: its name, or that of a node that it has replaced ({@link Replicas#holders})
 * @param members the nodes that hold a replica, in the order of their places, that of {@code home} among them
 * @param connected those of them that this node reaches now, itself included
 * @param leader the member that leads the group, or null if this node knows none: there is no majority, or a vote is under way
 * @param serves whether this node serves the store, and leads: it is {@code home}, or has adopted the store
 * @param server the node that has begun to serve the store last, as far as this node knows; null if it does not know since its start
 * @param voter whether the replica of this node counts for a majority: a new one does not, before it was brought up to date
 * @param term the current term of the group; grows with each leadership
 * @param lastEntry the number of the last entry in the log of this node
 * @param committedEntry the number of the last entry that this node knows to be on a majority of disks
 * @param logBytes the approximate bytes of that log
 * @param waitingEntries entries of this node that wait for a majority
 * @param sinceCommitMillis on the leader, the milliseconds since its last commit, or since the start
 * @param sentBytes bytes of checkpoints that this node has sent since the start to members whose log was empty or too old
 * @param receivedBytes bytes of checkpoints that this node has received since the start
 * @param refusedMessages messages of other members that this node has refused since the start because they were damaged
 * @param behind on the leader, how far each other connected member is behind; empty elsewhere
 * @param failure why the replica of this node has ended, such as a disk that is full, or why this node does not serve its own store any more,
 *     because another one has; null while it is in use
 */
public record ReplicaStatus(
        String home,
        List<String> members,
        List<String> connected,
        @Nullable String leader,
        boolean serves,
        @Nullable String server,
        boolean voter,
        long term,
        long lastEntry,
        long committedEntry,
        long logBytes,
        int waitingEntries,
        long sinceCommitMillis,
        long sentBytes,
        long receivedBytes,
        long refusedMessages,
        Map<String, Lag> behind,
        @Nullable String failure) {

    /**
     * Copies the collections.
     *
     * @throws NullPointerException if one of them is null
     */
    public ReplicaStatus {
        members = List.copyOf(members);
        connected = List.copyOf(connected);
        behind = Map.copyOf(behind);
    }

    /**
     * Whether a majority of the members is connected to this node.
     *
     * @return true if what is stored can be committed, as far as this node sees
     */
    public boolean hasMajority() {
        return connected.size() > members.size() / 2;
    }

    /**
     * The entries that a member does not have yet.
     *
     * @param entries the number of entries that it lacks
     * @param bytes their approximate bytes in the log of the leader
     */
    public record Lag(long entries, long bytes) {}
}
