// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.topic.TopicFilter;
import org.jspecify.annotations.Nullable;

/**
 * Receives the changes of subscriptions, one after the other in their order. Called by the thread that changes the index, while it
 * holds the lock: an observer must return at once and must not use the index.
 */
public interface SubscriptionObserver {

    /**
     * A subscription was added. A subscription that replaces another of the same subscriber, filter and share name is not reported.
     *
     * @param subscription the subscription
     */
    void added(Subscription subscription);

    /**
     * A subscription was removed.
     *
     * @param subscriber its subscriber
     * @param filter its filter
     * @param shareName its share name, null if it was not shared
     */
    void removed(Subscriber subscriber, TopicFilter filter, @Nullable String shareName);
}
