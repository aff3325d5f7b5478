// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One member of a group: a simple Raft without snapshots. It tells its node what is applied, and when it leads. */
final class Raft {

    private enum Role {
        FOLLOWER,
        CANDIDATE,
        LEADER
    }

    private static final int NONE = Followers.NONE;
    private static final int FOLLOWED_MILLIS = 1_000;
    private static final int ALONE_MILLIS = 1_500;

    private final Model model;
    private final Node node;
    private final int group;
    private final Disk disk;
    private final AppliedEntries applied;
    private final Followers followers;
    private final Ballot ballot;
    private Role role = Role.FOLLOWER;
    private int leader = NONE;
    private long committed;
    private long begin;
    private Command.@Nullable Admit admitted;
    private boolean leads;
    private long ledNanos;
    private long deadlineNanos;

    Raft(Node node, int group, Disk disk) {
        this.model = node.model();
        this.node = node;
        this.group = group;
        this.disk = disk;
        applied = new AppliedEntries(node, group, disk);
        followers = new Followers(model, node.id(), group, disk);
        ballot = new Ballot(node.id(), model.members(group).length, disk);
        await(FOLLOWED_MILLIS);
    }

    int group() {
        return group;
    }

    State state() {
        return applied.state();
    }

    long term() {
        return disk.term;
    }

    /** Whether it leads, and has applied all that was committed before. */
    boolean leads() {
        return leads;
    }

    int leader() {
        return leader;
    }

    long ledMillis() {
        return (model.nanoTime() - ledNanos) / 1_000_000;
    }

    Followers followers() {
        return followers;
    }

    /** Appends an entry, if this member leads. */
    void propose(Command command, Consumer<Outcome> done) {
        if (role == Role.LEADER) {
            disk.append(new Disk.Entry(disk.term, command));
            applied.await(done);
            followers.appended(committed);
        }
    }

    /** Has another member elected. */
    void transfer(int member) {
        send(member, new RaftMessage.TimeoutNow(group, disk.term));
    }

    void tick() {
        if (role != Role.LEADER) {
            if (model.nanoTime() >= deadlineNanos && disk.voter) {
                campaign();
            }
        } else if (followers.hasMajority(ALONE_MILLIS)) {
            followers.replicate(committed);
            admit();
        } else {
            follow(NONE);
        }
    }

    void receive(int from, RaftMessage message) {
        if (message.term() > disk.term) {
            disk.term = message.term();
            disk.votedFor = NONE;
            follow(NONE);
        }
        if (message instanceof RaftMessage.VoteRequest request) {
            vote(from, request);
        } else if (message instanceof RaftMessage.VoteReply reply) {
            count(from, reply);
        } else if (message instanceof RaftMessage.Append append) {
            take(from, append);
        } else if (message instanceof RaftMessage.AppendReply reply) {
            if (role == Role.LEADER && reply.term() == disk.term) {
                followers.answered(from, reply, committed);
                commitMajority();
            }
        } else if (message.term() == disk.term && role != Role.LEADER && disk.voter) {
            campaign();
        }
    }

    private void await(int millis) {
        deadlineNanos = model.nanoTime() + (millis + model.random().nextInt(millis / 2)) * 1_000_000L;
    }

    /** Ends a leadership, if there is one. */
    private void follow(int other) {
        boolean led = leads;
        role = Role.FOLLOWER;
        leader = other;
        leads = false;
        applied.awaitNothing();
        if (led || other != NONE) { // a vote of another candidate delays the own one only if it was granted
            await(FOLLOWED_MILLIS);
        }
        if (led) {
            node.following(group);
        }
    }

    // votes

    private void campaign() {
        await(400);
        role = Role.CANDIDATE;
        leader = NONE;
        ballot.begin();
        for (int member : model.members(group)) {
            if (member != node.id()) {
                send(member, new RaftMessage.VoteRequest(group, disk.term, disk.lastIndex(), disk.lastTerm()));
            }
        }
    }

    private void vote(int from, RaftMessage.VoteRequest request) {
        boolean granted = ballot.grant(from, request);
        if (granted) {
            await(FOLLOWED_MILLIS);
        }
        send(from, new RaftMessage.VoteReply(group, disk.term, granted));
    }

    private void count(int from, RaftMessage.VoteReply reply) {
        boolean counts = role == Role.CANDIDATE && reply.term() == disk.term && reply.granted();
        if (counts && ballot.isDecidedBy(from)) {
            lead();
        }
    }

    private void lead() {
        role = Role.LEADER;
        leader = node.id();
        ledNanos = model.nanoTime();
        admitted = null;
        followers.begin();
        begin = disk.lastIndex() + 1;
        propose(new Command.Begin(), outcome -> {});
    }

    /** Admits a member with a new disk, when all members have an entry of this leader's term. */
    private void admit() {
        Command.Admit admission = followers.admission();
        if (leads && admission != null && !admission.equals(admitted) && followers.isWithAll(begin)) {
            admitted = admission;
            propose(admission, outcome -> {});
        }
    }

    // entries

    private void take(int from, RaftMessage.Append append) {
        if (append.term() < disk.term) {
            answer(from, false, 0);
            return;
        }
        follow(from);
        long index = append.previousIndex();
        if (index > disk.lastIndex() || disk.termAt(index) != append.previousTerm()) {
            answer(from, false, Math.min(disk.lastIndex(), index - 1));
            return;
        }
        for (Disk.Entry entry : append.entries()) {
            disk.write(++index, entry);
        }
        commit(Math.min(append.committed(), index));
        answer(from, true, index);
    }

    private void answer(int to, boolean success, long match) {
        send(to, new RaftMessage.AppendReply(group, disk.term, success, match, disk.number(), disk.voter));
    }

    private void commitMajority() {
        for (long index = disk.lastIndex(); index > committed && disk.termAt(index) == disk.term; index--) {
            if (followers.isWithMajority(index)) {
                commit(index);
                return;
            }
        }
    }

    private void commit(long index) {
        committed = Math.max(committed, index);
        while (applied.index() < committed) {
            applied.applyNext(role == Role.LEADER);
            if (role == Role.LEADER && applied.index() == begin) {
                leads = true;
                node.leading(group);
            }
        }
    }

    private void send(int to, RaftMessage message) {
        model.network().send(node.id(), to, message);
    }

    @Override
    public String toString() {
        return "group " + group + " at node " + node.id() + ": " + role + " in term " + disk.term + ", applied "
                + applied.index() + " of " + disk.lastIndex() + (disk.voter ? "" : ", no vote") + ": " + state();
    }

    /** What it has applied, to be compared with other members. */
    String content() {
        return applied.index() + " " + state();
    }
}
