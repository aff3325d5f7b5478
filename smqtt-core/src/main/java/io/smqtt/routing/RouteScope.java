// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.function.Predicate;

/**
 * A part of the subscribers that match a message, for {@link Router#route(RoutingLoop, ApplicationMessage, RouteTicket, RouteScope)}:
 * those that pass the test. The router makes no object for it: one scope serves many messages, or a message brings its own.
 */
public interface RouteScope extends Predicate<Subscriber> {

    /**
     * Whether a subscriber may get the message.
     *
     * @param subscriber a subscriber that matches
     * @return true if it is in the scope
     */
    @Override
    boolean test(Subscriber subscriber);

    /**
     * Whether subscriptions that are not shared are in the scope.
     *
     * @return false if the message is for groups only
     */
    boolean unshared();

    /**
     * The groups of shared subscriptions in the scope. One member of each gets the message; others get nothing.
     *
     * @return the groups, maybe none
     */
    List<SharedFilter> groups();

    /**
     * A group cannot take the message: it has no member in the scope that is online, or its queue is more than half full. During the call
     * of the router.
     *
     * @param group one of {@link #groups()}
     */
    void refused(SharedFilter group);
}
