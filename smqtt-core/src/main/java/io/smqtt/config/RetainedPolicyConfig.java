// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;

/**
 * A rule for retained messages of some topics: {@code smqtt.retained-policies.<name>.*}. Immutable.
 *
 * @param topic a topic filter: the rule is for the topics that it matches
 * @param maxPayloadBytes maximum size of a payload that is retained; a larger message is refused (0x97)
 * @param expiry the time after which a retained message is removed, unless its own Message Expiry Interval is shorter; never, or 0s, for no limit
 */
@ConfigBlock("retained-policies.<name>")
public record RetainedPolicyConfig(
        @Setting(required = true) String topic,

        @Setting(value = "256MiB", min = "0", max = "256MiB")
        long maxPayloadBytes,

        @Setting(value = "0s", min = "0s", max = "42949669s", zero = "never")
        Duration expiry) {

    private static final String TOPIC = "retained-policies.<name>.topic";

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if the topic is no topic filter, or a shared one
     */
    public RetainedPolicyConfig {
        Check.present(TOPIC, topic);
        Check.that(!SharedFilter.isShared(topic), TOPIC, "must be the topic filter without $share and its group");
        try {
            TopicFilter.of(topic);
        } catch (InvalidTopicException e) {
            throw new ConfigurationException(TOPIC, "is no topic filter: " + topic);
        }
    }

    /**
     * Creates a rule without limits.
     *
     * @param topic the topic filter
     * @return the configuration
     */
    public static RetainedPolicyConfig of(String topic) {
        return new RetainedPolicyConfigBuilder().topic(topic).build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public RetainedPolicyConfigBuilder toBuilder() {
        return new RetainedPolicyConfigBuilder(this);
    }
}
