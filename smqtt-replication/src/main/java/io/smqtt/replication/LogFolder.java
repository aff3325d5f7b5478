// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.persistence.NativeLibrary;
import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.StoreDamagedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Comparator;
import java.util.Set;
import java.util.stream.Stream;
import org.jgroups.protocols.raft.LogEntry;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * The open directory of a log. It is read as a whole when it is opened: an entry that is damaged or missing is found before any entry is
 * applied.
 *
 * <pre>
 * db/       the database
 * synced    the mark of what is on stable storage ({@link SyncMark}); exists from the moment at which the log may be used
 * snapshot  the last snapshot that the engine has stored here, if there is one
 * </pre>
 */
final class LogFolder implements AutoCloseable {

    private static final String MARK = "synced";
    private static final String DATABASE = "db";

    private final Path directory;
    private final LogDatabase database;
    private final SyncMark mark;
    private final LogState found;

    private LogFolder(Path directory, LogDatabase database, SyncMark mark, LogState found) {
        this.directory = directory;
        this.database = database;
        this.mark = mark;
        this.found = found;
    }

    /**
     * Opens a log, and creates one if there is none. Blocks; reads all of it.
     *
     * @param voter whether the node may vote if the log is new
     * @throws StoreDamagedException if a part of it is damaged or missing
     * @throws StoreUnusableException if it cannot be read or written, or is open already
     */
    static LogFolder open(Path directory, boolean voter) {
        Path path = directory.toAbsolutePath().normalize();
        try {
            boolean exists = Files.exists(path.resolve(MARK));
            if (exists && !Files.isDirectory(path.resolve(DATABASE))) {
                throw ReplicaDamage.of(path, "its database is missing", null);
            }
            createDirectory(path);
            NativeLibrary.load(path);
            LogDatabase database = LogDatabase.open(path.resolve(DATABASE), !exists);
            try {
                return exists ? existing(path, database) : created(path, database, voter);
            } catch (IOException | RocksDBException | RuntimeException e) {
                database.close();
                throw e;
            }
        } catch (RocksDBException e) {
            throw ReplicaDamage.of(path, e);
        } catch (MalformedBytesException e) {
            throw ReplicaDamage.of(path, String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            throw StoreUnusableException.of(path, e);
        }
    }

    private static void createDirectory(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        Files.createDirectories(directory);
        if (directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        }
    }

    private static LogFolder created(Path directory, LogDatabase database, boolean voter)
            throws IOException, RocksDBException {
        byte[] row = database.state();
        LogState state = row == null ? LogState.created(new SecureRandom().nextLong(), voter) : LogState.decode(row);
        if (state.revision() > 1) {
            throw ReplicaDamage.of(directory, "its file " + MARK + " is missing", null);
        }
        try (WriteBatch batch = new WriteBatch()) {
            database.write(batch, state, true);
        }
        return new LogFolder(directory, database, SyncMark.create(directory.resolve(MARK), state.revision()), state);
    }

    private static LogFolder existing(Path directory, LogDatabase database) throws IOException, RocksDBException {
        byte[] row = database.state();
        if (row == null) {
            throw ReplicaDamage.of(directory, "its state is missing", null);
        }
        LogState state = LogState.decode(row);
        SyncMark mark = SyncMark.open(directory.resolve(MARK));
        try {
            long synced = mark.read();
            if (state.revision() < synced) {
                throw ReplicaDamage.of(
                        directory,
                        "its changes " + (state.revision() + 1) + " to " + synced + " are missing, behind entry "
                                + state.last(),
                        null);
            }
            Reader reader = new Reader(directory, state);
            database.visit(reader::next);
            reader.requireEnd();
            return new LogFolder(directory, database, mark, state);
        } catch (IOException | RocksDBException | RuntimeException e) {
            mark.close();
            throw e;
        }
    }

    /** The state that was found. */
    LogState found() {
        return found;
    }

    /** The identities of the founders that were found. */
    Set<Long> founders() {
        try {
            return database.founders();
        } catch (RocksDBException e) {
            throw ReplicaDamage.of(directory, e);
        }
    }

    /** The logs of all members that were found. */
    KnownLogs known() {
        try {
            return database.known();
        } catch (RocksDBException e) {
            throw ReplicaDamage.of(directory, e);
        } catch (MalformedBytesException e) {
            throw ReplicaDamage.of(directory, String.valueOf(e.getMessage()), e);
        }
    }

    LogDatabase database() {
        return database;
    }

    Path directory() {
        return directory;
    }

    /** The file of the snapshot. */
    Path snapshot() {
        return directory.resolve("snapshot");
    }

    /** Writes a batch with the state after it. */
    void write(WriteBatch batch, LogState state, boolean sync) throws IOException, RocksDBException {
        database.write(batch, state, sync);
        if (sync) {
            mark.advance(state.revision());
        }
    }

    @Override
    public void close() throws IOException {
        database.close();
        mark.close();
    }

    /** Deletes the directory. The log must be closed. */
    void delete() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** Compares all entries with the state. */
    private static final class Reader {

        private final Path directory;
        private final LogState state;
        private long expected;
        private long term;

        Reader(Path directory, LogState state) {
            this.directory = directory;
            this.state = state;
            expected = state.firstReadable();
        }

        void next(long index, byte[] record) {
            if (index > state.last() || index < expected) {
                throw ReplicaDamage.of(directory, index, "it is not part of the log", null);
            }
            if (index > expected) {
                throw ReplicaDamage.of(directory, expected, "it is missing", null);
            }
            LogEntry entry;
            try {
                entry = EntryRecord.decode(index, record);
            } catch (MalformedBytesException e) {
                throw ReplicaDamage.of(directory, index, e.getMessage(), e);
            }
            if (entry.term() < term || entry.term() > state.term()) {
                throw ReplicaDamage.of(directory, index, "it has term " + entry.term(), null);
            }
            term = entry.term();
            expected++;
        }

        void requireEnd() {
            if (state.last() > 0 && expected <= state.last()) {
                throw ReplicaDamage.of(directory, expected, "it is missing", null);
            }
        }
    }
}
