// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.persistence.ReplicaPosition;
import io.smqtt.persistence.StoreReplica;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.persistence.StoreUnusableException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rows of a store as the state of a group. An entry is a {@link StoreEntry}. A batch is applied only if it is of the current reign, and no batch
 * with its number or a later one of that reign was. All members decide that from the log alone, so all decide the same.
 */
final class StoreState implements ReplicatedState {

    private static final Logger LOG = LoggerFactory.getLogger(StoreState.class);

    private final StoreSettings limits;
    private final Reigns reigns;
    private volatile @Nullable StoreReplica rows;
    private volatile ReplicaPosition last = ReplicaPosition.NONE; // of rows that were closed

    /**
     * Creates a state that is not open.
     *
     * @param limits limits and memory of the rows
     * @param reigns receives the reigns of the group
     */
    StoreState(StoreSettings limits, Reigns reigns) {
        this.limits = limits;
        this.reigns = reigns;
    }

    @Override
    public synchronized void open(Path directory) {
        if (isLed()) {
            return;
        }
        StoreReplica opened = StoreReplica.open(directory, limits);
        rows = opened;
        if (opened.position().reign() != last.reign()) {
            reigns.found(opened.position().reign());
        }
    }

    @Override
    public synchronized void close() {
        StoreReplica open = rows;
        if (open != null) {
            last = open.position();
            rows = null;
            open.close();
        }
    }

    /** The rows, until the next checkpoint. */
    StoreReplica rows() {
        StoreReplica open = rows;
        if (open == null) {
            throw new IllegalStateException("the rows are closed");
        }
        return open;
    }

    /** The position of the rows; while they are closed, that of those before. */
    ReplicaPosition position() {
        StoreReplica open = rows;
        return open == null ? last : open.position();
    }

    /** The node that has begun the last reign; null if there was none, or while the rows are closed. */
    @Nullable
    String server() {
        StoreReplica open = rows;
        return open == null ? null : open.server();
    }

    /** Closes the store over the rows, if there is one. Blocks. */
    void endLead() {
        StoreReplica open = rows;
        if (open != null) {
            open.endLead();
        }
    }

    /** Whether a store is open over the rows. */
    boolean isLed() {
        StoreReplica open = rows;
        return open != null && open.isLed();
    }

    /** Whether the rows take writes; after a failed one they do so only when they were opened again. Blocks. */
    boolean takesWrites() {
        try {
            persist();
            return true;
        } catch (StoreUnusableException e) {
            LOG.warn("the rows take no writes: {}", e.getMessage());
            return false;
        }
    }

    /** The bytes of operations that wait in the store over the rows; 0 without one. */
    long waitingBytes() {
        StoreReplica open = rows;
        return open == null ? 0 : open.waitingBytes();
    }

    @Override
    public boolean isReplaceable() {
        StoreReplica open = rows;
        return open != null && !open.isLed();
    }

    @Override
    public CompletableFuture<Void> release() {
        return isLed() ? reigns.replaced() : CompletableFuture.completedFuture(null);
    }

    @Override
    public long applied() {
        return position().entry();
    }

    @Override
    public void apply(long index, byte[] source, int offset, int length) {
        StoreEntry entry;
        try {
            entry = StoreEntry.decode(source, offset, length);
        } catch (MalformedBytesException e) {
            throw new MalformedBytesException("entry " + index + " cannot be applied: " + e.getMessage());
        }
        StoreReplica open = rows();
        if (entry instanceof StoreEntry.Begin begin) {
            open.reign(open.position().reignFrom(index), begin.reign().node());
            reigns.applied(index, begin.reign());
        } else if (entry instanceof StoreEntry.Batch batch) {
            apply(open, index, batch);
        }
    }

    /** One without a reign counts as long as there was none: it is of the time before there were any. A later one is of a program that knows none. */
    private void apply(StoreReplica open, long index, StoreEntry.Batch batch) {
        ReplicaPosition before = open.position();
        boolean isBeforeAll = batch.reign() == 0 && before.reign() == 0;
        if (batch.reign() == 0 && !isBeforeAll) {
            throw new MalformedBytesException("entry " + index
                    + " cannot be applied: it was written by a version of smqtt without reigns, behind reign "
                    + before.reign());
        }
        if (isBeforeAll || before.takes(batch.reign(), batch.number())) {
            open.apply(before.behind(index, batch.number()), batch.source(), batch.offset(), batch.length());
        } else {
            LOG.info(
                    "entry {} is not applied: it is batch {} of reign {}, the last one was batch {} of reign {}",
                    index,
                    batch.number(),
                    batch.reign(),
                    before.batch(),
                    before.reign());
        }
    }

    @Override
    public synchronized long persist() {
        StoreReplica open = rows;
        return open == null ? 0 : open.persist();
    }

    @Override
    public synchronized long checkpoint(Path directory) {
        return rows().checkpoint(directory);
    }

    @Override
    public long verify(Path directory) {
        try (StoreReplica copy = StoreReplica.open(directory, limits.withVerifyBytes(Long.MAX_VALUE))) {
            return copy.position().entry();
        }
    }

    /** Receives what ends the use of the rows by a store. */
    interface Reigns {

        /**
         * The entry of a reign was applied on this member, possibly one that it had before its last end.
         *
         * @param entry the index of the entry, which is the number of the reign
         */
        void applied(long entry, Reign reign);

        /**
         * Rows were opened in which there is another reign than in those before: at the start, and when a checkpoint of another member has come.
         *
         * @param entry the number of that reign
         */
        void found(long entry);

        /**
         * The rows are to be replaced by those of another member, and have a store over them.
         *
         * @return completes when the store is closed
         */
        CompletableFuture<Void> replaced();
    }
}
