// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import org.jspecify.annotations.Nullable;

/**
 * The state of a topic's retained message, as one node sends it to another.
 *
 * @param kind what it tells
 * @param topic the topic
 * @param version when that came about
 * @param message the message; null unless there is one
 */
record RetainedRow(
        Kind kind,
        String topic,
        RetainedVersion version,
        @Nullable ApplicationMessage message) {

    /** The kind of a row; its position is its number in a frame. */
    enum Kind {
        /** The topic has a message. */
        MESSAGE,
        /** The topic had one and has none any more: whoever hears it keeps that for a while. */
        CLEARED,
        /** Somebody wants it to have none, and the sender knows of none: only who knows of one keeps that. */
        CLEAR
    }

    static RetainedRow of(RetainedVersion version, ApplicationMessage message) {
        return new RetainedRow(Kind.MESSAGE, message.topic().value(), version, message);
    }

    /** About how long it becomes in a frame. */
    int bytes() {
        int bytes = 32 + version.nodeId().length() + topic.length();
        return message == null
                ? bytes
                : bytes + message.payload().size() + message.properties().encodedBytes();
    }
}
