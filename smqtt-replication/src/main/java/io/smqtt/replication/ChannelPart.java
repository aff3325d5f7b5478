// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import org.jgroups.Address;
import org.jgroups.View;
import org.jgroups.util.ExtendedUUID;
import org.jspecify.annotations.Nullable;

/** A part of a node in its channel that belongs to no group. Called by threads of the channel, which it does not block. */
interface ChannelPart {

    /** A channel without such a part. */
    ChannelPart NONE = new ChannelPart() {};

    /** Sets the way to other nodes. Called before the channel is connected. */
    default void linkedBy(NodeLink link) {}

    /** Adds what other nodes must know of this one to its address. */
    default void describe(ExtendedUUID address) {}

    /** Why a node has no part with this one; null if it has. Called for each message. */
    default @Nullable String reason(ExtendedUUID node) {
        return null;
    }

    /** Receives the view of the channel, with all nodes. */
    default void viewed(View view) {}

    /** Receives a message of another node with the number of {@link PlaceMessage}. */
    default void received(Address from, byte[] message) {}

    /** The way to other nodes. */
    interface NodeLink {

        /** Sends a message, or drops it if it cannot be sent. Does not block. */
        void send(Address node, PlaceMessage message);

        /** Why this node leaves out another one; null if it does not. */
        @Nullable
        String reason(Address node);

        /** Asks for the reasons of all nodes again: the groups get another view if they differ. */
        void judgeAgain();
    }
}
