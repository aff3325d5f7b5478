// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/** A subscriber that is only somebody. */
final class TestSubscriber implements Subscriber {

    volatile boolean online = true;
    volatile boolean relay;
    volatile boolean takes = true;
    volatile int inFlight;
    volatile long removedAt = Long.MAX_VALUE;
    private final String id;

    TestSubscriber(String id) {
        this.id = id;
    }

    Subscription to(String filter) {
        return to(filter, null, QoS.AT_LEAST_ONCE, Subscription.NO_IDENTIFIER);
    }

    Subscription to(String filter, @Nullable String shareName) {
        return to(filter, shareName, QoS.AT_LEAST_ONCE, Subscription.NO_IDENTIFIER);
    }

    Subscription to(String filter, @Nullable String shareName, QoS qos, int identifier) {
        return new Subscription(this, TopicFilter.of(filter), shareName, qos, false, false, identifier);
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public @Nullable RoutingLoop owner() {
        return null;
    }

    @Override
    public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        throw new AssertionError("nothing is delivered here");
    }

    @Override
    public boolean isOnline() {
        return online;
    }

    @Override
    public @Nullable String relaysTo() {
        return relay ? "elsewhere" : null;
    }

    @Override
    public boolean takes(TopicName topic) {
        return takes;
    }

    @Override
    public int inFlightCount() {
        return inFlight;
    }

    @Override
    public String toString() {
        return id;
    }
}
