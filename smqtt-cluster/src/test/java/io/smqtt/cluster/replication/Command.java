// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import org.jspecify.annotations.Nullable;

/** An entry of a replicated log. */
sealed interface Command {

    /** The first entry of a term. */
    record Begin() implements Command {}

    /**
     * To the cluster's group: the next epoch of a client's session.
     *
     * @param token the same for all copies of one claim
     */
    record Claim(String client, String token) implements Command {}

    /** To the cluster's group: the session is in this group from now on, and may be served. */
    record Settle(String client, long epoch, int group) implements Command {}

    /** To the cluster's group: which sessions there are, and where. */
    record Lookup() implements Command {}

    /** To the cluster's group: the retained message of a topic. */
    record Retain(String topic, long epoch, long operation, long number) implements Command {}

    /** To the group that has a session: takes nothing more for it before a later epoch; returns its state. */
    record Seal(String client, long epoch) implements Command {}

    /**
     * To the group that gets a session.
     *
     * @param state as it was sealed; null for a new session
     * @param server the node with the client's connection; -1 if there is none
     * @param life the incarnation of that node
     */
    record Install(String client, long epoch, @Nullable SessionState state, int server, int life, boolean will)
            implements Command {}

    /** To the group that a session has left. */
    record Drop(String client, long epoch) implements Command {}

    /**
     * A message for a session.
     *
     * @param epoch of the session, as the router knows it
     * @param line the sequence that the number belongs to
     * @param sequence given by the publisher's log; for QoS 2
     */
    record Enqueue(String client, long epoch, String line, long sequence, Message message) implements Command {}

    /** The will that was due has been routed. */
    record WillRouted(String client, long willEpoch) implements Command {}

    /** A write by the server of a session. */
    record Write(String client, long epoch, long operation, Change change) implements Command {}

    /** A change of a session. */
    sealed interface Change {

        /** PUBLISH at QoS 2 from the client. */
        record Receive(int identifier, Message message) implements Change {}

        /** PUBREL from the client. */
        record Release(int identifier) implements Change {}

        /** PUBREC from the client. */
        record Received(long identifier) implements Change {}

        /** PUBACK or PUBCOMP from the client. */
        record Remove(long identifier) implements Change {}

        /** The end of the connection; with DISCONNECT, the will is not published. */
        record Leave(boolean withoutWill) implements Change {}
    }
}
