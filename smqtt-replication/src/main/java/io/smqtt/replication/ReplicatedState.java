// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * The state to which the entries of a group are applied, one at a time, on a thread of the group, which waits for it. The state is in a directory,
 * which can be replaced by a copy of that of another member.
 */
interface ReplicatedState {

    /**
     * Opens the state, and creates it if the directory is missing. Blocks. Called before all others, and again after {@link #close()}. A state that is
     * open, because it is in use, stays so.
     *
     * @param directory the directory of the state only
     * @throws io.smqtt.spi.StoreDamagedException if a part of it is damaged
     */
    void open(Path directory);

    /** Closes the state. What was applied and not written to stable storage may be lost. Can be called more than once. */
    void close();

    /** Whether the state may be closed, and opened again with other content. False if it is in use. */
    boolean isReplaceable();

    /**
     * Ends the use of the state by others, because it is to be replaced. Called on a thread of the group, which must not be blocked.
     *
     * @return completes when the state {@link #isReplaceable}
     */
    default CompletableFuture<Void> release() {
        return CompletableFuture.completedFuture(null);
    }

    /**
     * The index of the last entry that the state has. It is stored with that entry, so that after a crash no entry is applied twice, and
     * none is left out.
     *
     * @return 0 or more
     */
    long applied();

    /**
     * Applies an entry. A failure ends the group on this node: a state that has left out an entry would differ from the others for good.
     *
     * @param index the index of the entry; grows, not always by one
     * @param source has the data of the proposer
     * @param offset where the data begins
     * @param length the number of its bytes
     */
    void apply(long index, byte[] source, int offset, int length) throws Exception;

    /**
     * Writes to stable storage what was applied before this call. May take long; not called on the thread that applies.
     *
     * @return the index up to which the state is stored: the log needs no entry before it
     */
    long persist() throws Exception;

    /**
     * Copies the state as it is at one moment. Not called on the thread that applies, which may have to wait for a short time.
     *
     * @param directory does not exist
     * @return the index of the last entry that the copy has
     */
    long checkpoint(Path directory) throws Exception;

    /**
     * Reads all of a copy that came from another member. Blocks for long.
     *
     * @param directory the copy
     * @return the index of the last entry that it has
     * @throws Exception if a part of it is damaged
     */
    long verify(Path directory) throws Exception;
}
