// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.topic.TopicFilter;
import org.jspecify.annotations.Nullable;

/**
 * One filter of a SUBSCRIBE with its options (MQTT 5.0, section 3.8.3.1).
 *
 * @param filter the topic filter, without the share name
 * @param shareName of a shared subscription, or null
 * @param maximumQos the requested QoS
 * @param noLocal whether the client's own messages are left out; not on shared subscriptions
 * @param retainAsPublished whether the retain flag is kept
 * @param retainHandling 0 to send retained messages, 1 to send them if the subscription is new, 2 not to send them
 */
public record SubscribeRequest(
        TopicFilter filter,
        @Nullable String shareName,
        QoS maximumQos,
        boolean noLocal,
        boolean retainAsPublished,
        int retainHandling) {

    /**
     * Checks the options.
     *
     * @throws IllegalArgumentException if they exclude each other or are out of range
     */
    public SubscribeRequest {
        if (retainHandling < 0 || retainHandling > 2) {
            throw new IllegalArgumentException("the retain handling is 0, 1 or 2");
        }
        if (noLocal && shareName != null) { // [MQTT-3.8.3-4]
            throw new IllegalArgumentException("no local on a shared subscription");
        }
    }

    /**
     * The same with another filter.
     *
     * @param other a topic filter without a share name
     * @return a request
     */
    public SubscribeRequest withFilter(TopicFilter other) {
        return new SubscribeRequest(other, shareName, maximumQos, noLocal, retainAsPublished, retainHandling);
    }

    /**
     * The same with another quality of service.
     *
     * @param other the maximum QoS to grant
     * @return a request
     */
    public SubscribeRequest withMaximumQos(QoS other) {
        return new SubscribeRequest(filter, shareName, other, noLocal, retainAsPublished, retainHandling);
    }
}
