// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** The reason why a delivery ended on a node without being delivered or dropped: the message continues elsewhere. */
public enum Elsewhere {
    /** It waited in a session that moved to another node, where a new delivery began. */
    MOVED,
    /** The session got the same message by another node, or before a crash of this one. */
    DUPLICATE,
    /**
     * It was sent to another node, for a member of a shared group there, and that node failed before it answered. It may have the message,
     * and another member gets the message, too.
     */
    UNCONFIRMED,
    /** The session was found in the store or came from another node, and the message was sent to the client there. */
    SENT_BEFORE
}
