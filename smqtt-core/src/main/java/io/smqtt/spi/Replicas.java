// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

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

    /**
     * Returns the places of {@code cluster.nodes} that are held by nodes with other names than those that have held them first.
     *
     * @return the name of the node by its place; empty if there are none
     */
    default Map<String, String> holders() {
        return Map.of();
    }

    /**
     * Gives the place of a lost node to another one, which gets what the lost one has stored from the other nodes when it starts. Returns at once.
     *
     * @param lost the name of the lost node, which is not connected
     * @param by the name of the node that is to hold its place; it may not have started yet
     * @return completes with the place when all other nodes with replicas of the lost one have stored that, within some 15 s. Otherwise with {@link
     *     IllegalArgumentException} if such a change is never possible, or {@link IllegalStateException} if it is not possible now; the message
     *     says why. A repeated call does no harm
     */
    default CompletionStage<String> replace(String lost, String by) {
        return CompletableFuture.failedFuture(new IllegalStateException("this node has no replicas"));
    }
}
