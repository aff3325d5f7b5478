// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;
import io.smqtt.topic.SharedFilter;
import org.jspecify.annotations.Nullable;

/**
 * A subscription of this node.
 *
 * @param subscriber the client identifier, or the name of an in-process consumer
 * @param filter the topic filter, without the share name
 * @param shareName the group of a shared subscription, or null
 * @param maximumQos the granted quality of service
 * @param noLocal whether the subscriber's own messages are not delivered to it
 * @param retainAsPublished whether the retain flag is kept
 */
public record SubscriptionInfo(
        String subscriber,
        String filter,
        @Nullable String shareName,
        QoS maximumQos,
        boolean noLocal,
        boolean retainAsPublished) {

    static SubscriptionInfo of(Subscription subscription) {
        return new SubscriptionInfo(
                subscription.subscriber().id(),
                subscription.filter().value(),
                subscription.shareName(),
                subscription.maximumQos(),
                subscription.noLocal(),
                subscription.retainAsPublished());
    }

    /**
     * The filter as a client writes it.
     *
     * @return the filter, with {@code $share/} and the group of a shared subscription
     */
    public String clientFilter() {
        return shareName == null ? filter : SharedFilter.PREFIX + shareName + '/' + filter;
    }
}
