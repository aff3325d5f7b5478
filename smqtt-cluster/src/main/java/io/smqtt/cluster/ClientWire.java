// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.Collection;

/** Sends client frames to nodes, this one included. */
@OnClusterLoop
interface ClientWire {

    /** This node, in its present run. */
    NodeIdentity self();

    /** The other nodes that can be reached. */
    Collection<String> others();

    /** Whether a run of a node can be reached; of this one, too. */
    boolean reaches(String nodeId, long epoch);

    /** Says something to a node; to this one as well, which hears it a little later. */
    void send(String nodeId, Frame.Client frame);

    /** A later time than any that this node has heard of, near the wall clock. */
    long nextClock();

    /** Another node has named a time. */
    void heardClock(long clock);

    /** Monotonic time in nanoseconds. */
    long nanoTime();

    /** Has something run later on the cluster's loop. */
    void later(long millis, Runnable task);

    /** Has something run on the cluster's loop. */
    @AnyThread
    void execute(Runnable task);
}
