// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * What the broker offers of the protocol: {@code smqtt.mqtt.*}.
 *
 * @param maxQos the highest quality of service, 0 to 2
 * @param retainAvailable whether messages can be retained
 * @param wildcardAvailable whether filters may hold wildcards
 * @param sharedAvailable whether subscriptions can be shared
 * @param subscriptionIdentifiersAvailable whether subscriptions may have identifiers
 * @param topicAliasMaximum topic aliases that a client may use
 * @param outboundTopicAliasMaximum topic aliases that the broker uses towards a client, at most what it allows
 * @param maxKeepAlive the longest keep alive; a client that asks for more, or for none, gets this one; 0 for no limit
 * @param responseInformation what response topics begin with; empty for none
 * @param serverReference where clients are sent on shutdown; empty for none
 * @param validatePayloadFormat whether a payload declared to be UTF-8 is checked
 * @param sharedStrategy which member of a shared group gets a message
 */
public record MqttConfig(
        int maxQos,
        boolean retainAvailable,
        boolean wildcardAvailable,
        boolean sharedAvailable,
        boolean subscriptionIdentifiersAvailable,
        int topicAliasMaximum,
        int outboundTopicAliasMaximum,
        Duration maxKeepAlive,
        String responseInformation,
        String serverReference,
        boolean validatePayloadFormat,
        SharedStrategy sharedStrategy) {

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static MqttConfig defaults() {
        return new MqttConfig(
                2,
                true,
                true,
                true,
                true,
                32,
                16,
                Duration.ZERO,
                "",
                "",
                false,
                SharedStrategy.ROUND_ROBIN);
    }
}
