// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.persistence.StoreReplica;
import io.smqtt.persistence.StoreSettings;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a store as the state of a group. An entry is a batch of the committing thread.
 *
 * <pre>
 * 0  version 1
 * 1  the batch
 * </pre>
 */
final class StoreState implements ReplicatedState {

    private static final byte VERSION = 1;

    private final StoreSettings limits;
    private volatile @Nullable StoreReplica rows;

    /**
     * Creates a state that is not open.
     *
     * @param limits limits and memory of the rows
     */
    StoreState(StoreSettings limits) {
        this.limits = limits;
    }

    @Override
    public synchronized void open(Path directory) {
        rows = StoreReplica.open(directory, limits);
    }

    @Override
    public synchronized void close() {
        StoreReplica open = rows;
        rows = null;
        if (open != null) {
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

    /** Encodes a batch. */
    static byte[] encode(byte[] batch) {
        byte[] entry = new byte[batch.length + 1];
        entry[0] = VERSION;
        System.arraycopy(batch, 0, entry, 1, batch.length);
        return entry;
    }

    @Override
    public boolean isReplaceable() {
        StoreReplica open = rows;
        return open != null && !open.isLed();
    }

    @Override
    public long applied() {
        StoreReplica open = rows;
        return open == null ? 0 : open.applied();
    }

    @Override
    public void apply(long index, byte[] source, int offset, int length) {
        if (length < 1 || source[offset] != VERSION) {
            throw new MalformedBytesException("entry " + index + " is no batch of version " + VERSION);
        }
        rows().apply(index, source, offset + 1, length - 1);
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
            return copy.applied();
        }
    }
}
