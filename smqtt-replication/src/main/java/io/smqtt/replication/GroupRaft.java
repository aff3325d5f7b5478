// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.cluster.jgroups.ReplicaProtocols;
import io.smqtt.spi.StoreDamagedException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jgroups.Address;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.View;
import org.jgroups.protocols.raft.AppendEntriesRequest;
import org.jgroups.protocols.raft.AppendEntriesResponse;
import org.jgroups.protocols.raft.AppendResult;
import org.jgroups.protocols.raft.InternalCommand;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.protocols.raft.RaftHeader;
import org.jgroups.raft.util.CommitTable;
import org.jgroups.raft.util.RequestTable;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/**
 * The engine's consensus among the members of one group, with a state that survives restarts. What it does otherwise than the engine:
 *
 * <ul>
 *   <li>Entries of earlier terms are not committed by counting the members that have them, but with an entry of the leader's own term, as
 *       Raft requires. A leader begins its term with one.
 *   <li>The state knows which entries it has. At the start only later ones are applied; the engine would apply all.
 *   <li>If an entry cannot be applied, the group stops on this node. The engine would continue with the next one.
 *   <li>Requests that came together are processed in runs of one kind, because the engine takes the index and the term of the first one for
 *       all.
 *   <li>A vote is stored behind its term. The engine stores them in any order when threads race, and could vote twice after a crash.
 *   <li>A member that is behind gets entries while others are proposed, about a megabyte at a time. The engine sends them only when nothing
 *       was proposed for a quarter of a second, and all in one message.
 *   <li>A member that needs entries that were removed gets a checkpoint of the state ({@link AppliedEntries#isBehind}), and so does one whose log is
 *       empty while that of the leader is long.
 *   <li>A member answers a leader when it has stored its entries, before it applies those that were committed before.
 * </ul>
 *
 * <p>All but {@link #votedFor(Address)} and the figures run on the engine's one thread of the group.
 */
final class GroupRaft extends RAFT {

    private static final int RESEND_MILLIS = 250;
    private static final long RESEND_NANOS = TimeUnit.MILLISECONDS.toNanos(RESEND_MILLIS);
    private static final long RESENT_BYTES = 1 << 20;
    private static final long WAITING_BYTES = 32 << 20;

    private final GroupMembers group;
    private final RocksRaftLog own;
    private final Path directory;
    private final long emptyEntries;
    private final ReplicatedState state;
    private final AppliedEntries applied;
    private final Consumer<Throwable> failed;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Map<Address, Resent> resent = new HashMap<>();
    private final AtomicLong waiting = new AtomicLong();
    private long resendNanos = System.nanoTime();
    private boolean isAnswering; // whether a leader waits for the answer to entries
    private long committedMeanwhile; // what that leader has named
    private final Object turn = new Object();
    private boolean stopped; // guarded by turn

    /**
     * Creates the protocol of a group, with a log that costs nothing while its levels are off.
     *
     * @param id the number of the protocol in messages
     * @param settings the group
     * @param own the open log
     * @param applied notified of entries that are not for the state
     * @param failed receives the failure that ends the group on this node
     */
    static GroupRaft create(
            short id,
            GroupSettings settings,
            GroupMembers group,
            RocksRaftLog own,
            ReplicatedState state,
            AppliedEntries applied,
            Consumer<Throwable> failed) {
        return ReplicaProtocols.logged(() -> new GroupRaft(id, settings, group, own, state, applied, failed));
    }

    private GroupRaft(
            short id,
            GroupSettings settings,
            GroupMembers group,
            RocksRaftLog own,
            ReplicatedState state,
            AppliedEntries applied,
            Consumer<Throwable> failed) {
        this.group = group;
        this.own = own;
        this.directory = settings.directory();
        this.emptyEntries = settings.log().emptyEntries();
        this.state = state;
        this.applied = applied;
        this.failed = failed;
        setId(id);
        raftId(settings.self());
        members(group.names());
        maxLogCacheSize(0); // counts entries, not bytes; the log has its own
        log(own);
        logUseFsync(true);
        maxLogSize(Long.MAX_VALUE);
        resendInterval(RESEND_MILLIS);
    }

    @Override
    public void handleView(View view) {
        super.handleView(group.in(view));
    }

    /** Entries past a limit are dropped on a member whose disk is slow: the leader sends them again. */
    @Override
    public @Nullable Object up(Message message) {
        return admits(message) ? super.up(message) : null;
    }

    @Override
    public void up(MessageBatch batch) {
        MessageBatch rest = new MessageBatch(
                batch.dest(), batch.sender(), batch.clusterName(), batch.multicast(), batch.mode(), batch.size());
        for (Message message : batch) {
            if (admits(message)) {
                rest.add(message);
            }
        }
        if (!rest.isEmpty()) {
            super.up(rest);
        }
    }

    private boolean admits(Message message) {
        long bytes = message.getHeader(id) == null ? 0 : bytesOf(message);
        if (bytes > 0 && waiting.addAndGet(bytes) > WAITING_BYTES && waiting.get() > bytes) {
            waiting.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    private static long bytesOf(Message message) {
        return message instanceof ObjectMessage object && object.getObject() instanceof LogEntries entries
                ? entries.totalSize()
                : 0;
    }

    private static boolean hasEntries(Message message) {
        return message instanceof ObjectMessage object
                && object.getObject() instanceof LogEntries entries
                && entries.size() > 0;
    }

    /** The log stays open: the channel may be connected again. */
    @Override
    public void stop() {
        own.keepOpen(true);
        try {
            super.stop();
        } finally {
            own.keepOpen(false);
        }
    }

    @Override
    public RAFT votedFor(Address member) {
        own.currentTerm(currentTerm());
        return super.votedFor(member);
    }

    /** Applies the entries that are committed as far as the log knows, and that the state does not have. */
    @Override
    public void initStateMachineFromLog() throws Exception {
        long has = state.applied();
        if (has > own.lastAppended()) {
            throw damage("its state has entry " + has + ", its log ends with entry " + own.lastAppended());
        }
        if (has < own.firstAppended() - 1) {
            throw damage("its state ends with entry " + has + ", its log begins with entry " + own.firstAppended());
        }
        own.commitIndex(Math.max(own.commitIndex(), has));
        commit_index = own.commitIndex();
        for (long i = has + 1; i <= commit_index; i++) {
            apply(i, entry(i));
        }
    }

    private StoreDamagedException damage(String what) {
        return ReplicaDamage.of(directory, what, null);
    }

    @Override
    protected void process(List<Request> requests) {
        int from = 0;
        for (int i = 1; i <= requests.size(); i++) {
            if (i == requests.size()
                    || requests.get(i).getClass() != requests.get(from).getClass()) {
                processRun(requests.subList(from, i));
                from = i;
            }
        }
        resendIfDue();
    }

    private void processRun(List<Request> requests) {
        try {
            super.process(requests);
        } catch (
                RuntimeException
                        e) { // no longer the leader, or the log has failed: the proposals fail with the leadership
            log.debug("%s: %d requests were not processed: %s", local_addr, requests.size(), e);
        }
    }

    /**
     * Commits entries.
     *
     * @param counted whether a majority has the entry, as opposed to a leader that knows that it is committed
     */
    @Override
    protected RAFT commitLogTo(long index, boolean counted) {
        if (isAnswering && !counted) {
            committedMeanwhile = Math.max(committedMeanwhile, index);
            return this;
        }
        if (counted) {
            LogEntry entry = own.get(Math.min(index, last_appended));
            if (entry == null || entry.term() != currentTerm()) {
                return this;
            }
        }
        return super.commitLogTo(index, counted);
    }

    @Override
    protected void applyCommit(long index, boolean serialize) throws Exception {
        RequestTable<String> requests = request_table;
        RequestTable.Entry<String> request = requests == null ? null : requests.remove(index);
        try {
            boolean isTaken;
            synchronized (turn) {
                requireInUse();
                isTaken = apply(index, entry(index));
            }
            if (isTaken) {
                notify(request, ByteBuffer.allocate(Long.BYTES).putLong(index).array());
            } else {
                notify(request, new NotLeadingException("the entry was proposed in an earlier term"));
            }
        } catch (Exception | Error e) {
            halt();
            failed.accept(e);
            throw e;
        }
    }

    private void requireInUse() {
        if (stopped) {
            throw new IllegalStateException("the group has stopped");
        }
    }

    /** Ends the changes of the state: none is made after this call. Waits for one that is under way. */
    void halt() {
        synchronized (turn) {
            stopped = true;
        }
    }

    private LogEntry entry(long index) {
        LogEntry entry = own.get(index);
        if (entry == null) {
            throw damage("entry " + index + " is missing");
        }
        return entry;
    }

    /** Applies an entry; returns false if it does not count, because it was proposed in an earlier term. */
    private boolean apply(long index, LogEntry entry) throws Exception {
        byte[] command = entry.command();
        if (command == null) {
            return true;
        }
        if (entry.internal()) {
            applied.began(index, entry.term());
            return true;
        }
        GroupCommand decoded = GroupCommand.decode(command, entry.offset(), entry.length());
        if (decoded instanceof GroupCommand.Data data) {
            if (data.term() != entry.term()) {
                return false;
            }
            state.apply(index, data.command(), data.offset(), data.length());
        } else if (decoded instanceof GroupCommand.Admission admission) {
            applied.admitted(admission.group(), admission.identities());
        } else if (decoded instanceof GroupCommand.Release release) {
            applied.released(release.index());
        }
        return true;
    }

    /** Appends the entry with which a leader begins its term. Its index and its term are passed on when it is committed. */
    void begin() throws Exception {
        byte[] noop = Util.streamableToByteBuffer(new InternalCommand(InternalCommand.Type.noop, null));
        setAsync(noop, 0, noop.length, true, null);
    }

    /** Runs a task on the engine's thread, between two entries. The task must not fail. */
    void between(Runnable task) {
        tasks.add(task);
        snapshotAsync();
    }

    /** Runs what waits for the engine's thread. */
    @Override
    protected void takeSnapshot() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            synchronized (turn) {
                if (!stopped) {
                    task.run();
                }
            }
        }
    }

    /**
     * The state and the log of this member were replaced by a checkpoint. Called on the engine's thread.
     *
     * @param index the last entry that is in it
     */
    void installed(long index) {
        last_appended = index;
        commit_index = index;
        num_snapshot_received++;
        Address leader = leader();
        if (leader != null && !leader.equals(local_addr)) {
            AppendResult has = new AppendResult(AppendResult.Result.OK, index).commitIndex(index);
            down_prot.down(new EmptyMessage(leader).putHeader(id, new AppendEntriesResponse(currentTerm(), has)));
        }
    }

    private void resendIfDue() {
        CommitTable table = commit_table;
        if (table == null) {
            resent.clear();
        } else if (System.nanoTime() - resendNanos >= RESEND_NANOS) {
            resent.keySet().retainAll(table.keys());
            table.forEach(this::sendAppendEntriesMessage);
        }
    }

    @Override
    public void handleUpRequest(Message message, RaftHeader header) {
        waiting.addAndGet(-bytesOf(message));
        if (header instanceof AppendEntriesRequest && hasEntries(message)) {
            answerThenApply(message, header);
            return;
        }
        super.handleUpRequest(message, header);
        CommitTable table = commit_table;
        CommitTable.Entry entry =
                table == null || !(header instanceof AppendEntriesResponse) ? null : table.get(message.getSrc());
        if (entry == null || !hasBegun()) {
            return;
        }
        Resent before = resent.get(message.getSrc());
        if (entry.nextIndex() > last_appended || before != null && before.isLast(entry.nextIndex())) {
            resent.remove(message.getSrc());
        } else if (before == null || before.isWatched() ? entry.sendSingleMessage() : before.has(entry.nextIndex())) {
            sendFrom(message.getSrc(), Math.max(entry.nextIndex(), 1));
        }
    }

    /** Answers that entries are stored before those are applied that were committed before them: the leader waits for the answer. */
    private void answerThenApply(Message message, RaftHeader header) {
        committedMeanwhile = 0;
        isAnswering = true;
        try {
            super.handleUpRequest(message, header);
        } finally {
            isAnswering = false;
        }
        if (committedMeanwhile > commit_index) {
            super.commitLogTo(committedMeanwhile, false);
        }
    }

    /**
     * Whether the log ends with an entry of this leader's term. Before that a member may answer that it has entries which are others than those
     * of this log, because it does not compare what it has committed.
     */
    private boolean hasBegun() {
        Long term = own.termOf(last_appended);
        return term != null && term == currentTerm();
    }

    /** Sends a member what it lacks, if it has not got on since the last call. Called every quarter of a second. */
    @Override
    protected void sendAppendEntriesMessage(Address member, CommitTable.Entry entry) {
        resendNanos = System.nanoTime();
        if (!hasBegun()) {
            return;
        }
        long next = Math.max(entry.nextIndex(), 1);
        if (next <= last_appended) {
            Resent before = resent.get(member);
            if (before != null && before.next() == next) {
                sendFrom(member, next);
            } else if (before == null || before.isWatched()) {
                resent.put(member, Resent.watched(next));
            } else {
                resent.put(member, new Resent(next, before.last(), before.reachesEnd()));
            }
        } else if (last_appended > own.firstAppended()
                && (last_appended > entry.matchIndex() || commit_index < last_appended)) {
            resend(member, last_appended);
        } else if (commit_index > entry.commitIndex()) {
            long term = currentTerm();
            down_prot.down(new ObjectMessage(member, null)
                    .putHeader(id, new AppendEntriesRequest(local_addr, term, 0, 0, term, commit_index)));
        }
    }

    private void sendFrom(Address member, long next) {
        boolean isRemoved = next <= own.firstAppended(); // the term of the entry before it is not known
        boolean isEmpty = next == 1 && last_appended > emptyEntries && state.applied() > 0;
        if (isRemoved || isEmpty && !applied.needsEntries(member)) {
            resent.put(member, Resent.removed(next));
            applied.isBehind(member);
            return;
        }
        LogEntries entries = new LogEntries();
        long bytes = 0;
        long term = 0;
        long index = next;
        while (index <= last_appended && bytes < RESENT_BYTES) {
            LogEntry entry = entry(index++);
            term = term == 0 ? entry.term() : term;
            bytes += entry.length();
            entries.add(entry);
        }
        long before = next == 1 ? 0 : entry(next - 1).term();
        resent.put(member, new Resent(next, index - 1, index > last_appended));
        num_resends++;
        down_prot.down(new ObjectMessage(member, entries)
                .putHeader(
                        id, new AppendEntriesRequest(local_addr, currentTerm(), next - 1, before, term, commit_index)));
    }

    /**
     * The index up to which a member has the same entries as this node.
     *
     * @return -1 if this node does not lead, or the member is away
     */
    long matching(Address member) {
        CommitTable table = commit_table;
        CommitTable.@Nullable Entry entry = table == null ? null : table.get(member);
        return entry == null ? -1 : entry.matchIndex();
    }

    /** Receives entries that are not for the state. Called on the engine's thread. */
    interface AppliedEntries {

        /** The first entry of a leader's term was committed: that leader has applied all that was committed before. */
        void began(long index, long term);

        /** Members may vote in a group with this number. */
        void admitted(long number, Set<Long> identities);

        /** All members have the entries up to an index. */
        void released(long index);

        /** A member gets a checkpoint of the leader, which is this node, in place of entries. Called again and again. */
        void isBehind(Address member);

        /** Whether checkpoints were of no use for a member. */
        boolean needsEntries(Address member);
    }
}
