// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.function.Consumer;

/**
 * A replica of a group: the component that is assumed to be correct. {@link Raft} is one, {@link FaultyEngines} has some
 * that are not.
 */
interface Consensus {

    /** Whether this replica believes that it leads. It may be wrong. */
    boolean leads();

    /** Which node leads, as far as this replica knows; -1 if it does not. */
    int leader();

    /** State of this replica, which may be old. */
    GroupState state();

    /** Index of the last entry that is applied. */
    long applied();

    /** Whether this replica counts for a majority; not yet after its disk was wiped. */
    boolean isVoter();

    /**
     * Proposes an entry.
     *
     * @param done called with the result when it is applied; never called if it is not known whether it will be
     */
    void propose(Command command, Consumer<Outcome> done);

    /** Called about ten times a second. */
    void tick();

    /** Takes a message of another replica. */
    void receive(int from, RaftMessage message);

    /** Makes replicas. */
    @FunctionalInterface
    interface Engine {

        /**
         * Starts a replica.
         *
         * @param node where it is
         * @param group whose replica it is
         */
        Consensus start(Node node, int group, Disk disk);
    }
}
