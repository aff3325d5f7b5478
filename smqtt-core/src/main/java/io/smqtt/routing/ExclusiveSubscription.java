// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.QoS;
import io.smqtt.topic.TopicFilter;

/** A subscription to a filter that only one client at a time may have in this form, {@code $exclusive/FILTER}. A class of its own, so that others take no memory for it. */
public final class ExclusiveSubscription extends Subscription {

    /** The prefix of the filter in SUBSCRIBE and UNSUBSCRIBE. */
    public static final String PREFIX = "$exclusive/";

    /**
     * Creates a subscription.
     *
     * @param subscriber the subscriber
     * @param filter the topic filter, without the prefix
     * @param maximumQos the granted quality of service
     * @param noLocal the No Local option
     * @param retainAsPublished the Retain As Published option
     * @param identifier the subscription identifier, at most 268,435,455, or {@link #NO_IDENTIFIER}
     */
    public ExclusiveSubscription(
            Subscriber subscriber,
            TopicFilter filter,
            QoS maximumQos,
            boolean noLocal,
            boolean retainAsPublished,
            int identifier) {
        super(subscriber, filter, null, maximumQos, noLocal, retainAsPublished, identifier);
    }

    @Override
    public String clientFilter() {
        return PREFIX + filter().value();
    }
}
