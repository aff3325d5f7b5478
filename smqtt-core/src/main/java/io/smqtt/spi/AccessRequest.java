// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;

/**
 * The action that an {@link Authorizer} decides on. More components may come with later versions: read them by name.
 *
 * @param client who wants it
 * @param action what it wants
 * @param topic a topic name, or a topic filter for {@link AccessAction#SUBSCRIBE}; without {@code $share/name/}
 * @param qos of the message or the will, or the maximum that a subscription asks for; at most once for {@link
 *     AccessAction#RECEIVE}, where the subscription has decided
 * @param retain whether the message or the will is to be retained; false for the other actions
 */
public record AccessRequest(ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {}
