// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.function.Consumer;

/** The local broker, as the cluster node uses it. Must not block. */
@OnClusterLoop
interface LocalPart extends GroupCalls.Local {

    /**
     * A node became known.
     *
     * @param nodeId its name
     * @param outbox the outbox for its messages
     * @return receives its routes, on the cluster's loop
     */
    RemoteRoutes join(String nodeId, PeerOutbox outbox);

    /**
     * Routes messages from another node.
     *
     * @param messages in their order; each must be routed to subscribers of this node and then released
     */
    void deliver(List<InboundMessage> messages);

    /**
     * Routes a message to a local member of a group, or queues it here, because another node could not deliver it. If it was parked, a
     * member may have it: then all nodes are asked before.
     *
     * @param message the message, whose ticket is held for it
     * @param group the group
     */
    void redispatch(OutboundMessage message, SharedFilter group);

    /**
     * Another node has connected members of a group: messages that wait here for absent ones may go to them.
     *
     * @param group the group
     * @param nodeId the node
     */
    void handOver(SharedFilter group, String nodeId);

    /**
     * Stores a message that was retained on another node. The result is reported like that of a local one.
     *
     * @param message the message; an empty payload removes the existing one
     * @param refused called on any thread if it is not stored, because of a limit or since the topic has a later change
     */
    void retain(ApplicationMessage message, Runnable refused);

    /**
     * Stores the version of a retained message, or of its removal, again.
     *
     * @param topic its topic
     */
    void rewriteRetained(String topic);

    /**
     * Stores a note, and when that is safe, the versions of topics again.
     *
     * @param note the note, not changed after this call
     * @param topics the topics
     */
    void noteRetained(byte[] note, List<String> topics);

    /**
     * Routes a message that was parked here for a node whose sessions this node serves now, to subscribers of this node.
     *
     * @param message the message
     * @param homes the nodes whose sessions are to get it, see {@link Homes}
     * @param done receives on any thread whether it was accepted
     */
    default void sentOn(ApplicationMessage message, String homes, Consumer<Boolean> done) {
        done.accept(true);
    }

    /**
     * Waits for messages that are being routed.
     *
     * @param done called on any thread when all messages that were routed up to now are in the outboxes
     */
    void afterRouted(Runnable done);

    /** Receives the routes of one other node. */
    interface RemoteRoutes {

        /**
         * A row was added, changed or removed.
         *
         * @param row the new state of the row
         */
        void changed(RouteRow row);

        /** The node was removed: its routes are removed, and start empty if it returns. */
        default void left() {}
    }
}
