// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/** The reason codes that a client may send in a packet (MQTT 5.0, sections 3.4.2.1 to 3.7.2.1, 3.14.2.1, 3.15.2.1). */
final class AllowedReasons {

    /** PUBACK and PUBREC [MQTT-3.4.2-1] [MQTT-3.5.2-1]. */
    static final AllowedReasons RECEIVED = new AllowedReasons(
            ReasonCode.SUCCESS,
            ReasonCode.NO_MATCHING_SUBSCRIBERS,
            ReasonCode.UNSPECIFIED_ERROR,
            ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR,
            ReasonCode.NOT_AUTHORIZED,
            ReasonCode.TOPIC_NAME_INVALID,
            ReasonCode.PACKET_IDENTIFIER_IN_USE,
            ReasonCode.QUOTA_EXCEEDED,
            ReasonCode.PAYLOAD_FORMAT_INVALID);

    /** PUBREL and PUBCOMP [MQTT-3.6.2-1] [MQTT-3.7.2-1]. */
    static final AllowedReasons RELEASED =
            new AllowedReasons(ReasonCode.SUCCESS, ReasonCode.PACKET_IDENTIFIER_NOT_FOUND);

    /** DISCONNECT from a client [MQTT-3.14.2-1]. */
    static final AllowedReasons DISCONNECT = new AllowedReasons(
            ReasonCode.SUCCESS,
            ReasonCode.DISCONNECT_WITH_WILL,
            ReasonCode.UNSPECIFIED_ERROR,
            ReasonCode.MALFORMED_PACKET,
            ReasonCode.PROTOCOL_ERROR,
            ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR,
            ReasonCode.TOPIC_NAME_INVALID,
            ReasonCode.RECEIVE_MAXIMUM_EXCEEDED,
            ReasonCode.TOPIC_ALIAS_INVALID,
            ReasonCode.PACKET_TOO_LARGE,
            ReasonCode.MESSAGE_RATE_TOO_HIGH,
            ReasonCode.QUOTA_EXCEEDED,
            ReasonCode.ADMINISTRATIVE_ACTION,
            ReasonCode.PAYLOAD_FORMAT_INVALID);

    /** AUTH from a client [MQTT-3.15.2-1]. */
    static final AllowedReasons AUTH =
            new AllowedReasons(ReasonCode.CONTINUE_AUTHENTICATION, ReasonCode.REAUTHENTICATE);

    private final @Nullable ReasonCode[] byValue = new @Nullable ReasonCode[256];

    private AllowedReasons(ReasonCode... codes) {
        for (ReasonCode code : codes) {
            byValue[code.value()] = code;
        }
    }

    /** The reason code of a byte in the packet. */
    ReasonCode require(int value) {
        ReasonCode code = byValue[value];
        if (code == null) {
            throw new ProtocolViolation(
                    ReasonCode.PROTOCOL_ERROR, "the reason code is not allowed for a client in this packet");
        }
        return code;
    }
}
