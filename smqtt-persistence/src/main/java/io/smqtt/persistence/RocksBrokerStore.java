// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoreObserver;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredPage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in a directory of its own, in an embedded RocksDB database. A message becomes safe with the commit that covers
 * it: with {@link StoreWriter#requireSync()} it survives a power loss, without it the end of the process.
 *
 * <p>The clock continues while the broker is down, by the machine's uptime if it was not restarted, otherwise by the wall clock. {@link
 * #recover} skips sessions that ended meanwhile and have no will. They and expired retained messages are removed in the background.
 * Sequence numbers of messages that were removed before they were written may be used again after a crash.
 *
 * <p>Messages of more than 512 bytes that are submitted for several sessions in one batch are stored once, smaller ones
 * with each session.
 */
public final class RocksBrokerStore implements BrokerStore {

    private static final Logger LOG = LoggerFactory.getLogger(RocksBrokerStore.class);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);

    private final StoreFolder folder;
    private final Database database;
    private final StoreClock clock;
    private final SessionNumbers numbers;
    private final Store store;
    private final Committer committer;
    private final QueueReader queues;
    private final ExecutorService reader = thread("smqtt-store-reader");
    private final ExecutorService background = thread("smqtt-store-background");
    private final AtomicBoolean closed = new AtomicBoolean();
    private final boolean owns;

    /**
     * Creates a store over an open database. Blocks, because it writes.
     *
     * @param owns whether the database and the folder are closed with the store
     */
    RocksBrokerStore(
            StoreFolder folder, Database database, StoreSettings settings, StoreClock.Machine machine, boolean owns)
            throws RocksDBException {
        this.owns = owns;
        this.folder = folder;
        this.database = database;
        clock = StoreClock.after(MetaRows.clock(database), settings.ticker(), machine);
        numbers = new SessionNumbers(MetaRows.sessionNumber(database));
        DiskQuota quota = new DiskQuota(database, settings.maxBytes(), background);
        Heads heads = new Heads(database);
        store = new Store(database, clock, numbers, MetaRows.nextBody(database), quota, heads);
        committer = new Committer(store, settings.maxQueuedBytes());
        queues = new QueueReader(database, clock, heads);
        quota.measure();
        store.commitAlone();
        BackupRequests requests = new BackupRequests(folder.directory(), background, this::backup);
        requests.forgetAll();
        store.everySecond(requests::look);
        store.queue(committer::queuedBytes);
    }

    /**
     * Opens a store, and creates one if the directory is empty or missing. Blocks.
     *
     * @param directory the directory of the store only; made readable for its owner only, as is the directory above it if that is missing
     * @param settings limits and memory
     * @return the store
     * @throws StoreInUseException if it is open already, here or in another process
     * @throws io.smqtt.spi.StoreDamagedException if a part of it cannot be read, or a newer program wrote it
     * @throws StoreUnusableException if the directory cannot be read or written
     */
    public static RocksBrokerStore open(Path directory, StoreSettings settings) {
        return open(directory, settings, new LinuxMachine());
    }

    static RocksBrokerStore open(Path directory, StoreSettings settings, StoreClock.Machine machine) {
        StoreFolder folder = StoreFolder.open(directory.toAbsolutePath().normalize());
        Database database = new Database(folder.database(), settings);
        try {
            NativeLibrary.load(folder.directory());
            if (!folder.isFresh()) {
                WriteAheadLog.requireWhole(folder.database(), folder.wasOfAnotherBoot(machine.bootId()));
            }
            database.open(folder.isFresh());
            if (StoreFolder.bytesOf(folder.database()) <= settings.verifyBytes()) {
                database.verify();
            }
            RocksBrokerStore store = new RocksBrokerStore(folder, database, settings, machine, true);
            if (folder.isFresh()) {
                folder.created();
            }
            folder.ofBoot(machine.bootId());
            return store;
        } catch (RocksDBException e) {
            throw closed(folder, database, Damage.orFailure(e, folder.database()));
        } catch (MalformedBytesException e) {
            throw closed(folder, database, Damage.of(e, folder.database()));
        } catch (StoreUnusableException e) {
            throw closed(folder, database, e);
        } catch (UncheckedIOException e) {
            throw closed(folder, database, StoreUnusableException.of(folder.directory(), e));
        } catch (RuntimeException e) {
            throw closed(folder, database, e);
        }
    }

    private static RuntimeException closed(StoreFolder folder, Database database, RuntimeException cause) {
        database.close();
        folder.close();
        return cause;
    }

    private static ExecutorService thread(String name) {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    Database database() {
        return database;
    }

    @Override
    public void observe(StoreObserver observer) {
        store.figures().observe(observer);
    }

    @Override
    public void recover(RecoveryVisitor visitor) {
        new Recovery(database, clock).visit(visitor);
        try {
            store.loadRemovals();
        } catch (RocksDBException e) {
            throw Damage.orFailure(e, folder.database());
        } catch (MalformedBytesException e) {
            throw Damage.of(e, folder.database());
        }
        committer.start();
    }

    @Override
    public StoreWriter writer(Executor loop, CommitListener listener) {
        return new LoopWriter(committer, loop, listener);
    }

    @Override
    public void read(
            long session, long fromSequence, int maxMessages, int maxBytes, Executor loop, Consumer<StoredPage> reply) {
        committer.afterwards(() -> {
            try {
                reader.execute(() -> tell(queues.read(session, fromSequence, maxMessages, maxBytes), loop, reply));
            } catch (RejectedExecutionException e) {
                tell(new StoredPage(List.of(), new IllegalStateException("the store is closed")), loop, reply);
            } catch (OutOfMemoryError e) { // no thread could be started
                tell(new StoredPage(List.of(), e), loop, reply);
            }
        });
    }

    private static void tell(StoredPage page, Executor loop, Consumer<StoredPage> reply) {
        tell(loop, () -> reply.accept(page));
    }

    private static void tell(Executor loop, Runnable answer) {
        try {
            loop.execute(answer);
        } catch (RejectedExecutionException e) {
            // the loop has ended
        }
    }

    @Override
    public void find(long session, Executor loop, Consumer<FoundSession> found, Consumer<@Nullable Throwable> missing) {
        committer.afterwards(() -> {
            try {
                reader.execute(() -> answer(session, loop, found, missing));
            } catch (RejectedExecutionException | OutOfMemoryError e) { // the store is closed, or there is no thread
                tell(loop, () -> missing.accept(e));
            }
        });
    }

    private void answer(
            long session, Executor loop, Consumer<FoundSession> found, Consumer<@Nullable Throwable> missing) {
        try {
            FoundSession read = new Recovery(database, clock).find(session);
            tell(loop, read == null ? () -> missing.accept(null) : () -> found.accept(read));
        } catch (RuntimeException | OutOfMemoryError e) { // on any failure the reader waits for an answer
            tell(loop, () -> missing.accept(e));
        }
    }

    @Override
    public long newSession() {
        long number = numbers.take();
        if (numbers.needsBlock()) {
            committer.afterwards(() -> {}); // wakes the thread up; the block is stored with that commit
        }
        return number;
    }

    @Override
    public long clockMillis() {
        return clock.millis();
    }

    @Override
    public boolean isHealthy() {
        return store.isHealthy() && !closed.get();
    }

    /**
     * Returns the statistics of the store.
     *
     * @return the current figures
     */
    public StoreStatistics statistics() {
        return store.figures().read(committer.queuedBytes());
    }

    /**
     * Copies the store as it is now, while it runs. Files are linked where the target is on the same disk, so that this
     * takes little time and space. Blocks; not on an event loop.
     *
     * @param target a directory that does not exist; holds a store afterwards
     * @throws UncheckedIOException if it cannot be written
     */
    public void backup(Path target) {
        Path copy = target.toAbsolutePath().normalize();
        try {
            if (Files.exists(copy)) {
                throw new FileAlreadyExistsException(copy.toString());
            }
            Path first = firstMissing(copy);
            try {
                Files.createDirectories(copy);
                StoreFolder.restrict(copy);
                database.checkpoint(copy.resolve("db"));
                StoreFolder.complete(copy);
            } catch (IOException | RocksDBException | RuntimeException e) {
                StoreFolder.deleteAll(
                        first); // an incomplete copy must not look like a backup, and must not block the next one
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the backup cannot be written: " + e, e);
        } catch (RocksDBException e) {
            throw new UncheckedIOException("the backup cannot be written: " + e.getMessage(), new IOException(e));
        }
    }

    /** The first missing directory of a path. */
    private static Path firstMissing(Path path) {
        Path parent = path.getParent();
        return parent == null || Files.exists(parent) ? path : firstMissing(parent);
    }

    /**
     * Copies a store, whether it is open in another process or not. Blocks.
     *
     * @param directory a store
     * @param target a directory that does not exist, writable for the process that has the store open
     * @param patience maximum time to wait for the process that has the store open
     * @throws UncheckedIOException if the backup failed
     * @throws io.smqtt.spi.StoreDamagedException if a part of the store cannot be read
     */
    public static void backup(Path directory, Path target, Duration patience) {
        try (RocksBrokerStore store = open(directory, StoreSettings.defaults())) {
            store.backup(target);
        } catch (StoreInUseException e) {
            requestBackup(directory, target, patience);
        }
    }

    /**
     * Asks the process that serves a store, or a replica of one, for a copy. Blocks.
     *
     * @param directory the directory of the store, or of the rows of the replica
     * @param target a directory that does not exist, writable for that process; a store with one replica afterwards
     * @param patience maximum time to wait
     * @throws UncheckedIOException if the backup failed
     */
    public static void requestBackup(Path directory, Path target, Duration patience) {
        ExecutorService nobody = thread("smqtt-store-nobody");
        new BackupRequests(directory.toAbsolutePath().normalize(), nobody, path -> {})
                .ask(target.toAbsolutePath().normalize(), patience);
    }

    /**
     * Whether a directory has a store.
     *
     * @param directory any path
     * @return true if there is one, damaged or not
     */
    public static boolean exists(Path directory) {
        return Files.exists(directory.resolve("FORMAT")) || Files.exists(directory.resolve("db"));
    }

    /** Commits the submitted operations and closes the files. If a backup reads files for long, they are closed after it. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        committer.close();
        reader.shutdown();
        store.finish();
        if (!owns) {
            database.stopCompacting();
            background.shutdown();
            awaitEnd(reader);
            awaitEnd(background);
        } else if (database.close(CLOSE_WITHIN)) {
            folder.close();
        } else {
            LOG.warn("the store is still in use, for example by a backup; it closes when that ends");
            background.execute(() -> {
                database.close();
                folder.close();
            });
        }
        background.shutdown();
    }

    private static void awaitEnd(ExecutorService ending) {
        try {
            if (!ending.awaitTermination(CLOSE_WITHIN.toSeconds(), TimeUnit.SECONDS)) {
                LOG.warn(
                        "the store is still being read, for example by a backup; its rows are replaced when that ends");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
