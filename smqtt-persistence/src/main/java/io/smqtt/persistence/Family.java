// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.nio.charset.StandardCharsets;

/** The column families: one kind of row each, with its key. */
enum Family {
    /** Name: clock, end of the block of session numbers. */
    META("default"),
    /** Session: its header. */
    SESSION("session"),
    /** Session and filter: options of the subscription. */
    SUBSCRIPTION("subscription"),
    /** Session: where its messages begin and end, how many there are, how many bytes. */
    TAIL("tail"),
    /** Session and sequence number: a message, or the number of its body. */
    QUEUE("queue"),
    /** Session and sequence number: how far the delivery is, if that changed after the message was committed. */
    DELIVERY("delivery"),
    /** Session and packet identifier: a QoS 2 message that waits for PUBREL. */
    RECEIVED("received"),
    /** Number: a message that several sessions wait for. */
    BODY("body"),
    /** Number of a body: how many rows of {@link #QUEUE} name it. */
    REFERENCE("reference"),
    /** Topic name: the retained message. */
    RETAINED("retained"),
    /** Session that was removed while rows of it may be left. */
    REMOVED("removed");

    private final String familyName;

    Family(String familyName) {
        this.familyName = familyName;
    }

    byte[] nameBytes() {
        return familyName.getBytes(StandardCharsets.UTF_8);
    }
}
