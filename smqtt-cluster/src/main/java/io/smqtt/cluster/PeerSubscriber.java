// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.netty.util.concurrent.FastThreadLocal;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.topic.SharedFilter;
import org.jspecify.annotations.Nullable;

/**
 * Another node as a subscriber of the router; its filters are that node's routes. In shared groups a node has one seat per member, each of
 * which is such a subscriber. Any event loop.
 */
final class PeerSubscriber implements Subscriber {

    /** The subscription identifier of routes of durable sessions. A merged delivery has the identifiers of all its routes. */
    static final int DURABLE = 1;

    private final String nodeId;
    private final int number;
    private final PeerOutbox outbox;
    private final boolean awaits;
    private final FastThreadLocal<LoopBuffers> buffers;

    /**
     * Creates a subscriber.
     *
     * @param nodeId the node
     * @param number the index of the peer on this node, from 0
     * @param outbox the outbox for its messages
     * @param awaits whether publishers wait until the node has accepted the message
     * @param buffers the buffers of the current event loop
     */
    PeerSubscriber(String nodeId, int number, PeerOutbox outbox, boolean awaits, FastThreadLocal<LoopBuffers> buffers) {
        this.nodeId = nodeId;
        this.number = number;
        this.outbox = outbox;
        this.awaits = awaits;
        this.buffers = buffers;
    }

    /** Another seat of the same node. */
    PeerSubscriber seat() {
        return new PeerSubscriber(nodeId, number, outbox, awaits, buffers);
    }

    String nodeId() {
        return nodeId;
    }

    @Override
    public String relaysTo() {
        return nodeId;
    }

    @Override
    public String id() {
        return "node " + nodeId;
    }

    @Override
    public @Nullable RoutingLoop owner() {
        return null;
    }

    @Override
    public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        LoopBuffers pass = buffers.get();
        boolean held = awaits && message.qos() != QoS.AT_MOST_ONCE;
        RouteTicket awaited = held ? ticket : RouteTicket.NONE;
        String shareName = subscription.shareName();
        if (shareName == null) {
            boolean durable = subscription.identifier() == DURABLE;
            pass.toAll(number, outbox, message, awaited, durable);
        } else {
            pass.toGroup(number, outbox, message, awaited, new SharedFilter(shareName, subscription.filter()));
        }
    }

    @Override
    public boolean isOnline() {
        return outbox.isReachable();
    }

    @Override
    public int inFlightCount() {
        return outbox.size();
    }

    @Override
    public boolean mayHold() {
        return awaits;
    }
}
