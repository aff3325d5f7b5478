// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.topic.TopicFilter;
import org.jspecify.annotations.Nullable;

/** Fills subscription indexes. */
final class IndexFixture {

    private static final int SUBSCRIBERS = 1_000;

    private IndexFixture() {}

    /** The texts of so many filters. */
    static String[] texts(FilterKind kind, int count) {
        String[] texts = new String[count];
        for (int i = 0; i < count; i++) {
            texts[i] = kind.filter(i);
        }
        return texts;
    }

    /** An index with one subscription for each text, of a thousand subscribers in turn. */
    static SubscriptionIndex index(String[] texts) {
        Subscriber[] subscribers = new Subscriber[SUBSCRIBERS];
        for (int i = 0; i < SUBSCRIBERS; i++) {
            subscribers[i] = new NamedSubscriber("client-" + i);
        }
        SubscriptionIndex index = new SubscriptionIndex(SharedStrategy.ROUND_ROBIN);
        for (int i = 0; i < texts.length; i++) {
            index.add(subscription(subscribers[i % SUBSCRIBERS], texts[i]));
        }
        return index;
    }

    /** A QoS 1 subscription. */
    static Subscription subscription(Subscriber subscriber, String filter) {
        return subscription(subscriber, TopicFilter.of(filter));
    }

    /** A QoS 1 subscription. */
    static Subscription subscription(Subscriber subscriber, TopicFilter filter) {
        return new Subscription(subscriber, filter, null, QoS.AT_LEAST_ONCE, false, false, Subscription.NO_IDENTIFIER);
    }

    /** A subscriber that takes messages and does nothing with them. */
    record NamedSubscriber(String id) implements Subscriber {

        @Override
        public @Nullable RoutingLoop owner() {
            return null;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            // only the index is measured
        }

        @Override
        public boolean isOnline() {
            return true;
        }

        @Override
        public int inFlightCount() {
            return 0;
        }
    }
}
