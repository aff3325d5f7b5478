// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.ProtocolViolation;
import io.smqtt.message.ReasonCode;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicName;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The topic aliases of messages from a client, valid for one connection (MQTT 5.0, section 3.3.2.3.4). */
@OnEventLoop
final class InboundAliases {

    private static final @Nullable TopicName[] NOTHING = {};

    static final InboundAliases NONE = new InboundAliases(0);

    private final int maximum;
    private @Nullable TopicName[] topics = NOTHING;

    InboundAliases(int maximum) {
        this.maximum = maximum;
    }

    /** The topic of a PUBLISH with this topic name and alias, 0 for none. */
    TopicName resolve(@Nullable TopicName topic, int alias) {
        if (alias == 0) {
            if (topic == null) {
                throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "neither topic name nor topic alias");
            }
            return topic;
        }
        if (alias > maximum) { // [MQTT-3.3.2-9]
            throw new ProtocolViolation(ReasonCode.TOPIC_ALIAS_INVALID, "topic alias above the maximum");
        }
        if (topic != null) {
            if (alias > topics.length) {
                topics = Arrays.copyOf(topics, Math.min(maximum, Math.max(alias, topics.length * 2)));
            }
            topics[alias - 1] = topic;
            return topic;
        }
        TopicName known = alias <= topics.length ? topics[alias - 1] : null;
        if (known == null) {
            throw new ProtocolViolation(ReasonCode.TOPIC_ALIAS_INVALID, "unknown topic alias");
        }
        return known;
    }
}
