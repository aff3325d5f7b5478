// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/**
 * The content of a CONNACK (MQTT 5.0, section 3.2). Properties with the standard's default are not sent.
 *
 * @param sessionPresent whether the broker resumes a session
 * @param reason the reason code; mapped to a return code before MQTT 5.0
 * @param sessionExpirySeconds the session expiry interval in force, or -1 for the client's own
 * @param receiveMaximum 1 to 65,535
 * @param maximumQos 0 to 2
 * @param retainAvailable whether retained messages are supported
 * @param maximumPacketSize bytes, or 0 for no limit
 * @param assignedClientId the client identifier that the broker chose, or null
 * @param topicAliasMaximum 0 to 65,535
 * @param reasonString the reason string, or null
 * @param wildcardAvailable whether wildcard subscriptions are supported
 * @param subscriptionIdentifiersAvailable whether subscription identifiers are supported
 * @param sharedAvailable whether shared subscriptions are supported
 * @param serverKeepAliveSeconds the keep alive that the client must use, or -1 for its own
 * @param responseInformation the prefix of response topics, or null
 * @param serverReference another server to use, or null
 * @param authenticationMethod the method of enhanced authentication, or null
 * @param authenticationData the last data of enhanced authentication, or null
 */
public record ConnAck(
        boolean sessionPresent,
        ReasonCode reason,
        long sessionExpirySeconds,
        int receiveMaximum,
        int maximumQos,
        boolean retainAvailable,
        long maximumPacketSize,
        @Nullable String assignedClientId,
        int topicAliasMaximum,
        @Nullable String reasonString,
        boolean wildcardAvailable,
        boolean subscriptionIdentifiersAvailable,
        boolean sharedAvailable,
        int serverKeepAliveSeconds,
        @Nullable String responseInformation,
        @Nullable String serverReference,
        @Nullable String authenticationMethod,
        byte @Nullable [] authenticationData) {

    /**
     * Creates a refusal.
     *
     * @param reason an error code
     * @param reasonString the reason string, or null
     * @param serverReference another server to use, or null
     * @return a CONNACK without session
     */
    public static ConnAck refused(ReasonCode reason, @Nullable String reasonString, @Nullable String serverReference) {
        return new ConnAck(
                false,
                reason,
                -1,
                65_535,
                2,
                true,
                0,
                null,
                0,
                reasonString,
                true,
                true,
                true,
                -1,
                null,
                serverReference,
                null,
                null);
    }
}
