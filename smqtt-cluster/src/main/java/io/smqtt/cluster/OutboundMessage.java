// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.ByteWriter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/** A message to one peer, with the hold on its publisher's acknowledgement. */
final class OutboundMessage extends Outbound {

    private ApplicationMessage message;
    private boolean toAll;
    private boolean durable;
    private List<SharedFilter> groups = List.of();
    private RouteTicket ticket = RouteTicket.NONE;
    private long row;
    private boolean refused;
    private boolean again;
    private boolean inherited;

    OutboundMessage(ApplicationMessage message) {
        this.message = message;
    }

    /**
     * A message that was read from a park. One for members of groups may have come to these.
     *
     * @param ofGroups the groups of which one member each is to get it; if there are none it goes to all others
     */
    static OutboundMessage parked(ApplicationMessage message, List<SharedFilter> ofGroups, long row) {
        OutboundMessage parked = new OutboundMessage(message);
        parked.toAll = ofGroups.isEmpty();
        parked.durable = parked.toAll;
        parked.groups = ofGroups;
        parked.row = row;
        if (!ofGroups.isEmpty()) {
            parked.mayHaveCome();
        }
        return parked;
    }

    /** The same with another row, parked again. */
    OutboundMessage parkedAgain(long number) {
        return parked(message, groups, number);
    }

    /**
     * A message that is parked for another node, whose sessions the peer serves. It stays there until the peer has it.
     *
     * @param nodes the nodes whose sessions are to get it, see {@link Homes}
     */
    static OutboundMessage inherited(ApplicationMessage message, String nodes, RouteTicket ticket) {
        OutboundMessage inherited = new OutboundMessage(message);
        inherited.inherited = true;
        inherited.homes(nodes);
        inherited.toAll = true;
        inherited.hold(ticket);
        return inherited;
    }

    /** The same for all, to be parked for another node. The publisher waits for both. */
    OutboundMessage copyToPark() {
        OutboundMessage copy = new OutboundMessage(message);
        copy.toAll(true);
        copy.hold(ticket);
        return copy;
    }

    /** Whether it is parked for another node. */
    boolean isInherited() {
        return inherited;
    }

    /** Its number in the {@link ParkedMessages} of the peer, or 0. */
    long row() {
        return row;
    }

    /** It is parked for the peer itself: only that node's own sessions get it then. */
    void parkedAs(long number) {
        row = number;
        homes(Homes.NONE);
    }

    @Override
    void mayHaveCome() {
        if (isExactlyOnce()) {
            message = message.repeated();
        }
    }

    @Override
    void refuse() {
        refused = true;
    }

    /** Whether the peer could not store it, and its publisher has not got a positive acknowledgement. */
    boolean isRefusedToPublisher() {
        return refused && row == 0 && !isInherited();
    }

    /** It is sent once more. */
    void sendAgain() {
        refused = false;
        again = true;
    }

    /** Whether it is sent once more, behind messages with later rows. */
    boolean isSentAgain() {
        return again;
    }

    boolean isRefused() {
        return refused;
    }

    /** Splits the groups off as another message. The publisher waits for both. */
    OutboundMessage splitGroups() {
        OutboundMessage split = new OutboundMessage(message);
        split.groups = takeGroups();
        split.hold(ticket);
        return split;
    }

    /** Gives the message to a member of each of its groups here; it is {@linkplain #settle settled} after that. */
    void giveTo(BiConsumer<OutboundMessage, SharedFilter> redispatch) {
        groups.forEach(group -> redispatch.accept(this, group));
    }

    ApplicationMessage message() {
        return message;
    }

    /**
     * Adds the subscribers that are not in a shared group.
     *
     * @param forDurable whether one of them outlives its connection
     */
    void toAll(boolean forDurable) {
        toAll = true;
        durable |= forDurable;
    }

    void addGroup(SharedFilter group) {
        if (groups.isEmpty()) {
            groups = List.of(group);
        } else {
            groups = Stream.concat(groups.stream(), Stream.of(group)).toList();
        }
    }

    /** Removes the groups, because other nodes get the message for them. */
    List<SharedFilter> takeGroups() {
        List<SharedFilter> taken = groups;
        groups = List.of();
        return taken;
    }

    /** Removes one group; false if it is already removed. */
    boolean takeGroup(SharedFilter group) {
        boolean there = groups.contains(group);
        if (there) {
            groups = groups.stream().filter(other -> !other.equals(group)).toList();
        }
        return there;
    }

    /** Holds the publisher's acknowledgement until {@link #settle}; once, even if groups are added later. */
    void hold(RouteTicket offered) {
        if (ticket == RouteTicket.NONE && offered != RouteTicket.NONE) {
            offered.holdElsewhere();
            ticket = offered;
        }
    }

    RouteTicket ticket() {
        return ticket;
    }

    @Override
    int count() {
        return 1;
    }

    @Override
    int deliveries() {
        return (toAll ? 1 : 0) + groups.size();
    }

    @Override
    boolean isToAll() {
        return toAll;
    }

    @Override
    boolean isParked() {
        return durable && !isAtMostOnce();
    }

    /** The shared groups on the peer that get it. */
    List<SharedFilter> groups() {
        return groups;
    }

    /** Whether a shared group on the peer gets it. */
    boolean hasGroups() {
        return !groups.isEmpty();
    }

    @Override
    void settle(boolean success) {
        refused |= !success && isInherited(); // it stays where it is parked, whatever becomes of this one
        RouteTicket held = ticket;
        ticket = RouteTicket.NONE;
        held.release(success);
    }

    @Override
    boolean isAtMostOnce() {
        return message.qos() == QoS.AT_MOST_ONCE;
    }

    boolean isExactlyOnce() {
        return message.qos() == QoS.EXACTLY_ONCE;
    }

    @Override
    int bytes() {
        return message.footprintBytes();
    }

    @Override
    void countDelivered(BrokerObserver observer) {
        for (int i = deliveries(); i > 0; i--) { // one call for each delivery that the router has counted
            observer.messageDelivered(message.qos(), message.payload().size());
        }
    }

    @Override
    void writeTo(ByteWriter target, long nowNanos) {
        ForwardedMessage.writeBlock(target, message, toAll, groups, nowNanos);
    }
}
