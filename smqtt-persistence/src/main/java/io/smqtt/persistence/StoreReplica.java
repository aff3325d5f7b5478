// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoredSession;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * The rows of a replicated store on one member. All members apply the same batches in the same order; the one that leads has a {@link
 * BrokerStore} over its rows, whose batches these are.
 *
 * <p>The rows have no log of their own: what was applied and not flushed is lost in a crash, and {@link #position} tells from where the entries
 * have to be applied again. Batches are whole, because all column families are flushed together.
 *
 * <p>{@link #apply} is called by one thread at a time; the other methods by any, but not on event loops.
 */
public final class StoreReplica implements AutoCloseable {

    private final StoreFolder folder;
    private final Database database;
    private final StoreSettings settings;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Object applying = new Object();
    private volatile ReplicaPosition position;
    private volatile @Nullable String server;
    private volatile boolean led;
    private volatile @Nullable RocksBrokerStore store;

    private StoreReplica(
            StoreFolder folder,
            Database database,
            StoreSettings settings,
            ReplicaPosition position,
            @Nullable String server) {
        this.folder = folder;
        this.database = database;
        this.settings = settings;
        this.position = position;
        this.server = server;
    }

    /**
     * Opens the rows, and creates them if the directory is empty or missing. Blocks.
     *
     * @param directory the directory of the rows only
     * @param settings limits and memory
     * @return the rows
     * @throws StoreInUseException if they are open already, here or in another process
     * @throws io.smqtt.spi.StoreDamagedException if a part of them cannot be read, or a newer program wrote it
     * @throws StoreUnusableException if the directory cannot be read or written
     */
    public static StoreReplica open(Path directory, StoreSettings settings) {
        StoreFolder folder = StoreFolder.openReplica(directory.toAbsolutePath().normalize());
        Database database = new Database(folder.database(), settings, true);
        try {
            NativeLibrary.load(folder.directory());
            database.open(folder.isFresh());
            if (!database.hasUsualNumbers()) {
                throw Damage.of(folder.database(), "its column families are not those of a replica", null);
            }
            if (StoreFolder.bytesOf(folder.database()) <= settings.verifyBytes()) {
                database.verify();
            }
            byte[] row = database.get(Family.META, MetaRows.key(MetaRows.APPLIED));
            ReplicaPosition position = row == null ? ReplicaPosition.NONE : ReplicaPosition.decode(row);
            if (folder.isFresh()) {
                folder.created();
            }
            byte[] node = database.get(Family.META, MetaRows.key(MetaRows.SERVER));
            String server = node == null ? null : new String(node, StandardCharsets.UTF_8);
            return new StoreReplica(folder, database, settings, position, server);
        } catch (RocksDBException e) {
            throw closed(folder, database, Damage.orFailure(e, folder.database()));
        } catch (MalformedBytesException e) {
            throw closed(folder, database, Damage.of(e, folder.database()));
        } catch (RuntimeException e) {
            throw closed(folder, database, e);
        }
    }

    private static RuntimeException closed(StoreFolder folder, Database database, RuntimeException cause) {
        database.close();
        folder.close();
        return cause;
    }

    /**
     * The position of the rows in the log, which is stored with them.
     *
     * @return that of the last entry that was applied
     */
    public ReplicaPosition position() {
        return position;
    }

    /**
     * Applies a batch.
     *
     * @param after the position of the rows with it; its entry is behind that of the last one
     * @param source has the batch
     * @param offset where it begins
     * @param length its bytes
     * @throws StoreUnusableException if it cannot be written, for example because the disk is full; then no other may be applied
     */
    public void apply(ReplicaPosition after, byte[] source, int offset, int length) {
        write(after, Arrays.copyOfRange(source, offset, offset + length));
    }

    /**
     * Begins a reign: moves the position of the rows, and notes the name of the reigning node.
     *
     * @param after the new position; its entry is behind that of the last one
     * @param node the name of the node that begins to reign
     * @throws StoreUnusableException if it cannot be written; then no batch may be applied
     */
    public void reign(ReplicaPosition after, String node) {
        RowBatch note = new RowBatch(0);
        note.put(Family.META.ordinal(), MetaRows.key(MetaRows.SERVER), node.getBytes(StandardCharsets.UTF_8));
        write(after, note.toByteArray());
        server = node;
    }

    /**
     * The node that has begun the current reign, which is stored with the rows.
     *
     * @return its name; null before the first reign, and for one that began before its node was noted
     */
    public @Nullable String server() {
        return server;
    }

    private void write(ReplicaPosition after, byte[] batch) {
        Change mark = new Change(Family.META, MetaRows.key(MetaRows.APPLIED), after.encode());
        synchronized (applying) {
            try {
                database.apply(batch, mark);
            } catch (RocksDBException e) {
                throw StoreUnusableException.of(folder.directory(), e);
            }
            position = after;
        }
    }

    /**
     * Writes to stable storage what was applied before this call. Blocks.
     *
     * @return the index of an entry: the rows of all entries up to it are on stable storage
     * @throws StoreUnusableException if they cannot be written
     */
    public long persist() {
        long before = position.entry();
        try {
            database.flush();
        } catch (RocksDBException e) {
            throw StoreUnusableException.of(folder.directory(), e);
        }
        return before;
    }

    /**
     * Copies the rows as they are at one moment; files are linked where the target is on the same disk. Blocks. {@link #apply} waits for a part
     * of that time.
     *
     * @param target a directory that does not exist; {@link #open} opens the copy afterwards
     * @return the index of the last entry that the copy has
     * @throws StoreUnusableException if it cannot be written
     */
    public long checkpoint(Path target) {
        persist(); // most of the work, while others are applied
        synchronized (applying) {
            try {
                Files.createDirectories(target);
                database.checkpoint(target.resolve("db"));
                StoreFolder.completeReplica(target);
            } catch (IOException | RocksDBException e) {
                throw StoreUnusableException.of(target, e);
            }
            return position.entry();
        }
    }

    /**
     * Turns a copy of the rows into a store with one replica. Blocks.
     *
     * @param copy the directory of rows that are not open, which are those of a replica no longer
     * @throws StoreUnusableException if it cannot be written
     */
    public static void becomeStore(Path copy) {
        try {
            StoreFolder.complete(copy);
        } catch (IOException e) {
            throw StoreUnusableException.of(copy, e);
        }
    }

    /**
     * Takes over all rows of a store that was written with one replica, on the member that leads, before {@link #lead}. Its directory is renamed
     * then. What was interrupted is continued by another call, also after a restart. Blocks.
     *
     * @param store the directory of that store, which no process has open
     * @param path the way of batches
     * @throws io.smqtt.config.ConfigurationException if these rows have sessions or messages already
     * @throws StoreInUseException if a process has the store open
     * @throws io.smqtt.spi.StoreDamagedException if a part of the store cannot be read
     * @throws StoreUnusableException if a batch was not committed, or the store cannot be read or renamed
     */
    public void takeOver(Path store, CommitPath path) {
        led = true;
        try {
            new TakeOver(store, database, path, settings).run();
        } catch (IOException | RocksDBException e) {
            throw StoreUnusableException.of(store, e);
        } catch (MalformedBytesException e) {
            throw Damage.of(e, store);
        } finally {
            led = this.store != null;
        }
    }

    /**
     * Whether a store is open over these rows, or is being opened, so that they must not be replaced.
     *
     * @return true from the begin of {@link #takeOver} or {@link #lead} to their failure, or to {@link #endLead}
     */
    public boolean isLed() {
        return led;
    }

    /**
     * Opens the store over these rows, on the member that leads. Blocks, because it writes its clock.
     *
     * @param path the way of its batches; a failure of it ends the store
     * @return the store; closed before this object, which stays open
     * @throws StoreUnusableException if nothing can be written, because this member does not lead any more
     */
    public BrokerStore lead(CommitPath path) {
        database.commitBy(path);
        led = true;
        try {
            RocksBrokerStore opened = new RocksBrokerStore(folder, database, settings, new LinuxMachine(), false);
            store = opened;
            return opened;
        } catch (RocksDBException e) {
            throw StoreUnusableException.of(folder.directory(), e);
        } finally {
            led = store != null;
        }
    }

    /**
     * Visits the clients of all sessions that outlive their connection, on a member that does not lead. Blocks, about a second for a million of them.
     *
     * @param visitor is called for each
     * @throws io.smqtt.spi.StoreDamagedException if a row cannot be read
     * @throws StoreUnusableException if the rows are closed, or cannot be read
     */
    public void visitClients(ClientVisitor visitor) {
        try {
            StoreClock clock = StoreClock.after(MetaRows.clock(database), System::nanoTime, new LinuxMachine());
            SessionRow headers = new SessionRow(new MessageRow(clock));
            database.read(view -> {
                for (Scan rows = view.all(Family.SESSION); rows.isValid(); rows.next()) {
                    visit(headers.decode(Keys.first(rows.key()), rows.value()), clock, visitor);
                }
                return true;
            });
        } catch (RocksDBException e) {
            throw Damage.orFailure(e, folder.database());
        } catch (MalformedBytesException e) {
            throw Damage.of(e, folder.database());
        }
    }

    private static void visit(StoredSession session, StoreClock clock, ClientVisitor visitor) {
        long end = session.expiresAtMillis();
        boolean lasts = end == StoredSession.CONNECTED || end == StoredSession.NEVER;
        if (session.expirySeconds() > 0) {
            visitor.client(session.clientId(), lasts ? Long.MAX_VALUE : end - clock.millis());
        }
    }

    /** Receives the clients that have sessions. */
    public interface ClientVisitor {

        /**
         * A client has a session.
         *
         * @param clientId the client identifier
         * @param restMillis the time until the session expires, 0 or less if it has; {@link Long#MAX_VALUE} if it does not, or the client was connected
         */
        void client(String clientId, long restMillis);
    }

    /**
     * Closes the store over these rows, if there is one: it writes nothing any more, and the rows may be replaced. Blocks until the batches that were
     * submitted are committed or have failed, and then for some seconds at most until reads, a compaction and a backup have ended. Can be called
     * more than once.
     */
    public void endLead() {
        RocksBrokerStore open = store;
        if (open != null) {
            open.close();
            database.commitBy(null);
            store = null;
            led = false;
        }
    }

    /**
     * The bytes of operations that were submitted to the store over these rows and wait for their batch.
     *
     * @return 0 without a store
     */
    public long waitingBytes() {
        RocksBrokerStore open = store;
        return open == null ? 0 : open.statistics().queuedBytes();
    }

    /** Closes the rows. Blocks; can be called more than once. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            database.commitBy(null);
            database.close();
            folder.close();
        }
    }
}
