// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import org.jspecify.annotations.Nullable;

/** A change of the rows of one session. All but the first three are refused if the session is sealed or has another epoch. */
sealed interface Change {

    String client();

    /** The epoch of the session that the change is for; that of the claim in the first three. */
    long epoch();

    /** The session is here from now on: that of another group, or a new one. */
    record Install(String client, long epoch, @Nullable SessionRows rows) implements Change {}

    /** The session takes nothing more before a later claim. */
    record Seal(String client, long epoch) implements Change {}

    /** The session has left. */
    record Drop(String client, long epoch) implements Change {}

    /** Its client has connected. */
    record Attach(String client, long epoch) implements Change {}

    /**
     * A message for the session.
     *
     * @param sequence that of a QoS 2 message in the session of its publisher
     */
    record Enqueue(String client, long epoch, Message message, long sequence) implements Change {}

    /** PUBREC of the client. */
    record Received(String client, long epoch, long packet) implements Change {}

    /** PUBACK or PUBCOMP of the client. */
    record Remove(String client, long epoch, long packet) implements Change {}

    /** PUBLISH at QoS 2 of the client. */
    record Receive(String client, long epoch, int packet) implements Change {}

    /** PUBREL of the client. */
    record Release(String client, long epoch, int packet) implements Change {}
}
