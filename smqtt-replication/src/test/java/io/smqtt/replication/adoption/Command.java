// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

/** The content of an entry of a log. */
sealed interface Command {

    /** The first entry of a term. */
    record Begin() implements Command {}

    /** A member with a new disk may vote. */
    record Admit(int member, int disk) implements Command {}

    /** From here on this run of a node serves the group. The index of the entry is the number of the reign. */
    record Reign(int node, int run) implements Command {}

    /**
     * A change by the server of the group.
     *
     * @param reign that of the server
     * @param number counts the batches of the reign
     */
    record Batch(long reign, long number, Change change) implements Command {}

    /**
     * To the register: the next epoch of a session.
     *
     * @param token the same for all copies of one claim
     */
    record Claim(String client, String token) implements Command {}

    /** To the register: the session is in this group, in this epoch. */
    record Settle(String client, long epoch, int group) implements Command {}
}
