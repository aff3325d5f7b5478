// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * A subscription of this node.
 *
 * @param subscriber the client identifier, or the name of an in-process consumer
 * @param filter the topic filter, without the share name
 * @param shareName the group of a shared subscription, or null
 * @param maximumQos the granted quality of service
 */
public record SubscriptionInfo(
        String subscriber, String filter, @Nullable String shareName, QoS maximumQos) {

    static SubscriptionInfo of(Subscription subscription) {
        return new SubscriptionInfo(
                subscription.subscriber().id(),
                subscription.filter().value(),
                subscription.shareName(),
                subscription.maximumQos());
    }
}
