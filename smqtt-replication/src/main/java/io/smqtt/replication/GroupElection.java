// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.cluster.jgroups.ReplicaProtocols;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jgroups.Address;
import org.jgroups.EmptyMessage;
import org.jgroups.MergeView;
import org.jgroups.Message;
import org.jgroups.View;
import org.jgroups.protocols.raft.ELECTION;
import org.jgroups.protocols.raft.RaftHeader;
import org.jgroups.protocols.raft.election.BaseElection;
import org.jgroups.protocols.raft.election.LeaderElected;
import org.jgroups.protocols.raft.election.VoteRequest;
import org.jgroups.protocols.raft.election.VoteResponse;
import org.jgroups.util.Bits;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The engine's election among the members of one group. A node with a new log in place of a lost one does not vote: with its vote the
 * members that do not have the last entries would be a majority. What it does otherwise than the engine:
 *
 * <ul>
 *   <li>An answer counts in the round that it is for. The engine counts late ones in the next term, in which that member may vote again.
 *   <li>A vote request of an old term is answered with the current term.
 *   <li>Vote requests are handled one after the other, and a vote leaves only if its term has not passed meanwhile: terms advance on other threads, and
 *       end the vote that the engine has just looked at.
 *   <li>If the first member of the view may not vote, another one begins the vote.
 *   <li>A member that was cut off from a majority, and is the first one of the view when it returns, begins no vote: these have a leader, or vote by
 *       themselves.
 *   <li>A vote by which a leader gives the leadership to another member has more time: the member that is to get it must be among those that answer.
 *       And so has a vote after one without a result.
 * </ul>
 */
final class GroupElection extends ELECTION {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LEADERLESS_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** The time for the answers to a vote: members that are silent, and still in the view, delay it by that. */
    private static final long USUAL_MILLIS = 600;

    /**
     * The same if a leader gives the leadership away, where a disk that stores a vote slowly must not make another member the leader; and after votes
     * without a result, each of which doubles the time. Less than {@link #LEADERLESS_NANOS}, after which another member begins a vote.
     */
    private static final long LONGEST_MILLIS = 2_500;

    private final GroupMembers members;
    private final RocksRaftLog votes;
    private final @Nullable String home;
    private final BooleanSupplier unwilling;
    private final Object turn = new Object(); // of a vote request
    private long leaderlessNanos = System.nanoTime(); // used by the group's thread
    private volatile boolean ended;
    private volatile boolean comesToMajority; // while a view is handled

    /**
     * Creates the protocol of a group, with a log that costs nothing while its levels are off.
     *
     * @param id the number of the protocol in messages
     * @param home the member that is elected if no other has a longer log, or null
     * @param unwilling whether this member is elected only if all others have shorter logs
     */
    static GroupElection create(
            short id, GroupMembers members, RocksRaftLog votes, @Nullable String home, BooleanSupplier unwilling) {
        return ReplicaProtocols.logged(() -> new GroupElection(id, members, votes, home, unwilling));
    }

    private GroupElection(
            short id, GroupMembers members, RocksRaftLog votes, @Nullable String home, BooleanSupplier unwilling) {
        this.unwilling = unwilling;
        setId(id);
        this.members = members;
        this.votes = votes;
        this.home = home;
        voteTimeout(USUAL_MILLIS);
    }

    /** Begins the vote by which this member gives the leadership away. It ends when all members of the view have answered, or after 2.5 s. */
    void handOver() {
        voteTimeout(LONGEST_MILLIS);
        startVotingThread();
    }

    /** The log is about to be closed. The engine would continue with votes that cannot be stored, without a pause. */
    void end() {
        ended = true;
        stopVotingThread();
    }

    @Override
    protected void handleView(View view) {
        comesToMajority =
                view instanceof MergeView merge && merge.getSubgroups().stream().anyMatch(this::isMajorityOfOthers);
        try {
            super.handleView(members.in(view));
        } finally {
            comesToMajority = false;
        }
    }

    private boolean isMajorityOfOthers(View part) {
        return !part.containsMember(local_addr) && members.in(part).size() >= raft.majority();
    }

    @Override
    public synchronized BaseElection startVotingThread() {
        return comesToMajority ? this : super.startVotingThread();
    }

    @Override
    protected void handleMessage(Message message, RaftHeader header) {
        long term = raft.currentTerm();
        if (header instanceof VoteRequest) {
            if (header.currTerm() < term) {
                tell(message.getSrc(), term);
            } else if (votes.isVoter()) {
                synchronized (turn) {
                    super.handleMessage(message, header);
                }
            }
        } else if (header instanceof LeaderElected elected && elected.leader() == null) {
            raft.currentTerm(header.currTerm());
        } else if (!(header instanceof VoteResponse) || header.currTerm() == term) {
            super.handleMessage(message, header);
        }
    }

    /** If the term has advanced, the engine may have looked for a vote of this node in the later term, while another member has the one in this term. */
    @Override
    protected void sendVoteResponse(Address member, long term, long lastTerm, long lastIndex) {
        if (raft.currentTerm() == term) {
            super.sendVoteResponse(member, term, lastTerm, lastIndex);
        }
    }

    /** A member that asks in an old term would need a round for each term that it lacks. The message names no leader. */
    private void tell(Address member, long term) {
        down_prot.down(new EmptyMessage(member)
                .putHeader(id, new LeaderElected(null).currTerm(term))
                .setFlag(Message.Flag.OOB));
    }

    /** A node that may not vote begins no round: it would raise the term again and again. */
    @Override
    protected void runVotingProcess() {
        if (ended) {
            Thread.currentThread().interrupt(); // it ends by that only
            super.runVotingProcess();
        } else if (votes.isVoter()) {
            super.runVotingProcess();
            boolean isInVain = raft.leader() == null && isMajorityAvailable();
            voteTimeout(isInVain ? Math.min(2 * voteTimeout(), LONGEST_MILLIS) : USUAL_MILLIS);
        } else if (raft.leader() != null || !isMajorityAvailable()) {
            stopVotingThread();
            super.runVotingProcess(); // ends the thread
        } else {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /**
     * Begins a vote, if this member may vote, and no other one does: the engine leaves it to the first member of the view, which may be one without
     * a vote.
     */
    void voteIfNoOtherDoes(long now) {
        View present = view;
        if (raft.leader() != null || !votes.isVoter() || present == null || !isMajorityAvailable()) {
            leaderlessNanos = now;
            return;
        }
        int rank = present.getMembers().indexOf(local_addr);
        if (now - leaderlessNanos > (rank + 1) * LEADERLESS_NANOS) {
            leaderlessNanos = now;
            startVotingThread();
        }
    }

    /** Of the members with the longest log the home, otherwise the first one of the view. Answers of earlier rounds do not count. */
    @Override
    protected @Nullable Address determineLeader() {
        long term = raft.currentTerm();
        Map<Address, LogEnd> ends = new HashMap<>();
        getVotes().getResults().forEach((member, vote) -> {
            if (vote != null && vote.currTerm() == term) {
                ends.put(member, LogEnd.of(vote));
            }
        });
        if (ends.size() < raft.majority()) {
            return null;
        }
        Address longest = null;
        for (Address member : view.getMembersRaw()) {
            LogEnd end = ends.get(member);
            if (end != null && (longest == null || end.isLongerThan(Objects.requireNonNull(ends.get(longest))))) {
                longest = member;
            }
        }
        Address preferred = GroupMembers.find(view, home);
        boolean isEqual =
                longest != null && preferred != null && Objects.equals(ends.get(preferred), ends.get(longest));
        Address elected = isEqual ? preferred : longest;
        if (elected != null && elected.equals(local_addr) && unwilling.getAsBoolean()) {
            return anotherLike(elected, ends);
        }
        return elected;
    }

    /** Another member with the same log, or this one. */
    private Address anotherLike(Address own, Map<Address, LogEnd> ends) {
        for (Map.Entry<Address, LogEnd> other : ends.entrySet()) {
            if (!other.getKey().equals(own) && other.getValue().equals(ends.get(own))) {
                return other.getKey();
            }
        }
        return own;
    }

    /** The end of a member's log. */
    private record LogEnd(long term, long index) {

        static LogEnd of(VoteResponse vote) {
            try {
                ByteArrayDataOutputStream out = new ByteArrayDataOutputStream();
                vote.writeTo(out);
                ByteArrayDataInputStream in = new ByteArrayDataInputStream(out.buffer(), 0, out.position());
                Bits.readLongCompressed(in); // the term of the vote
                return new LogEnd(Bits.readLongCompressed(in), Bits.readLongCompressed(in));
            } catch (IOException e) { // never, in memory
                throw new UncheckedIOException(e);
            }
        }

        /** Whether this log has more than another one. */
        boolean isLongerThan(LogEnd other) {
            return term > other.term || term == other.term && index > other.index;
        }
    }
}
