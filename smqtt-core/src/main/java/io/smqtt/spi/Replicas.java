// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.util.List;

/** The stores of this node and of others that this node holds a replica of, for operators. Does not block. */
@AnyThread
public interface Replicas {

    /**
     * Returns the state of the replicas of this node's own store.
     *
     * @return a snapshot
     */
    ReplicaStatus own();

    /**
     * Returns the states of all groups of replicas that this node is a member of.
     *
     * @return a snapshot, by the name of the node whose store it is
     */
    List<ReplicaStatus> status();

    /**
     * Whether replicas of this node have ended, and a restart would help: the disk takes writes again, and they cannot be opened without one.
     *
     * @return false while all replicas are in use, and while the cause of their end lasts
     */
    boolean needsRestart();
}
