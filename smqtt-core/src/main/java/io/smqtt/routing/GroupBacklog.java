// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.thread.AnyThread;

/** Messages of a shared group that no member can take now (MQTT 5.0, section 4.8.2). */
@AnyThread
public interface GroupBacklog {

    /**
     * Stands for the queue where a member's subscription would stand.
     *
     * @return a subscription whose subscriber takes messages
     */
    Subscription subscription();

    /**
     * How many messages wait. May be out of date.
     *
     * @return a count
     */
    int waiting();
}
