// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.ProtocolViolation;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.ExclusiveFilters;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import org.jspecify.annotations.Nullable;

/**
 * A well-formed filter of a SUBSCRIBE or UNSUBSCRIBE (section 4.7 of both standards, section 4.8.2 of MQTT 5.0).
 *
 * @param filter the topic filter, without the share name
 * @param shareName the share name of a shared subscription, or null
 * @param exclusive whether it is the filter of an exclusive subscription
 */
record RequestedFilter(TopicFilter filter, @Nullable String shareName, boolean exclusive) {

    /**
     * Parses a filter.
     *
     * @param text the filter in the packet
     * @param exclusives knows exclusive filters
     * @return null if the text is not a filter and the client is notified by {@link ReasonCode#TOPIC_FILTER_INVALID}
     * @throws ProtocolViolation if the text is empty, or is not a filter and the client's version has no answer for that: an
     *     UNSUBACK before MQTT 5.0 always means success
     */
    static @Nullable RequestedFilter parse(Connection connection, String text, ExclusiveFilters exclusives) {
        if (text.isEmpty() && connection.isV5()) { // [MQTT-4.7.3-1]
            throw new ProtocolViolation(ReasonCode.MALFORMED_PACKET, "an empty topic filter");
        }
        if (exclusives.isContradiction(text)) {
            return null;
        }
        try {
            if (exclusives.isExclusive(text)) {
                return new RequestedFilter(ExclusiveFilters.parse(text), null, true);
            }
            SharedFilter shared = SharedFilter.isShared(text) ? SharedFilter.of(text) : null;
            return shared == null
                    ? new RequestedFilter(TopicFilter.of(text), null, false)
                    : new RequestedFilter(shared.filter(), shared.shareName(), false);
        } catch (InvalidTopicException e) {
            if (!connection.isV5()) { // [MQTT311-4.8.0-1]
                throw new ProtocolViolation(ReasonCode.TOPIC_FILTER_INVALID, "not a topic filter");
            }
            return null;
        }
    }
}
