// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;

/**
 * A stored subscription.
 *
 * @param clientFilter the filter as the client gave it, {@code $share/…} included
 * @param maximumQos the granted quality of service
 * @param noLocal whether the client's own messages are left out
 * @param retainAsPublished whether the retain flag is kept
 * @param identifier the subscription identifier, 0 for none
 */
public record StoredSubscription(
        String clientFilter, QoS maximumQos, boolean noLocal, boolean retainAsPublished, int identifier) {}
