// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.thread.AnyThread;

/** The queue of a shared group for messages that no member can take now (MQTT 5.0, section 4.8.2). */
@AnyThread
public interface GroupBacklog {

    /**
     * The queue in the form of a member's subscription.
     *
     * @return a subscription whose subscriber is the queue
     */
    Subscription subscription();

    /**
     * The number of queued messages. May be out of date.
     *
     * @return messages
     */
    int waiting();

    /**
     * The footprint of the queued messages. May be out of date.
     *
     * @return bytes
     */
    long bytes();

    /**
     * Since when messages are queued without a break. May be out of date.
     *
     * @return nanoseconds of the broker's monotonic clock; meaningless if no message is queued
     */
    long waitingSinceNanos();
}
