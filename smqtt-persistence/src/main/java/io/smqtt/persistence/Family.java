// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.nio.charset.StandardCharsets;

/** The column families: one kind of row each, with its key. */
enum Family {
    /** Name: clock, end of the block of session numbers, notes of the broker. */
    META("default"),
    /** Session: its header. */
    SESSION("session"),
    /** Session and filter: options of the subscription. */
    SUBSCRIPTION("subscription"),
    /** Session: the bounds of its messages, their number and bytes. */
    TAIL("tail"),
    /** Session and sequence number: a message, or the number of its body. */
    QUEUE("queue"),
    /** Session and sequence number: the delivery state, if it changed after the commit of the message. */
    DELIVERY("delivery"),
    /** Session and packet identifier: a QoS 2 message that waits for PUBREL, or the identifier of the next message (8 bytes). */
    RECEIVED("received"),
    /** Number: the body of a message that is queued for several sessions. */
    BODY("body"),
    /** Number of a body: the number of rows of {@link #QUEUE} that refer to it. */
    REFERENCE("reference"),
    /** Topic name: the retained message or its removal, with its version in a cluster. */
    RETAINED("retained"),
    /** A removed session that may still have rows. */
    REMOVED("removed");

    private final String familyName;

    Family(String familyName) {
        this.familyName = familyName;
    }

    byte[] nameBytes() {
        return familyName.getBytes(StandardCharsets.UTF_8);
    }
}
