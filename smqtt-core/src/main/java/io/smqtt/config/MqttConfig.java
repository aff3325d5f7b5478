// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * Features of MQTT that the broker offers: {@code smqtt.mqtt.*}.
 *
 * @param maxQos Maximum QoS
 * @param retainAvailable whether retained messages are supported
 * @param wildcardAvailable whether wildcard subscriptions are supported
 * @param sharedAvailable whether shared subscriptions are supported
 * @param subscriptionIdentifiersAvailable whether subscription identifiers are supported
 * @param topicAliasMaximum Topic Alias Maximum for messages from a client
 * @param outboundTopicAliasMaximum maximum number of topic aliases for messages to a client; a lower Topic Alias
 *     Maximum of the client wins
 * @param maxKeepAlive maximum keep alive. A client that asks for a longer one, or for none, gets this one as Server
 *     Keep Alive; unlimited, or 0s, for no maximum
 * @param responseInformation Response Information, the beginning of response topics; empty for none
 * @param serverReference Server Reference that clients get on shutdown, as host:port; empty for none
 * @param validatePayloadFormat whether a payload is checked that its Payload Format Indicator declares as UTF-8
 * @param exclusiveSubscriptions whether clients may have exclusive subscriptions, to {@code $exclusive/FILTER}; otherwise such a
 *     filter is one like any other
 * @param eventMessages whether connects, disconnects, subscriptions and access decisions of clients, and deliveries and drops of messages, are published, to
 *     {@code $SYS/brokers/NODE/clients/CLIENTID/…} and {@code $events/…}
 * @param sparkplugAware whether birth certificates of Sparkplug are retained under {@code $sparkplug/certificates/}
 * @param sharedStrategy how the member of a shared subscription is chosen that gets a message
 */
@ConfigBlock("mqtt")
public record MqttConfig(
        @Setting(value = "2", min = "0", max = "2") int maxQos,
        @Setting("true") boolean retainAvailable,
        @Setting("true") boolean wildcardAvailable,
        @Setting("true") boolean sharedAvailable,
        @Setting("true") boolean subscriptionIdentifiersAvailable,
        @Setting(value = "32", min = "0", max = "65535") int topicAliasMaximum,
        @Setting(value = "16", min = "0", max = "65535") int outboundTopicAliasMaximum,

        @Setting(value = "0s", min = "0s", max = "65535s", zero = "unlimited")
        Duration maxKeepAlive,

        String responseInformation,
        String serverReference,
        @Setting("false") boolean validatePayloadFormat,
        @Setting("false") boolean exclusiveSubscriptions,
        @Setting("false") boolean eventMessages,
        @Setting("false") boolean sparkplugAware,
        @Setting("round-robin") SharedStrategy sharedStrategy) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public MqttConfig {
        Check.plainText("mqtt.response-information", responseInformation);
        Check.plainText("mqtt.server-reference", serverReference);
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static MqttConfig defaults() {
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static MqttConfigBuilder builder() {
        return new MqttConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public MqttConfigBuilder toBuilder() {
        return new MqttConfigBuilder(this);
    }
}
