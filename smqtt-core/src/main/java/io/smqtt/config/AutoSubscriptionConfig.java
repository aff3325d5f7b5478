// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicTemplate;
import java.util.List;

/**
 * A subscription that the broker makes for each client when it connects: {@code smqtt.auto-subscriptions.<name>.*}. Immutable.
 *
 * @param topic the topic filter, shared or not; the placeholders stand for the client identifier, the user name, and address and port of
 *     the client
 * @param qos the maximum quality of service
 * @param noLocal whether the client's own messages are left out; only for clients of MQTT 5.0
 * @param retainAsPublished whether the retain flag is kept; only for clients of MQTT 5.0
 * @param retainHandling 0 to send retained messages at each connect, 1 to send them if the subscription is new, 2 not to send them;
 *     only for clients of MQTT 5.0, others get them
 */
@ConfigBlock("auto-subscriptions.<name>")
public record AutoSubscriptionConfig(
        @Setting(
                required = true,
                placeholders = {"${clientid}", "${username}", "${host}", "${port}"})
        String topic,

        @Setting(value = "0", min = "0", max = "2") int qos,
        @Setting("false") boolean noLocal,
        @Setting("false") boolean retainAsPublished,
        @Setting(value = "0", min = "0", max = "2") int retainHandling) {

    /** The names of the placeholders. */
    private static final List<String> NAMES = List.of("clientid", "username", "host", "port");

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if the topic is no topic filter, or has an unknown placeholder
     */
    public AutoSubscriptionConfig {
        String sample =
                Check.template("auto-subscriptions.<name>.topic", topic, NAMES).fill(name -> "a");
        boolean shared = sample != null && SharedFilter.isShared(sample);
        try {
            if (sample != null && shared) {
                SharedFilter.of(sample);
            } else {
                TopicFilter.of(String.valueOf(sample));
            }
        } catch (InvalidTopicException e) {
            throw new ConfigurationException("auto-subscriptions.<name>.topic", "is no topic filter: " + topic);
        }
        Check.that(!noLocal || !shared, "auto-subscriptions.<name>.no-local", "is not possible with a shared topic");
    }

    /**
     * The topic with its placeholders.
     *
     * @return a new template
     */
    public TopicTemplate template() {
        return Check.template("auto-subscriptions.<name>.topic", topic, NAMES);
    }

    /**
     * Creates a subscription with defaults.
     *
     * @param topic the topic filter
     * @return the configuration, with QoS 0
     */
    public static AutoSubscriptionConfig of(String topic) {
        return new AutoSubscriptionConfigBuilder().topic(topic).build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public AutoSubscriptionConfigBuilder toBuilder() {
        return new AutoSubscriptionConfigBuilder(this);
    }
}
