// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.QoS;
import java.util.List;

/**
 * A SUBSCRIBE (MQTT 5.0, section 3.8).
 *
 * @param packetId 1 to 65,535
 * @param subscriptionIdentifier 1 to 268,435,455, or 0 for none
 * @param requests at least one, in the client's order
 */
public record SubscribePacket(int packetId, int subscriptionIdentifier, List<Request> requests) {

    /**
     * One topic filter with its options (MQTT 5.0, section 3.8.3.1).
     *
     * @param filter the filter as sent: strict UTF-8, otherwise not yet validated; may be shared
     * @param maximumQos the requested maximum QoS
     * @param noLocal the No Local option
     * @param retainAsPublished the Retain As Published option
     * @param retainHandling 0 to send retained messages, 1 only for a new subscription, 2 never
     */
    public record Request(
            String filter, QoS maximumQos, boolean noLocal, boolean retainAsPublished, int retainHandling) {}
}
