// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;

/**
 * The request to an {@link Authorizer}. Later versions may add components: read them by name.
 *
 * @param client the client
 * @param action the action
 * @param topic a topic name, or a topic filter for {@link AccessAction#SUBSCRIBE}; without {@code $share/name/}
 * @param qos the QoS of the message or the will, or the requested maximum of a subscription; at most once for {@link
 *     AccessAction#RECEIVE}, where the subscription has decided before
 * @param retain the retain flag of the message or the will; false for the other actions
 */
public record AccessRequest(ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {}
