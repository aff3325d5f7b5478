// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * Features of the protocol that the broker offers: {@code smqtt.mqtt.*}.
 *
 * @param maxQos the highest quality of service
 * @param retainAvailable whether messages can be retained
 * @param wildcardAvailable whether filters may hold wildcards
 * @param sharedAvailable whether subscriptions can be shared
 * @param subscriptionIdentifiersAvailable whether subscriptions may have identifiers
 * @param topicAliasMaximum topic aliases that a client may use
 * @param outboundTopicAliasMaximum topic aliases that the broker uses towards a client, at most what the client
 *     allows
 * @param maxKeepAlive the longest keep alive; a client that asks for more, or for none, gets this one; 0s for no
 *     limit
 * @param responseInformation what response topics begin with; empty for none
 * @param serverReference where clients are sent on shutdown, as host:port; empty for none
 * @param validatePayloadFormat whether a payload declared to be UTF-8 is checked
 * @param sharedStrategy which member of a shared group gets a message
 */
public record MqttConfig(
        @ConfigDoc(value = "Maximum QoS", min = "0", max = "2")
        int maxQos,

        @ConfigDoc("whether retained messages are supported")
        boolean retainAvailable,

        @ConfigDoc("whether wildcard subscriptions are supported")
        boolean wildcardAvailable,

        @ConfigDoc("whether shared subscriptions are supported")
        boolean sharedAvailable,

        @ConfigDoc("whether subscription identifiers are supported")
        boolean subscriptionIdentifiersAvailable,

        @ConfigDoc(value = "Topic Alias Maximum for messages from a client", min = "0", max = "65535")
        int topicAliasMaximum,

        @ConfigDoc(
                value =
                        "maximum number of topic aliases for messages to a client; a lower Topic Alias Maximum of the client "
                                + "wins",
                min = "0",
                max = "65535")
        int outboundTopicAliasMaximum,

        @ConfigDoc(
                value =
                        "maximum keep alive. A client that asks for a longer one, or for none, gets this one as Server Keep "
                                + "Alive; 0s for no limit",
                min = "0s",
                max = "65535s")
        Duration maxKeepAlive,

        @ConfigDoc("Response Information, the beginning of response topics; empty for none")
        String responseInformation,

        @ConfigDoc("Server Reference that clients get on shutdown, as host:port; empty for none")
        String serverReference,

        @ConfigDoc("whether a payload is checked that its Payload Format Indicator declares as UTF-8")
        boolean validatePayloadFormat,

        @ConfigDoc("how the member of a shared subscription is chosen that gets a message")
        SharedStrategy sharedStrategy) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public MqttConfig {
        Check.range("mqtt.max-qos", maxQos, 0, 2);
        Check.range("mqtt.topic-alias-maximum", topicAliasMaximum, 0, 65_535);
        Check.range("mqtt.outbound-topic-alias-maximum", outboundTopicAliasMaximum, 0, 65_535);
        Check.range("mqtt.max-keep-alive", maxKeepAlive, Duration.ZERO, Duration.ofSeconds(65_535));
        Check.present("mqtt.response-information", responseInformation);
        Check.present("mqtt.server-reference", serverReference);
        Check.present("mqtt.shared-strategy", sharedStrategy);
        Check.plainText("mqtt.response-information", responseInformation);
        Check.plainText("mqtt.server-reference", serverReference);
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static MqttConfig defaults() {
        return new MqttConfig(
                2, true, true, true, true, 32, 16, Duration.ZERO, "", "", false, SharedStrategy.ROUND_ROBIN);
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /**
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link MqttConfig}. Not safe for several threads. */
    public static final class Builder {

        private int maxQos;
        private boolean retainAvailable;
        private boolean wildcardAvailable;
        private boolean sharedAvailable;
        private boolean subscriptionIdentifiersAvailable;
        private int topicAliasMaximum;
        private int outboundTopicAliasMaximum;
        private Duration maxKeepAlive;
        private String responseInformation;
        private String serverReference;
        private boolean validatePayloadFormat;
        private SharedStrategy sharedStrategy;

        private Builder(MqttConfig from) {
            maxQos = from.maxQos;
            retainAvailable = from.retainAvailable;
            wildcardAvailable = from.wildcardAvailable;
            sharedAvailable = from.sharedAvailable;
            subscriptionIdentifiersAvailable = from.subscriptionIdentifiersAvailable;
            topicAliasMaximum = from.topicAliasMaximum;
            outboundTopicAliasMaximum = from.outboundTopicAliasMaximum;
            maxKeepAlive = from.maxKeepAlive;
            responseInformation = from.responseInformation;
            serverReference = from.serverReference;
            validatePayloadFormat = from.validatePayloadFormat;
            sharedStrategy = from.sharedStrategy;
        }

        /** {@return this, with {@link MqttConfig#maxQos()} set to the argument} */
        public Builder maxQos(int value) {
            maxQos = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#retainAvailable()} set to the argument} */
        public Builder retainAvailable(boolean value) {
            retainAvailable = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#wildcardAvailable()} set to the argument} */
        public Builder wildcardAvailable(boolean value) {
            wildcardAvailable = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#sharedAvailable()} set to the argument} */
        public Builder sharedAvailable(boolean value) {
            sharedAvailable = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#subscriptionIdentifiersAvailable()} set to the argument} */
        public Builder subscriptionIdentifiersAvailable(boolean value) {
            subscriptionIdentifiersAvailable = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#topicAliasMaximum()} set to the argument} */
        public Builder topicAliasMaximum(int value) {
            topicAliasMaximum = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#outboundTopicAliasMaximum()} set to the argument} */
        public Builder outboundTopicAliasMaximum(int value) {
            outboundTopicAliasMaximum = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#maxKeepAlive()} set to the argument} */
        public Builder maxKeepAlive(Duration value) {
            maxKeepAlive = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#responseInformation()} set to the argument} */
        public Builder responseInformation(String value) {
            responseInformation = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#serverReference()} set to the argument} */
        public Builder serverReference(String value) {
            serverReference = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#validatePayloadFormat()} set to the argument} */
        public Builder validatePayloadFormat(boolean value) {
            validatePayloadFormat = value;
            return this;
        }

        /** {@return this, with {@link MqttConfig#sharedStrategy()} set to the argument} */
        public Builder sharedStrategy(SharedStrategy value) {
            sharedStrategy = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public MqttConfig build() {
            return new MqttConfig(
                    maxQos,
                    retainAvailable,
                    wildcardAvailable,
                    sharedAvailable,
                    subscriptionIdentifiersAvailable,
                    topicAliasMaximum,
                    outboundTopicAliasMaximum,
                    maxKeepAlive,
                    responseInformation,
                    serverReference,
                    validatePayloadFormat,
                    sharedStrategy);
        }
    }
}
