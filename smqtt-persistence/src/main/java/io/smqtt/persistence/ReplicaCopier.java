// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Makes stores with one replica of the replicas in a data directory. Found by {@link java.util.ServiceLoader}; an implementation has a public
 * constructor without parameters and no state.
 */
public interface ReplicaCopier {

    /**
     * Copies the store of a node, as its replica in a data directory has it. Of a node that serves it, everything that was acknowledged before the
     * call is copied, and the node makes the copy. Of one that does not run, the rows and all entries of the log behind them are copied: with
     * what was acknowledged also what may have been refused at the end. Blocks.
     *
     * @param data the data directory
     * @param node the node whose store it is; null for that of the owner of the directory
     * @param target a directory that does not exist; a store with one replica afterwards
     * @param patience maximum time to wait for a process that serves the store
     * @throws StoreInUseException if a process has the replica open, and does not serve it
     * @throws java.io.UncheckedIOException if there is no such replica, or the copy cannot be written
     * @throws io.smqtt.spi.StoreDamagedException if the replica is damaged
     */
    void copy(Path data, @Nullable String node, Path target, Duration patience);
}
