// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.persistence.StoreUnusableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.jgroups.Address;
import org.jgroups.protocols.raft.Log;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * A Raft log in RocksDB. Entries, term and vote are on stable storage when the method that stores them returns. The commit index may be
 * older after a power loss, which consensus allows for. Each change is one batch with the whole state in it, so that what is found after a
 * crash is the log after one of its changes.
 *
 * <p>It differs from the engine's own logs in what they hide:
 *
 * <ul>
 *   <li>A damaged log is not opened ({@link LogFolder}), and an entry that turns out to be damaged later is not returned.
 *   <li>After a failed write the log takes nothing more, and {@code failed} is called. The engine would continue, and give the index of the
 *       entry that was not written to another one, while a follower may have the first.
 *   <li>The term never decreases. The engine's logs take over the term of the last entry when entries are removed or appended, so that a
 *       node may vote twice in a term after a crash. A vote ends with its term, in the same write.
 * </ul>
 *
 * <p>Thread-safe: the engine appends on one thread and votes on others.
 */
final class RocksRaftLog implements Log {

    private static final long RECENT_BYTES = 16L << 20;

    private final boolean founds;
    private final Consumer<Throwable> failed;
    private final RecentEntries recent = new RecentEntries(RECENT_BYTES); // guarded by this
    private volatile LogState state = LogState.NONE;
    private volatile @Nullable Address vote;
    private volatile Set<Long> founders = Set.of();
    private volatile KnownLogs known = KnownLogs.NONE;
    private volatile boolean fsync = true;
    private @Nullable LogFolder folder; // guarded by this
    private @Nullable Throwable failure; // guarded by this
    private boolean kept; // guarded by this

    /**
     * Creates a log that is not open.
     *
     * @param founds whether the node may vote with a new log, because its group is new, too
     * @param failed receives the first failure of a write or a read, on the thread of that call; then the log is of no use
     */
    RocksRaftLog(boolean founds, Consumer<Throwable> failed) {
        this.founds = founds;
        this.failed = failed;
    }

    /**
     * Opens the log, and creates it if there is none.
     *
     * @param name its directory
     * @param args not used
     * @throws io.smqtt.spi.StoreDamagedException if a part of it is damaged or missing
     * @throws StoreUnusableException if it cannot be read or written
     */
    @Override
    public synchronized void init(String name, @Nullable Map<String, String> args) {
        LogFolder opened = LogFolder.open(Path.of(name), founds);
        folder = opened;
        state = opened.found();
        vote = address(opened.found().vote());
        founders = opened.founders();
        known = opened.known();
        recent.clear(state.last() + 1);
    }

    private static @Nullable Address address(byte[] encoded) {
        if (encoded.length == 0) {
            return null;
        }
        try {
            return Util.readAddress(new ByteArrayDataInputStream(encoded));
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("the address of a vote cannot be decoded", e);
        }
    }

    private static byte[] bytes(Address address) {
        try {
            ByteArrayDataOutputStream out = new ByteArrayDataOutputStream();
            Util.writeAddress(address, out);
            return Arrays.copyOf(out.buffer(), out.position());
        } catch (IOException e) {
            throw new UncheckedIOException("the address of a vote cannot be encoded", e);
        }
    }

    @Override
    public Log useFsync(boolean sync) {
        fsync = sync;
        return this;
    }

    @Override
    public boolean useFsync() {
        return fsync;
    }

    @Override
    public synchronized void delete() throws IOException {
        LogFolder opened = folder;
        if (opened != null) {
            close();
            opened.delete();
            state = LogState.NONE;
            vote = null;
        }
    }

    @Override
    public long currentTerm() {
        return state.term();
    }

    /** Sets the term, unless the log has a later one. */
    @Override
    public synchronized Log currentTerm(long term) {
        if (term > state.term()) {
            write(state.withTerm(term), true);
        }
        return this;
    }

    @Override
    public @Nullable Address votedFor() {
        return vote;
    }

    /**
     * Sets the vote.
     *
     * @param member null has no effect: the engine takes a vote back with a new term only, in which there is none anyway, and it may be late
     */
    @Override
    public synchronized Log votedFor(@Nullable Address member) {
        if (member != null) {
            write(state.withVote(bytes(member)), true);
            vote = member;
        }
        return this;
    }

    /** Whether the node may vote. */
    boolean isVoter() {
        return state.voter();
    }

    /** Lets the node vote in a group from now on. */
    synchronized void becomeVoterOf(long group) {
        if (!state.voter()) {
            write(state.asVoterOf(group), true);
        }
    }

    /**
     * Lets the node vote from now on, as one of those with which the group begins.
     *
     * @param identities the identities of the logs of all of them
     */
    synchronized void found(Set<Long> identities) {
        if (state.voter()) {
            return;
        }
        try (WriteBatch batch = new WriteBatch()) {
            opened().database().founders(batch, identities);
            write(batch, state.asVoterOf(Founding.groupOf(identities)), true);
            founders = Set.copyOf(identities);
        } catch (RocksDBException e) {
            throw failed(ReplicaDamage.of(opened().directory(), e));
        }
    }

    /** The identities of the logs with which the group began; empty if this one is none of them. */
    Set<Long> founders() {
        return founders;
    }

    /** The logs of all members, as far as they are known. */
    KnownLogs known() {
        return known;
    }

    /** Stores the logs of all members, unless the leader that has said it is not that of the current term or a later one. */
    synchronized void know(KnownLogs logs) {
        if (logs.term() < state.term() || logs.term() < known.term() || logs.equals(known)) {
            return;
        }
        try (WriteBatch batch = new WriteBatch()) {
            opened().database().known(batch, logs);
            write(batch, state.unchanged(), true);
            known = logs;
        } catch (RocksDBException e) {
            throw failed(ReplicaDamage.of(opened().directory(), e));
        }
    }

    /** The random number that the log got when it was created. */
    long identity() {
        return state.identity();
    }

    /** The random number that the group got when it was founded; 0 before this log was founded or admitted. */
    long group() {
        return state.group();
    }

    @Override
    public long commitIndex() {
        return state.commit();
    }

    /**
     * Sets the commit index.
     *
     * @param index not before the current one, nor behind the last entry
     */
    @Override
    public synchronized Log commitIndex(long index) {
        if (index < state.commit() || index > state.last()) {
            throw new IllegalArgumentException(
                    "commit index " + index + ", it was " + state.commit() + ", the last entry is " + state.last());
        }
        if (index > state.commit()) {
            write(state.withCommit(index), false);
        }
        return this;
    }

    @Override
    public long firstAppended() {
        return state.first();
    }

    @Override
    public long lastAppended() {
        return state.last();
    }

    @Override
    public synchronized void setSnapshot(ByteBuffer snapshot) {
        try {
            SnapshotFile.write(opened().snapshot(), snapshot);
        } catch (IOException e) {
            throw failed(StoreUnusableException.of(opened().directory(), e));
        }
    }

    @Override
    public synchronized @Nullable ByteBuffer getSnapshot() {
        try {
            return SnapshotFile.read(opened().snapshot());
        } catch (IOException e) {
            throw failed(StoreUnusableException.of(opened().directory(), e));
        }
    }

    /**
     * Appends entries behind the last one.
     *
     * @param index the index of the first of them: that of the last entry, and 1
     * @param entries at least one, with terms that do not decrease
     * @return the index of the last of them
     */
    @Override
    public synchronized long append(long index, LogEntries entries) {
        if (index != state.last() + 1) {
            throw new IllegalArgumentException("entry " + index + " cannot follow entry " + state.last());
        }
        long next = index;
        long term = lastTerm();
        try (WriteBatch batch = new WriteBatch()) {
            for (LogEntry entry : entries) {
                if (entry.term() < term) {
                    throw failed(new IllegalStateException(
                            "entry " + next + " has term " + entry.term() + ", the entry before it has term " + term));
                }
                term = entry.term();
                opened().database().put(batch, next, EntryRecord.encode(next, entry));
                next++;
            }
            write(batch, state.withEntries(state.first(), next - 1, term), true);
        } catch (RocksDBException e) {
            throw failed(ReplicaDamage.of(opened().directory(), e));
        }
        long appended = index;
        for (LogEntry entry : entries) {
            recent.add(appended++, entry);
        }
        return state.last();
    }

    /** The term of an entry, or null if the log does not have it; 0 for index 0. */
    @Nullable
    Long termOf(long index) {
        if (index == 0) {
            return 0L;
        }
        LogEntry entry = get(index);
        return entry == null ? null : entry.term();
    }

    private long lastTerm() {
        LogEntry last = get(state.last());
        return last == null ? 0 : last.term();
    }

    @Override
    public synchronized @Nullable LogEntry get(long index) {
        if (index < state.firstReadable() || index > state.last()) {
            return null;
        }
        LogEntry found = recent.get(index);
        return found == null ? read(index) : found;
    }

    private LogEntry read(long index) {
        LogFolder open = opened();
        try {
            byte[] record = open.database().record(index);
            if (record == null) {
                throw failed(ReplicaDamage.of(open.directory(), index, "it is missing", null));
            }
            return EntryRecord.decode(index, record);
        } catch (MalformedBytesException e) {
            throw failed(ReplicaDamage.of(open.directory(), index, e.getMessage(), e));
        } catch (RocksDBException e) {
            throw failed(ReplicaDamage.of(open.directory(), e));
        }
    }

    @Override
    public synchronized void truncate(long indexExclusive) {
        long first = Math.min(indexExclusive, state.commit());
        if (first <= state.first()) {
            return;
        }
        change(0, first, state.withEntries(first, state.last(), 0), false);
    }

    @Override
    public synchronized void reinitializeTo(long index, LogEntry entry) {
        LogState next = state.withEntries(index, index, entry.term()).withCommitOf(index);
        try (WriteBatch batch = new WriteBatch()) {
            opened().database().remove(batch, 0, Long.MAX_VALUE);
            opened().database().put(batch, index, EntryRecord.encode(index, entry));
            write(batch, next, true);
        } catch (RocksDBException e) {
            throw failed(ReplicaDamage.of(opened().directory(), e));
        }
        recent.clear(index);
        recent.add(index, entry);
    }

    /**
     * Removes an entry and those behind it.
     *
     * @param start behind the commit index; nothing happens if there is no such entry
     */
    @Override
    public synchronized void deleteAllEntriesStartingFrom(long start) {
        if (start <= state.commit()) {
            throw new IllegalArgumentException(
                    "entry " + start + " cannot be removed, committed are those up to " + state.commit());
        }
        if (start <= state.last()) {
            change(start, Long.MAX_VALUE, state.withEntries(state.first(), start - 1, 0), true);
            recent.removeFrom(start);
        }
    }

    /** Removes entries from the first index up to the last one, which is kept. */
    private void change(long from, long to, LogState next, boolean sync) {
        try (WriteBatch batch = new WriteBatch()) {
            opened().database().remove(batch, from, to);
            write(batch, next, sync);
        } catch (RocksDBException e) {
            throw failed(ReplicaDamage.of(opened().directory(), e));
        }
    }

    private void write(LogState next, boolean sync) {
        try (WriteBatch batch = new WriteBatch()) {
            write(batch, next, sync);
        }
    }

    private void write(WriteBatch batch, LogState next, boolean sync) {
        LogFolder open = opened();
        if (failure != null) {
            throw new IllegalStateException("the log in " + open.directory() + " has failed before", failure);
        }
        try {
            open.write(batch, next, sync && fsync);
            state = next;
            if (next.vote().length == 0) {
                vote = null;
            }
        } catch (RocksDBException e) {
            throw failed(ReplicaDamage.of(open.directory(), e));
        } catch (IOException e) {
            throw failed(StoreUnusableException.of(open.directory(), e));
        }
    }

    private RuntimeException failed(RuntimeException cause) {
        if (failure == null) {
            failure = cause;
            failed.accept(cause);
        }
        return cause;
    }

    @Override
    public void forEach(ObjLongConsumer<LogEntry> function, long start, long end) {
        long last = Math.min(end, state.last());
        for (long i = Math.max(start, state.firstReadable()); i <= last; i++) {
            LogEntry entry = get(i);
            if (entry != null) { // not truncated meanwhile
                function.accept(entry, i);
            }
        }
    }

    @Override
    public void forEach(ObjLongConsumer<LogEntry> function) {
        forEach(function, state.first(), state.last());
    }

    /** The approximate bytes of the entries, compressed where they are in tables; 0 if the log is closed. */
    @Override
    public synchronized long sizeInBytes() {
        LogFolder open = folder;
        return open == null ? 0 : open.database().bytes(state.firstReadable(), state.last() + 1);
    }

    /** The approximate bytes of the entries from an index on; 0 if the log is closed. */
    synchronized long bytesFrom(long index) {
        LogFolder open = folder;
        long from = Math.max(index, state.firstReadable());
        return open == null || from > state.last() ? 0 : open.database().bytes(from, state.last() + 1);
    }

    private LogFolder opened() {
        LogFolder open = folder;
        if (open == null) {
            throw new IllegalStateException("the log is closed");
        }
        return open;
    }

    /** Sets whether {@link #close} does nothing: the engine closes its log with each attempt to connect that fails. */
    synchronized void keepOpen(boolean keep) {
        kept = keep;
    }

    @Override
    public synchronized void close() throws IOException {
        if (kept) {
            return;
        }
        LogFolder open = folder;
        folder = null;
        recent.clear(1);
        if (open != null) {
            open.close();
        }
    }

    @Override
    public String toString() {
        LogState now = state;
        return "log of entries " + now.firstReadable() + " to " + now.last() + ", committed " + now.commit() + ", term "
                + now.term();
    }
}
