// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Subscription;

/**
 * A message that waits for a client or is in flight to it. Immutable.
 *
 * @param message the message, on the heap
 * @param qos the quality of service of the delivery
 * @param packetId the packet identifier; 0 for a message in a queue
 */
public record WaitingMessage(ApplicationMessage message, QoS qos, int packetId) {

    static WaitingMessage of(ApplicationMessage message, Subscription subscription, int packetId) {
        return new WaitingMessage(message.onHeap(), message.qos().atMost(subscription.maximumQos()), packetId);
    }
}
