// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;

/** The way of a batch of rows to all replicas of a store. */
public interface CommitPath {

    /**
     * Commits a batch, and waits until {@link StoreReplica#apply} has applied it on this member. Called on the committing thread.
     *
     * @param batch the encoded rows; not changed afterwards
     * @throws IOException if it was not committed, or if that is not known: this member does not lead any more, or is being closed
     */
    void commit(byte[] batch) throws IOException;

    /**
     * Whether a batch would be taken now. Any thread.
     *
     * @return true while this member leads
     */
    boolean isOpen();
}
