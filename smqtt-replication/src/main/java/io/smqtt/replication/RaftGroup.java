// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.jgroups.View;
import org.jgroups.protocols.raft.Role;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of a group: a log, a state, and the two protocols that keep them equal on all members. The leader proposes; all members apply
 * what is committed.
 *
 * <p><b>Fencing.</b> A leader gets its term when it has applied all that was committed before. It proposes in that
 * term: an entry that gets into the log in a later one is applied by no member.
 *
 * <p><b>New logs.</b> The first members found the group ({@link Founding}). A member with a new log in place of a lost one does not vote, until
 * the leader has appended an entry of its own term and <i>all</i> members have answered that they have it. Then the leader admits it ({@link
 * Admission}), and the lost one counts no more ({@link KnownLogs}).
 *
 * <p><b>Home.</b> A leader that is not the home of the group gives the leadership to the home when that asks for it and has all entries. Thread-safe.
 */
final class RaftGroup implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RaftGroup.class);
    private static final short FIRST_PROTOCOL = 800; // JGroups has numbers below 600
    private static final long NOT_LEADING = 0;
    private static final long TICK_MILLIS = 500;

    private final GroupSettings settings;
    private final GroupMembers members;
    private final ReplicatedState state;
    private final Listener listener;
    private final StateFolder folder;
    private final RocksRaftLog log;
    private final GroupElection election;
    private final GroupRaft raft;
    private final Proposals proposals;
    private final MemberMessages messages;
    private final GroupGauges gauges;
    private final ScheduledExecutorService thread;
    private final AddressedLog addressed;
    private final HomeReturn home = new HomeReturn(); // used by the thread
    private volatile long leadingTerm = NOT_LEADING;
    private final Handover handover;
    private volatile long beginning;
    private volatile @Nullable View view;
    private volatile boolean ended;
    private final Admission admission; // used by the thread
    private long released; // used by the thread
    private long persisted = -1; // used by the thread

    private RaftGroup(GroupSettings settings, ReplicatedState state, StateFolder folder, Listener listener) {
        this.settings = settings;
        this.state = state;
        this.listener = listener;
        this.folder = folder;
        members = new GroupMembers(settings.members());
        proposals = new Proposals(settings.maxEntries(), settings.maxBytes());
        log = new RocksRaftLog(false, this::failed);
        addressed = new AddressedLog(log, settings.number());
        short id = (short) (FIRST_PROTOCOL + 2 * settings.number());
        election = GroupElection.create(id, members, log, settings.home(), () -> !listener.mayServe());
        raft = GroupRaft.create((short) (id + 1), settings, members, log, state, new Applied(), this::failed);
        raft.addRoleListener(this::roleChanged);
        thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, "smqtt-group-" + settings.name());
            made.setDaemon(true);
            return made;
        });
        handover = new Handover(settings, new Leadership(), listener, thread);
        messages = new MemberMessages(settings, folder, state, log, new Own());
        admission = new Admission(settings, log, addressed, messages::send);
        gauges = new GroupGauges(settings, log, raft, proposals, messages);
    }

    /**
     * Opens a member's log and its state. Blocks. The member takes part when its {@link #protocols} are in a channel that is connected.
     *
     * @param state not open; closed with the group
     * @throws io.smqtt.spi.StoreDamagedException if the log or the state is damaged
     * @throws io.smqtt.persistence.StoreUnusableException if one of them cannot be read or written
     */
    static RaftGroup open(GroupSettings settings, ReplicatedState state, Listener listener) {
        return open(settings, state, new StateFolder(settings.directory()), listener);
    }

    /** The same with another object for the directory. */
    static RaftGroup open(GroupSettings settings, ReplicatedState state, StateFolder folder, Listener listener) {
        RaftGroup group = new RaftGroup(settings, state, folder, listener);
        try {
            group.log.init(folder.log().toString(), null);
            folder.prepare(group.log);
            state.open(folder.state());
            if (settings.members().size() == 1) {
                group.log.found(Set.of(group.log.identity()));
            }
        } catch (RuntimeException e) {
            group.thread.shutdownNow();
            closeAfter(group.log, e);
            throw e;
        }
        group.thread.scheduleWithFixedDelay(group::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        return group;
    }

    private static void closeAfter(RocksRaftLog log, RuntimeException failure) {
        try {
            log.close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    int number() {
        return settings.number();
    }

    String name() {
        return settings.name();
    }

    /** Runs a task on the group's thread; not if that has ended. */
    void onThread(Runnable task) {
        execute(task);
    }

    /** The protocols of the group, the lower one first. */
    List<Protocol> protocols() {
        return List.of(election, raft);
    }

    /** Adds this group to the address of its node. */
    void describe(ExtendedUUID address) {
        addressed.describe(address);
    }

    /** Whether another node has the data of a group with the same name of another cluster. */
    boolean isForeign(ExtendedUUID node) {
        return addressed.isForeign(node);
    }

    /** Whether another log was admitted in the place of that of a node. */
    boolean isReplaced(ExtendedUUID node) {
        return addressed.isReplaced(node);
    }

    /** Sets the way to the other members. Called before the channel is connected. */
    void linkedBy(GroupLink link) {
        messages.linkedBy(link);
    }

    /** Sets the view of the channel. */
    void viewed(View next) {
        View own = members.in(next);
        view = own;
        execute(() -> messages.founding().ask(own));
    }

    /** Takes a message of another node. */
    void received(Address from, byte[] message) {
        String name = GroupMembers.nameOf(from);
        if (name != null && members.names().contains(name) && messages.admits()) {
            execute(() -> messages.handle(from, name, message));
        }
    }

    /**
     * Proposes an entry. Entries of one thread are committed in their order.
     *
     * @param term the term that {@link Listener#leading} has named
     * @param content applied on all members when a majority has it on stable storage
     * @return its index, when this member has applied it; or {@link GroupOverloadedException}, or {@link NotLeadingException}. Completed by a
     *     thread of the group, which must not be blocked
     */
    CompletableFuture<Long> propose(long term, byte[] content) {
        if (term != leadingTerm || ended) {
            return CompletableFuture.failedFuture(
                    new NotLeadingException("refused: this node does not lead the group in term " + term));
        }
        if (handover.isPaused()) {
            return CompletableFuture.failedFuture(
                    new NotLeadingException("refused: the leadership is being transferred to the home of the group"));
        }
        Proposals.Proposal proposal;
        try {
            proposal = proposals.add(content.length);
        } catch (GroupOverloadedException e) {
            return CompletableFuture.failedFuture(e);
        }
        byte[] command = GroupCommand.data(term, content);
        try {
            raft.setAsync(command, 0, command.length, null).whenComplete((index, failure) -> {
                if (failure == null) {
                    gauges.committed();
                    proposal.commit(ByteBuffer.wrap(index).getLong());
                } else {
                    proposal.fail(
                            failure instanceof NotLeadingException
                                    ? failure
                                    : new NotLeadingException("the leadership has ended: " + failure.getMessage()));
                }
            });
        } catch (IllegalStateException e) { // of the engine, if this node does not lead
            proposal.fail(new NotLeadingException("refused: " + e.getMessage()));
        }
        return proposal.result();
    }

    /** The name of the leader, or null if this member knows none. */
    @Nullable
    String leader() {
        return GroupMembers.nameOf(raft.leader());
    }

    /** The channel was left. */
    void left() {
        view = null;
    }

    /** Whether a majority of the members is connected to this one, which is in use. */
    boolean hasMajority() {
        View now = view;
        return !ended && now != null && now.size() > members.names().size() / 2;
    }

    /** The names of the members that this node reaches, its own included; none before the channel is connected, and when the group has ended. */
    Set<String> present() {
        Set<String> names = new HashSet<>();
        View now = view;
        if (now != null && !ended) {
            for (Address member : now) {
                String name = GroupMembers.nameOf(member);
                if (name != null) {
                    names.add(name);
                }
            }
        }
        return names;
    }

    /** The current figures; bytes are those of the last half second. Does not wait for the disk. */
    GroupFigures figures() {
        return gauges.read(view);
    }

    /** Called by the engine while it holds its own locks. */
    private void roleChanged(Role role) {
        handover.roleChanged();
        if (role == Role.Leader) {
            try {
                raft.begin();
            } catch (Exception e) { // declared by the engine
                failed(e);
            }
            return;
        }
        boolean led = leadingTerm != NOT_LEADING;
        leadingTerm = NOT_LEADING;
        execute(() -> {
            proposals.failAll("the leadership has ended");
            messages.source().clear();
            if (led) {
                home.lost(System.nanoTime());
                listener.following();
            }
        });
    }

    /** The log or the state cannot be used: the group ends on this node. */
    void failed(Throwable cause) {
        if (ended) {
            return;
        }
        ended = true;
        leadingTerm = NOT_LEADING;
        election.end();
        LOG.error("the group {} has ended on this node: {}", settings.name(), cause.toString());
        execute(() -> {
            proposals.failAll("the group has ended on this node");
            listener.failed(cause);
        });
    }

    private void execute(Runnable task) {
        try {
            thread.execute(() -> {
                try {
                    task.run();
                } catch (RuntimeException e) {
                    warn(e);
                }
            });
        } catch (RejectedExecutionException e) {
            // closed
        }
    }

    private void warn(RuntimeException e) {
        if (!ended) {
            LOG.warn("the group {} cannot be tended to: {}", settings.name(), e.toString());
        }
    }

    private void tick() {
        try {
            long now = System.nanoTime();
            long term = leadingTerm;
            if (term != NOT_LEADING && !handover.isPaused()) {
                admit(term);
                release(term);
                handover.passOn(view);
            }
            View present = view;
            gauges.measure(leadingTerm == NOT_LEADING ? null : present);
            if (present != null) { // the channel is connected
                election.voteIfNoOtherDoes(now);
                Address leader = raft.leader();
                messages.founding().ask(present);
                messages.source().tick(present, now);
                messages.target().tick(leader, now);
                claim(leader, now);
                cut();
            }
        } catch (RuntimeException e) {
            warn(e);
        }
    }

    /** Asks for the leadership, if this is the home. */
    private void claim(@Nullable Address leader, long now) {
        if (settings.isHome() && log.isVoter() && !ended && listener.mayServe()) {
            long term = log.currentTerm();
            if (home.isDue(now, leader == null ? -1 : term) && leader != null) {
                messages.send(leader, new GroupMessage.Claim(term));
            }
        }
    }

    /** Proposes to admit members with new logs, if all members have the first entry of this leader's term. */
    private void admit(long term) {
        View present = view;
        if (present == null || present.size() < members.names().size() || matchedByAll() < beginning) {
            return;
        }
        Set<Long> identities = admission.due(term, present);
        if (!identities.isEmpty()) {
            byte[] command = GroupCommand.admission(term, log.group(), identities);
            raft.setAsync(command, 0, command.length, null);
        }
    }

    /** Proposes to remove entries from all logs if they have become long. */
    private void release(long term) {
        long matched = matchedByAll();
        if (matched > released && gauges.logBytes() > settings.log().releaseBytes()) {
            byte[] command = GroupCommand.release(term, matched);
            raft.setAsync(command, 0, command.length, null);
            released = matched;
        }
    }

    /** Removes the older half of the log if it is too long, whether a member that is away has these entries or not. */
    private void cut() {
        long first = log.firstAppended();
        long last = log.lastAppended();
        boolean isLong = last - first > settings.log().awayEntries()
                || gauges.logBytes() > settings.log().awayBytes();
        if (isLong && state.applied() != persisted) {
            truncate(first + (last - first) / 2);
        }
    }

    /** Removes entries from the log that the state has stored. */
    private void truncate(long index) {
        try {
            persisted = state.persist();
            long from = Math.min(Math.min(persisted, index), messages.source().pinned());
            raft.between(() -> log.truncate(from));
        } catch (Exception e) { // declared by the state
            failed(e);
        }
    }

    /** The last entry that all members have; 0 if one is away, or this node does not lead. */
    private long matchedByAll() {
        View present = view;
        if (present == null || present.size() < members.names().size()) {
            return 0;
        }
        long matched = log.lastAppended();
        for (Address member : present) {
            if (!settings.self().equals(GroupMembers.nameOf(member))) {
                matched = Math.min(matched, raft.matching(member));
            }
        }
        return matched;
    }

    /** Replaces the state and the log by the checkpoint that was received. Called on the engine's thread. */
    private void install(long index, long term) {
        if (ended) {
            return;
        }
        try {
            if (index > log.lastAppended()) {
                if (!state.isReplaceable()) {
                    throw new IllegalStateException("the state of the group " + settings.name()
                            + " is in use, and cannot be replaced by a checkpoint; start this node again");
                }
                state.close();
                folder.replace(log, index, term);
                state.open(folder.state());
                raft.installed(index);
                LOG.info("the state of the group {} on this node is that of entry {}", settings.name(), index);
            }
            execute(messages.target()::installed);
        } catch (IOException | RuntimeException e) {
            failed(e);
        }
    }

    /** Fails what waits, and takes nothing more. Called before the channel is closed. */
    void end() {
        ended = true;
        leadingTerm = NOT_LEADING;
        election.end();
        thread.shutdownNow();
        proposals.failAll("the group is closed");
    }

    /** Ends, and closes the log. The state stays open, for a new object in the place of this one. Called after the channel is closed. Blocks. */
    void retire() throws IOException {
        end();
        raft.halt();
        log.close();
    }

    /** Closes the log and the state. Called after the channel is closed. */
    @Override
    public void close() throws IOException {
        end();
        try {
            log.close();
        } finally {
            state.close();
        }
    }

    /** The group, as a handover sees it. */
    private final class Leadership implements Handover.Group {

        @Override
        public long term() {
            return ended ? NOT_LEADING : leadingTerm;
        }

        @Override
        public boolean isReady(Address other) {
            return proposals.entries() == 0 && raft.matching(other) == log.lastAppended();
        }

        @Override
        public void vote() {
            election.handOver();
        }
    }

    /** Called on the engine's thread. */
    private final class Applied implements GroupRaft.AppliedEntries {

        @Override
        public void began(long index, long term) {
            if (raft.isLeader() && raft.currentTerm() == term) {
                beginning = index;
                leadingTerm = term;
                if (!raft.isLeader() || raft.currentTerm() != term) { // it has ended meanwhile
                    leadingTerm = NOT_LEADING;
                    return;
                }
                execute(() -> {
                    if (leadingTerm == term) {
                        admission.again();
                        home.leads(System.nanoTime());
                        listener.leading(term);
                    }
                });
            }
        }

        @Override
        public void admitted(long number, Set<Long> identities) {
            if (identities.contains(log.identity())) {
                if (!log.isVoter()) {
                    LOG.info("the replica {} on this node is up to date, and has a vote again", settings.name());
                }
                log.becomeVoterOf(number);
            }
        }

        @Override
        public void released(long index) {
            execute(() -> truncate(index));
        }

        @Override
        public boolean needsEntries(Address member) {
            return messages.source().isInVain(member);
        }

        @Override
        public void isBehind(Address member) {
            execute(
                    () -> { // the first entry of the term may need the member, so the leadership need not have begun
                        if (raft.isLeader() && !ended) {
                            messages.source().needed(member, System.nanoTime());
                        }
                    });
        }
    }

    /** Called on the group's thread. */
    private final class Own implements MemberMessages.Receiver {

        @Override
        public void claimed(Address from, long term) {
            if (from.equals(GroupMembers.find(view, settings.home()))) {
                handover.claimed(from, term);
            }
        }

        @Override
        public void handedOver() {
            admission.again(); // the member may have the entry that admitted it in the checkpoint, where it is not read
        }

        @Override
        public void knows(Address member, KnownLogs logs) {
            admission.answered(member, logs);
        }

        @Override
        public boolean follows(Address leader) {
            return leader.equals(raft.leader()) && leadingTerm == NOT_LEADING && !ended;
        }

        @Override
        public void install(long index, long term) {
            state.release().thenRun(() -> raft.between(() -> RaftGroup.this.install(index, term)));
        }
    }

    /** Receives what happens to a member, on a thread of the group. */
    interface Listener {

        /**
         * This member leads, and has applied all entries that were committed before.
         *
         * @param term the term in which it may propose
         */
        void leading(long term);

        /** This member does not lead any more; what waited has failed. */
        void following();

        /** Whether this member may serve what it leads. One that may not leaves the leadership to others. Does not block; also called by other threads. */
        default boolean mayServe() {
            return true;
        }

        /**
         * The home of the group asks for the leadership.
         *
         * @return completes when this member serves nothing, so that it may be given
         */
        default CompletableFuture<Void> askedBack() {
            return CompletableFuture.completedFuture(null);
        }

        /**
         * The log or the state cannot be used; this member must leave its channel at once.
         *
         * @param cause why
         */
        void failed(Throwable cause);
    }
}
