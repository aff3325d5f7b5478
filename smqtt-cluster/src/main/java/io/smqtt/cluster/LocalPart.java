// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.SharedFilter;
import java.util.List;

/** The local broker, as the cluster node uses it. Must not block. */
@OnClusterLoop
interface LocalPart {

    /**
     * A node became known.
     *
     * @param nodeId its name
     * @param outbox where messages for it go
     * @return is told its routes, all on the cluster's loop
     */
    RemoteRoutes join(String nodeId, PeerOutbox outbox);

    /**
     * Messages came from another node.
     *
     * @param messages in their order; each is to be routed to subscribers of this node and then released
     */
    void deliver(List<InboundMessage> messages);

    /**
     * A message that one node could not give to a member of a group goes to another member.
     *
     * @param message the message, whose ticket is held for it
     * @param group the group
     * @param nodeId the node that is not asked again
     */
    void redispatch(OutboundMessage message, SharedFilter group, String nodeId);

    /**
     * Members of a group are there on another node: what waits here for absent ones may go to them.
     *
     * @param group the group
     * @param nodeId the node
     */
    void handOver(SharedFilter group, String nodeId);

    /**
     * Tells whether a member of a group is there on this node and can take what waits elsewhere.
     *
     * @param group the group
     * @return true if one is
     */
    boolean canTakeMore(SharedFilter group);

    /**
     * A message was retained on another node: to be stored here, which is told back like what is retained here.
     *
     * @param message the message; an empty payload removes what is there
     * @param refused called on any thread if it is not stored
     */
    void retain(ApplicationMessage message, Runnable refused);

    /**
     * Waits for what is being routed.
     *
     * @param done called on any thread when all that was routed up to now is in the outboxes
     */
    void afterRouted(Runnable done);

    /** Is told the routes of one other node. */
    interface RemoteRoutes {

        /**
         * A row came, changed or went.
         *
         * @param row the row as it is now
         */
        void changed(RouteRow row);

        /** The node is forgotten: it has no routes any more, and begins anew if it comes back. */
        default void left() {}
    }
}
