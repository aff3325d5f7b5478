// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.topic.TopicFilter;
import org.jspecify.annotations.Nullable;

/**
 * Is told which subscriptions come and go, one call after the other in the order of the changes. Called by whoever changes
 * the index, while it holds the lock: an observer notes what it is told and returns, and does not touch the index.
 */
public interface SubscriptionObserver {

    /**
     * A subscription came; one that replaces another of the same subscriber, filter and share name is not told.
     *
     * @param subscription the subscription
     */
    void added(Subscription subscription);

    /**
     * A subscription went.
     *
     * @param subscriber whose it was
     * @param filter its filter
     * @param shareName its share name, or null if it was not shared
     */
    void removed(Subscriber subscriber, TopicFilter filter, @Nullable String shareName);
}
