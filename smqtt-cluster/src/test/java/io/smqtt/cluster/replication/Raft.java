// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A simple Raft. Writes to the disk are complete at once. The first member of a group gets the leadership whenever it has
 * the whole log. A replica whose disk was wiped has no vote before the leader has brought it up to date and all other
 * members have answered the leader since.
 */
class Raft implements Consensus {

    private enum Role {
        FOLLOWER,
        CANDIDATE,
        LEADER
    }

    private static final int SNAPSHOT_AFTER = 40;

    private record Waiting(long term, Consumer<Outcome> done) {}

    /** What a leader knows of another member. */
    private static final class Progress {

        long next;
        long match;
        int wipes = -1;
        boolean voter;
        long round;
        long knownSince;
        long heardNanos;
    }

    private final Model model;
    private final Node node;
    private final int group;
    private final int[] members;
    final Disk disk;
    private final Map<Long, Waiting> waiting = new HashMap<>();
    private final Map<Integer, Progress> others = new HashMap<>();
    private final Set<Integer> votes = new HashSet<>();
    private Role role = Role.FOLLOWER;
    private GroupState state;
    private int leader = -1;
    private long committed;
    private long applied;
    private long round;
    private long deadlineNanos;
    private long ledSinceNanos;

    Raft(Node node, int group, Disk disk) {
        this.model = node.model();
        this.node = node;
        this.group = group;
        this.disk = disk;
        members = model.members(group);
        GroupState snapshot = disk.snapshot();
        state = snapshot == null ? new GroupState(model.mistake()) : snapshot.copy();
        applied = disk.base();
        committed = disk.base();
        waitForLeader();
    }

    @Override
    public boolean leads() {
        return role == Role.LEADER;
    }

    @Override
    public int leader() {
        return leader;
    }

    @Override
    public GroupState state() {
        return state;
    }

    @Override
    public long applied() {
        return applied;
    }

    @Override
    public boolean isVoter() {
        return disk.voter;
    }

    @Override
    public void propose(Command command, Consumer<Outcome> done) {
        if (role != Role.LEADER) {
            return;
        }
        disk.append(new Disk.Entry(disk.term, command));
        waiting.put(disk.lastIndex(), new Waiting(disk.term, done));
        others.keySet().forEach(this::replicate);
    }

    @Override
    public void tick() {
        if (role == Role.LEADER) {
            round++;
            others.keySet().forEach(this::replicate);
            others.forEach(this::promote);
            returnLeadership();
        } else if (model.nanoTime() >= deadlineNanos && disk.voter) {
            campaign();
        }
    }

    @Override
    public void receive(int from, RaftMessage message) {
        observe(message.term());
        if (message instanceof RaftMessage.VoteRequest request) {
            vote(from, request);
        } else if (message instanceof RaftMessage.VoteReply reply) {
            count(from, reply);
        } else if (message instanceof RaftMessage.Append append) {
            take(from, append);
        } else if (message instanceof RaftMessage.AppendReply reply) {
            progress(from, reply);
        } else if (message instanceof RaftMessage.Snapshot snapshot) {
            take(from, snapshot);
        } else if (message.term() == disk.term) {
            order(message);
        }
    }

    private void order(RaftMessage message) {
        if (message instanceof RaftMessage.Promote promote) {
            disk.voter |= promote.wipes() == disk.wipes();
        } else if (role != Role.LEADER && disk.voter) {
            campaign();
        }
    }

    private void waitForLeader() {
        deadlineNanos = model.nanoTime() + (300 + model.random().nextInt(300)) * 1_000_000L;
    }

    private void observe(long term) {
        if (term > disk.term) {
            disk.term = term;
            disk.votedFor = -1;
            role = Role.FOLLOWER;
            leader = -1;
            waiting.clear();
        }
    }

    private void campaign() {
        waitForLeader();
        role = Role.CANDIDATE;
        leader = -1;
        disk.term++;
        disk.votedFor = node.id();
        votes.clear();
        votes.add(node.id());
        long last = disk.lastIndex();
        for (int member : members) {
            if (member != node.id()) {
                send(member, new RaftMessage.VoteRequest(group, disk.term, last, disk.termAt(last)));
            }
        }
    }

    private void vote(int from, RaftMessage.VoteRequest request) {
        long last = disk.lastIndex();
        boolean complete = request.lastTerm() > disk.termAt(last)
                || (request.lastTerm() == disk.termAt(last) && request.lastIndex() >= last);
        boolean granted =
                request.term() == disk.term && disk.voter && complete && (disk.votedFor == -1 || disk.votedFor == from);
        if (granted) {
            disk.votedFor = from;
            waitForLeader();
        }
        send(from, new RaftMessage.VoteReply(group, disk.term, granted));
    }

    private void count(int from, RaftMessage.VoteReply reply) {
        if (role == Role.CANDIDATE && reply.term() == disk.term && reply.granted()) {
            votes.add(from);
            if (votes.size() > members.length / 2) {
                lead();
            }
        }
    }

    private void lead() {
        role = Role.LEADER;
        leader = node.id();
        ledSinceNanos = model.nanoTime();
        others.clear();
        for (int member : members) {
            if (member != node.id()) {
                Progress progress = new Progress();
                progress.next = disk.lastIndex() + 1;
                others.put(member, progress);
            }
        }
        propose(new Command.Begin(), outcome -> {});
    }

    private void replicate(int member) {
        Progress progress = others.get(member);
        GroupState snapshot = disk.snapshot();
        if (progress.next <= disk.base() && snapshot != null) {
            send(
                    member,
                    new RaftMessage.Snapshot(group, disk.term, disk.base(), disk.baseTerm(), snapshot.copy(), round));
            return;
        }
        long previous = progress.next - 1;
        send(
                member,
                new RaftMessage.Append(
                        group, disk.term, previous, disk.termAt(previous), disk.from(progress.next), committed, round));
    }

    private void take(int from, RaftMessage.Append append) {
        if (append.term() < disk.term) {
            answer(from, false, 0, append.round());
            return;
        }
        follow(from);
        long previous = append.previousIndex();
        boolean fits = previous <= disk.lastIndex()
                && (previous < disk.base() || disk.termAt(previous) == append.previousTerm());
        if (!fits) {
            answer(from, false, Math.min(disk.lastIndex(), previous - 1), append.round());
            return;
        }
        long index = previous;
        for (Disk.Entry entry : append.entries()) {
            index++;
            if (index > disk.base()) {
                write(index, entry);
            }
        }
        commit(Math.min(append.committed(), index));
        answer(from, true, index, append.round());
    }

    private void write(long index, Disk.Entry entry) {
        if (index <= disk.lastIndex() && disk.termAt(index) != entry.term()) {
            disk.truncate(index);
        }
        if (index > disk.lastIndex()) {
            disk.append(entry);
        }
    }

    private void take(int from, RaftMessage.Snapshot snapshot) {
        if (snapshot.term() < disk.term) {
            answer(from, false, 0, snapshot.round());
            return;
        }
        follow(from);
        if (snapshot.index() > applied) {
            disk.compact(snapshot.index(), snapshot.indexTerm(), snapshot.state());
            state = snapshot.state().copy();
            applied = snapshot.index();
            committed = Math.max(committed, applied);
        }
        answer(from, true, snapshot.index(), snapshot.round());
    }

    private void follow(int from) {
        role = Role.FOLLOWER;
        leader = from;
        waitForLeader();
    }

    private void answer(int to, boolean success, long match, long answered) {
        send(to, new RaftMessage.AppendReply(group, disk.term, success, match, answered, disk.wipes(), disk.voter));
    }

    private void progress(int from, RaftMessage.AppendReply reply) {
        Progress progress = others.get(from);
        if (role != Role.LEADER || reply.term() != disk.term || progress == null || reply.wipes() < progress.wipes) {
            return;
        }
        if (reply.wipes() > progress.wipes) {
            progress.wipes = reply.wipes();
            progress.match = 0;
            progress.knownSince = round + 1;
        }
        progress.voter = reply.voter();
        progress.round = Math.max(progress.round, reply.round());
        progress.heardNanos = model.nanoTime();
        if (reply.success()) {
            progress.match = Math.max(progress.match, reply.match());
            progress.next = progress.match + 1;
            commitMajority();
        } else {
            progress.next = Math.max(progress.match + 1, Math.min(progress.next - 1, reply.match() + 1));
        }
        if (progress.next <= disk.lastIndex()) {
            replicate(from);
        }
    }

    private void commitMajority() {
        for (long index = disk.lastIndex(); index > committed && disk.termAt(index) == disk.term; index--) {
            long candidate = index;
            long holders = 1
                    + others.values().stream()
                            .filter(other -> other.voter && other.match >= candidate)
                            .count();
            if (holders > members.length / 2) {
                commit(index);
                return;
            }
        }
    }

    private void commit(long index) {
        committed = Math.max(committed, index);
        while (applied < committed) {
            applied++;
            apply(applied, disk.entry(applied));
        }
        if (applied - disk.base() > SNAPSHOT_AFTER) {
            disk.compact(applied, disk.termAt(applied), state.copy());
        }
    }

    /** Applies an entry. A faulty engine does something else. */
    void apply(long index, Disk.Entry entry) {
        Outcome outcome = state.apply(entry.command());
        model.audit().applied(group, index, outcome);
        Waiting answer = waiting.remove(index);
        if (answer != null && answer.term() == entry.term()) {
            answer.done().accept(outcome);
        }
        if (role == Role.LEADER) {
            node.applied(group, entry.command());
        }
    }

    private void promote(int member, Progress progress) {
        boolean confirmed = others.entrySet().stream()
                .allMatch(other -> other.getKey() == member || other.getValue().round >= progress.knownSince);
        boolean complete = disk.termAt(committed) == disk.term && progress.match >= committed;
        if (!progress.voter && progress.wipes >= 0 && complete && confirmed) {
            send(member, new RaftMessage.Promote(group, disk.term, progress.wipes));
        }
    }

    private void returnLeadership() {
        Progress home = others.get(members[0]);
        if (group != Model.CLUSTER
                && home != null
                && home.voter
                && home.match == disk.lastIndex()
                && model.nanoTime() - home.heardNanos < 300_000_000
                && model.nanoTime() - ledSinceNanos > 700_000_000) {
            ledSinceNanos = model.nanoTime();
            send(members[0], new RaftMessage.TimeoutNow(group, disk.term));
        }
    }

    private void send(int to, RaftMessage message) {
        model.links().send(node.id(), to, message);
    }

    @Override
    public String toString() {
        return "group " + group + " at " + node.id() + ": " + role + " term " + disk.term + " " + applied + "/"
                + committed + "/" + disk.lastIndex() + " of " + Arrays.toString(members)
                + (disk.voter ? "" : " no vote");
    }
}
