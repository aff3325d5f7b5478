// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import org.jspecify.annotations.Nullable;

/**
 * A subscriber that has handled each message when {@link #deliver} returns, on any event loop, and keeps none. It gets what is published at this node: for the
 * cluster it is a relay, whose subscriptions other nodes do not learn of.
 */
public interface ImmediateSubscriber extends Subscriber {

    @Override
    default @Nullable RoutingLoop owner() {
        return null;
    }

    @Override
    default boolean isOnline() {
        return true;
    }

    @Override
    default int inFlightCount() {
        return 0;
    }

    @Override
    default boolean mayHold() {
        return false;
    }

    @Override
    default String relaysTo() {
        return id();
    }
}
