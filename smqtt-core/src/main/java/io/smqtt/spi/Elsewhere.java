// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** Why a delivery ended on a node that neither delivered nor dropped the message: somebody has it elsewhere. */
public enum Elsewhere {
    /** It waited in a session that moved to another node, where it came about anew. */
    MOVED,
    /** The session got the same message by another node. */
    DUPLICATE,
    /**
     * It was sent to another node, for a member of a shared group there, and that node was lost before it answered: it may
     * have the message, and another member gets it too.
     */
    UNCONFIRMED,
    /** The session was found in the store, or came from another node, and the client was sent the message there. */
    SENT_BEFORE
}
