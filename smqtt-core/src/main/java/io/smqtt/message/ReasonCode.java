// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import org.jspecify.annotations.Nullable;

/** The reason codes of MQTT 5.0, section 2.4. The codec knows which packet may contain which code. */
public enum ReasonCode {
    /** Success; also normal disconnection and granted QoS 0. */
    SUCCESS(0x00),
    /** Granted QoS 1. */
    GRANTED_QOS_1(0x01),
    /** Granted QoS 2. */
    GRANTED_QOS_2(0x02),
    /** Disconnect with will message. */
    DISCONNECT_WITH_WILL(0x04),
    /** No matching subscribers. */
    NO_MATCHING_SUBSCRIBERS(0x10),
    /** No subscription existed. */
    NO_SUBSCRIPTION_EXISTED(0x11),
    /** Continue authentication. */
    CONTINUE_AUTHENTICATION(0x18),
    /** Re-authenticate. */
    REAUTHENTICATE(0x19),
    /** Unspecified error. */
    UNSPECIFIED_ERROR(0x80),
    /** Malformed packet. */
    MALFORMED_PACKET(0x81),
    /** Protocol error. */
    PROTOCOL_ERROR(0x82),
    /** Implementation specific error. */
    IMPLEMENTATION_SPECIFIC_ERROR(0x83),
    /** Unsupported protocol version. */
    UNSUPPORTED_PROTOCOL_VERSION(0x84),
    /** Client identifier not valid. */
    CLIENT_IDENTIFIER_NOT_VALID(0x85),
    /** Bad user name or password. */
    BAD_USER_NAME_OR_PASSWORD(0x86),
    /** Not authorized. */
    NOT_AUTHORIZED(0x87),
    /** Server unavailable. */
    SERVER_UNAVAILABLE(0x88),
    /** Server busy. */
    SERVER_BUSY(0x89),
    /** Banned. */
    BANNED(0x8A),
    /** Server shutting down. */
    SERVER_SHUTTING_DOWN(0x8B),
    /** Bad authentication method. */
    BAD_AUTHENTICATION_METHOD(0x8C),
    /** Keep alive timeout. */
    KEEP_ALIVE_TIMEOUT(0x8D),
    /** Session taken over. */
    SESSION_TAKEN_OVER(0x8E),
    /** Topic filter invalid. */
    TOPIC_FILTER_INVALID(0x8F),
    /** Topic name invalid. */
    TOPIC_NAME_INVALID(0x90),
    /** Packet identifier in use. */
    PACKET_IDENTIFIER_IN_USE(0x91),
    /** Packet identifier not found. */
    PACKET_IDENTIFIER_NOT_FOUND(0x92),
    /** Receive maximum exceeded. */
    RECEIVE_MAXIMUM_EXCEEDED(0x93),
    /** Topic alias invalid. */
    TOPIC_ALIAS_INVALID(0x94),
    /** Packet too large. */
    PACKET_TOO_LARGE(0x95),
    /** Message rate too high. */
    MESSAGE_RATE_TOO_HIGH(0x96),
    /** Quota exceeded. */
    QUOTA_EXCEEDED(0x97),
    /** Administrative action. */
    ADMINISTRATIVE_ACTION(0x98),
    /** Payload format invalid. */
    PAYLOAD_FORMAT_INVALID(0x99),
    /** Retain not supported. */
    RETAIN_NOT_SUPPORTED(0x9A),
    /** QoS not supported. */
    QOS_NOT_SUPPORTED(0x9B),
    /** Use another server. */
    USE_ANOTHER_SERVER(0x9C),
    /** Server moved. */
    SERVER_MOVED(0x9D),
    /** Shared subscriptions not supported. */
    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED(0x9E),
    /** Connection rate exceeded. */
    CONNECTION_RATE_EXCEEDED(0x9F),
    /** Maximum connect time. */
    MAXIMUM_CONNECT_TIME(0xA0),
    /** Subscription identifiers not supported. */
    SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED(0xA1),
    /** Wildcard subscriptions not supported. */
    WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED(0xA2);

    private static final @Nullable ReasonCode[] BY_VALUE = new @Nullable ReasonCode[256];

    static {
        for (ReasonCode code : values()) {
            BY_VALUE[code.value] = code;
        }
    }

    private final int value;

    ReasonCode(int value) {
        this.value = value;
    }

    /**
     * The code for a byte on the wire.
     *
     * @param value 0 to 255
     * @return null if the standard has no such code
     */
    public static @Nullable ReasonCode of(int value) {
        return BY_VALUE[value & 0xFF];
    }

    /**
     * The code that grants a subscription.
     *
     * @param qos the granted quality of service
     * @return granted QoS 0, 1 or 2
     */
    public static ReasonCode granted(QoS qos) {
        return switch (qos) {
            case AT_MOST_ONCE -> SUCCESS;
            case AT_LEAST_ONCE -> GRANTED_QOS_1;
            case EXACTLY_ONCE -> GRANTED_QOS_2;
        };
    }

    /**
     * The byte on the wire.
     *
     * @return 0 to 255
     */
    public int value() {
        return value;
    }

    /**
     * Whether the code reports a failure.
     *
     * @return true from 0x80 up
     */
    public boolean isError() {
        return value >= 0x80;
    }
}
