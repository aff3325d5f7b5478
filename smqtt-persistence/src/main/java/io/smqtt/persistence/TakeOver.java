// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the rows of a store with one replica into those of a replica, as its own batches. The store is read only; after the last batch
 * its directory is renamed. A row in the target names the store from the first batch on, so that an interrupted copy is
 * continued, and a complete one is not repeated.
 */
final class TakeOver {

    private static final Logger LOG = LoggerFactory.getLogger(TakeOver.class);
    private static final String NAME_FILE = "TAKEN-OVER-AS";
    private static final String DONE_SUFFIX = ".taken-over";
    private static final int BATCH_BYTES = 1 << 20;
    private static final long LINE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Path source;
    private final Database target;
    private final CommitPath way;
    private final StoreSettings settings;
    private long rows;
    private long bytes;
    private long lineNanos = System.nanoTime();

    /**
     * Creates a transfer that has not begun.
     *
     * @param source the directory of the store, which no process has open
     * @param target the rows of the replica
     * @param way the way of batches into them
     */
    TakeOver(Path source, Database target, CommitPath way, StoreSettings settings) {
        this.source = source;
        this.target = target;
        this.way = way;
        this.settings = settings;
    }

    /**
     * Copies all rows, unless they were copied before, and renames the directory of the store. Blocks.
     *
     * @throws ConfigurationException if the target has sessions or messages that are not of this store
     * @throws IOException if a batch was not committed, or a file cannot be written; it can be tried again
     */
    void run() throws IOException, RocksDBException {
        String name = name();
        byte[] row = target.get(Family.META, MetaRows.key(MetaRows.TAKEN_OVER));
        Mark mark = row == null ? null : Mark.decode(row);
        if (mark == null || !mark.isDone || !mark.name.equals(name)) {
            boolean continues = mark != null && !mark.isDone && mark.name.equals(name);
            if (!continues) {
                requireEmpty();
            }
            copy(name);
        }
        rename();
    }

    private String name() throws IOException {
        Path file = source.resolve(NAME_FILE);
        if (!Files.exists(file)) {
            Path fresh = source.resolve(NAME_FILE + ".new");
            try (FileChannel out = FileChannel.open(
                    fresh, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                String text = Long.toHexString(new SecureRandom().nextLong());
                out.write(java.nio.ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
                out.force(true);
            }
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        }
        return Files.readString(file);
    }

    private void requireEmpty() throws RocksDBException {
        for (Family family : Family.values()) {
            boolean hasRows = family != Family.META
                    && target.read(view -> view.all(family).isValid());
            if (hasRows) {
                throw new ConfigurationException(
                        "storage.dir",
                        "has a store of one replica in " + source
                                + ", but the replicated store of this node has sessions or messages already. Nothing was changed. "
                                + "Move that directory away, or start all nodes with empty directories beside their stores");
            }
        }
    }

    private void copy(String name) throws IOException, RocksDBException {
        LOG.info("the store in {} becomes the content of the replicated store of this node", source);
        try (RocksBrokerStore store = RocksBrokerStore.open(source, settings)) {
            commit(mark(name, false));
            store.database().read(view -> {
                copyAll(view);
                return true;
            });
        } catch (CommitFailure e) {
            throw e.cause;
        }
        commit(mark(name, true));
        LOG.info("the replicated store has all of the store in {}: {} rows, {} bytes", source, rows, bytes);
    }

    private void copyAll(View view) throws RocksDBException {
        RowBatch batch = new RowBatch(0);
        for (Family family : Family.values()) {
            for (Scan scan = view.all(family); scan.isValid(); scan.next()) {
                byte[] key = scan.key();
                if (family != Family.META || !MetaRows.isOfAReplica(key)) {
                    batch.put(family.ordinal(), key, scan.value());
                    rows++;
                }
                if (batch.size() >= BATCH_BYTES) {
                    commitRows(batch);
                    batch = new RowBatch(0);
                }
            }
        }
        if (!batch.isEmpty()) {
            commitRows(batch);
        }
    }

    private void commitRows(RowBatch batch) {
        try {
            commit(batch);
        } catch (IOException e) {
            throw new CommitFailure(e);
        }
        bytes += batch.size();
        if (System.nanoTime() - lineNanos > LINE_NANOS) {
            lineNanos = System.nanoTime();
            LOG.info("{} rows, {} bytes of the store in {} are in the replicated store", rows, bytes, source);
        }
    }

    private void commit(RowBatch batch) throws IOException {
        way.commit(batch.toByteArray());
    }

    private static RowBatch mark(String name, boolean isDone) {
        RowBatch batch = new RowBatch(0);
        batch.put(
                Family.META.ordinal(),
                MetaRows.key(MetaRows.TAKEN_OVER),
                new ByteWriter(32).u8(isDone ? 1 : 0).text(name).toByteArray());
        return batch;
    }

    /** The store stays as it was, under another name: an operator removes it. */
    private void rename() throws IOException {
        Path done = source.resolveSibling(source.getFileName() + DONE_SUFFIX);
        for (int i = 2; Files.exists(done); i++) {
            done = source.resolveSibling(source.getFileName() + DONE_SUFFIX + '-' + i);
        }
        Files.move(source, done, StandardCopyOption.ATOMIC_MOVE);
        LOG.info("{} is not used any more, and was renamed to {}", source, done);
    }

    private record Mark(boolean isDone, String name) {

        static Mark decode(byte[] row) {
            ByteReader in = new ByteReader(row);
            return new Mark(in.u8() == 1, in.text());
        }
    }

    /** A failed commit within a reading. */
    private static final class CommitFailure extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final transient IOException cause;

        CommitFailure(IOException cause) {
            super(cause);
            this.cause = cause;
        }
    }
}
