// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.Collection;

/** Sends client frames to nodes, this one included. */
@OnClusterLoop
interface ClientWire {

    /** This node, in its current run. */
    NodeIdentity self();

    /** The other reachable nodes. */
    Collection<String> others();

    /** Whether {@link #others} has all processes that are connected. Otherwise one of them may have any session, and cannot be asked for it yet. */
    default boolean knowsOthers() {
        return true;
    }

    /** Those of them that keep sessions of others: all but front nodes. */
    default Collection<String> keepers() {
        return others();
    }

    /** Whether this node keeps sessions of others: it is no front node. */
    default boolean isKeeper() {
        return true;
    }

    /** Whether a node runs a version that does not know that others serve its sessions: it answers nothing about that. */
    default boolean ignoresServers(String nodeId) {
        return false;
    }

    /** A node that is unreachable, and not known here, may have any subscription: what matches none of its later routes was kept in vain. */
    default void introduce(String nodeId) {
        // nothing is kept
    }

    /** Whether a run of a node is reachable; also for this node. */
    boolean reaches(String nodeId, long epoch);

    /** Sends a frame to a node. A frame to this node is handled a little later. */
    void send(String nodeId, Frame.Client frame);

    /** Returns a time later than all known ones, near the wall clock. */
    long nextClock();

    /** Records a time of another node. */
    void heardClock(long clock);

    /** Monotonic time in nanoseconds. */
    long nanoTime();

    /** Runs a task later on the cluster's loop. */
    void later(long millis, Runnable task);

    /** Runs a task on the cluster's loop. */
    @AnyThread
    void execute(Runnable task);
}
