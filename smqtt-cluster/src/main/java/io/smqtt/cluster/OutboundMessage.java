// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.stream.Stream;

/**
 * A message on its way to one peer, with the hold on its publisher's acknowledgement. Belongs to the publisher's event loop
 * until it is queued, to the cluster's loop from then on.
 */
final class OutboundMessage {

    private final ApplicationMessage message;
    private boolean toAll;
    private List<SharedFilter> groups = List.of();
    private RouteTicket ticket = RouteTicket.NONE;
    private long sequence;

    OutboundMessage(ApplicationMessage message) {
        this.message = message;
    }

    ApplicationMessage message() {
        return message;
    }

    void toAll() {
        toAll = true;
    }

    void addGroup(SharedFilter group) {
        if (groups.isEmpty()) {
            groups = List.of(group);
        } else {
            groups = Stream.concat(groups.stream(), Stream.of(group)).toList();
        }
    }

    /** Takes the groups away: others get the message in their name. */
    List<SharedFilter> takeGroups() {
        List<SharedFilter> taken = groups;
        groups = List.of();
        return taken;
    }

    /** Holds the publisher's acknowledgement until {@link #settle}; once, however often the message is added to. */
    void hold(RouteTicket offered) {
        if (ticket == RouteTicket.NONE && offered != RouteTicket.NONE) {
            offered.hold();
            ticket = offered;
        }
    }

    /** How many deliveries the router has counted for it. */
    int deliveries() {
        return (toAll ? 1 : 0) + groups.size();
    }

    RouteTicket ticket() {
        return ticket;
    }

    /** Gives the hold up. Can be called again, to no effect. */
    void settle(boolean success) {
        RouteTicket held = ticket;
        ticket = RouteTicket.NONE;
        held.release(success);
    }

    boolean isAtMostOnce() {
        return message.qos() == QoS.AT_MOST_ONCE;
    }

    boolean isExactlyOnce() {
        return message.qos() == QoS.EXACTLY_ONCE;
    }

    int bytes() {
        return message.footprintBytes();
    }

    long sequence() {
        return sequence;
    }

    void number(long next) {
        sequence = next;
    }

    ForwardedMessage forwarded() {
        return new ForwardedMessage(message, toAll, groups);
    }
}
