// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;

/**
 * A message that waits for a session.
 *
 * @param sequence its place among the session's messages, 1 or more, never used twice by a session
 * @param message the message itself, shared by all its sessions
 * @param clientFilter the filter of its subscription, {@code $share/…} included
 * @param qos the quality of service of this delivery, 1 or 2
 * @param retain the retain flag of this delivery
 * @param identifiers the subscription identifiers of this delivery, maybe none; not to be changed
 * @param delivery its delivery state
 */
@SuppressWarnings("ArrayRecordComponent") // one array for all deliveries of a subscription
public record StoredMessage(
        long sequence,
        ApplicationMessage message,
        String clientFilter,
        QoS qos,
        boolean retain,
        int[] identifiers,
        StoredDelivery delivery) {}
