// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RetainedReplication;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.AnyThread;

/**
 * The retained messages of the other nodes, for the broker.
 *
 * @param node this node
 * @param awaits whether publishers wait until the others have their changes
 */
@AnyThread
record RetainedOfOthers(ClusterNode node, boolean awaits) implements RetainedReplication {

    @Override
    public boolean isLatest(ApplicationMessage message) {
        return node.retained().isLatest(message);
    }

    @Override
    public boolean holdsTickets() {
        if (awaits) {
            node.retained().expect();
        }
        return awaits;
    }

    @Override
    public void hold(RouteTicket ticket) {
        ticket.hold();
        if (!node.execute(() -> node.retained().await(ticket))) {
            ticket.release(false);
        }
    }
}
