// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.ReasonCode;

/** Maps reason codes to those that MQTT permits in a packet. */
final class PermittedReasons {

    private PermittedReasons() {}

    /** A reason code of table 3-4; other codes, which extensions may return, become unspecified error. */
    static ReasonCode inPubAck(ReasonCode reason) {
        return switch (reason) {
            case SUCCESS,
                    NO_MATCHING_SUBSCRIBERS,
                    UNSPECIFIED_ERROR,
                    IMPLEMENTATION_SPECIFIC_ERROR,
                    NOT_AUTHORIZED,
                    TOPIC_NAME_INVALID,
                    PACKET_IDENTIFIER_IN_USE,
                    QUOTA_EXCEEDED,
                    PAYLOAD_FORMAT_INVALID -> reason;
            default -> ReasonCode.UNSPECIFIED_ERROR;
        };
    }

    /** An error code of table 3-8. */
    static ReasonCode inSubAck(ReasonCode reason) {
        return switch (reason) {
            case QUOTA_EXCEEDED,
                    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED,
                    SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED,
                    WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED -> reason;
            default -> inUnsubAck(reason);
        };
    }

    /** An error code of table 3-9. */
    static ReasonCode inUnsubAck(ReasonCode reason) {
        return switch (reason) {
            case IMPLEMENTATION_SPECIFIC_ERROR, NOT_AUTHORIZED, TOPIC_FILTER_INVALID, PACKET_IDENTIFIER_IN_USE ->
                reason;
            default -> ReasonCode.UNSPECIFIED_ERROR;
        };
    }

    /** A reason code of table 3-10 [MQTT-3.14.2-1]. */
    static ReasonCode inDisconnect(ReasonCode reason) {
        return switch (reason) {
            case BAD_USER_NAME_OR_PASSWORD, BAD_AUTHENTICATION_METHOD, BANNED, CLIENT_IDENTIFIER_NOT_VALID ->
                ReasonCode.NOT_AUTHORIZED;
            case SERVER_UNAVAILABLE -> ReasonCode.SERVER_BUSY;
            case UNSUPPORTED_PROTOCOL_VERSION, PACKET_IDENTIFIER_IN_USE, PACKET_IDENTIFIER_NOT_FOUND ->
                ReasonCode.PROTOCOL_ERROR;
            default -> reason.isError() ? reason : ReasonCode.UNSPECIFIED_ERROR;
        };
    }

    /** A reason code of table 3-1 for a refusal [MQTT-3.2.2-8]. */
    static ReasonCode inConnAck(ReasonCode reason) {
        return switch (reason) {
            case SERVER_SHUTTING_DOWN -> ReasonCode.SERVER_UNAVAILABLE;
            case TOPIC_FILTER_INVALID,
                    PACKET_IDENTIFIER_IN_USE,
                    PACKET_IDENTIFIER_NOT_FOUND,
                    RECEIVE_MAXIMUM_EXCEEDED,
                    TOPIC_ALIAS_INVALID -> ReasonCode.PROTOCOL_ERROR;
            case MESSAGE_RATE_TOO_HIGH -> ReasonCode.QUOTA_EXCEEDED;
            case KEEP_ALIVE_TIMEOUT,
                    SESSION_TAKEN_OVER,
                    ADMINISTRATIVE_ACTION,
                    MAXIMUM_CONNECT_TIME,
                    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED,
                    SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED,
                    WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED -> ReasonCode.UNSPECIFIED_ERROR;
            default -> reason.isError() ? reason : ReasonCode.UNSPECIFIED_ERROR;
        };
    }
}
