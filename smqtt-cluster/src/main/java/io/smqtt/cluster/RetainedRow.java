// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.RetainedVersion;
import org.jspecify.annotations.Nullable;

/**
 * The state of a topic's retained message, as one node sends it to another.
 *
 * @param kind the kind of the row
 * @param topic the topic
 * @param version the version of this state
 * @param message the message; null without one
 */
record RetainedRow(
        Kind kind,
        String topic,
        RetainedVersion version,
        @Nullable ApplicationMessage message) {

    /** The kind of a row; its ordinal is its number in a frame. */
    enum Kind {
        /** The topic has a message. */
        MESSAGE,
        /** The message of the topic was removed: the receiver keeps the removal for a while. */
        CLEARED,
        /** An unknown message of the topic was removed: the receiver keeps the removal only if it knows a message. */
        CLEAR
    }

    static RetainedRow of(RetainedVersion version, ApplicationMessage message) {
        return new RetainedRow(Kind.MESSAGE, message.topic().value(), version, message);
    }

    /** Its approximate size in a frame. */
    int bytes() {
        int bytes = 32 + version.nodeId().length() + topic.length();
        return message == null
                ? bytes
                : bytes + message.payload().size() + message.properties().encodedBytes();
    }
}
