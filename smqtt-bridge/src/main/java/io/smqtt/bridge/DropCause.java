// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.spi.BridgeDrop;

/** The reason why a bridge does not pass on a message. */
enum DropCause {
    /** No topic of the configuration matches, or the new name is no topic. */
    TOPIC(BridgeDrop.TOPIC, "no topic of the configuration matches it"),
    /** The packet is larger than the other broker's Maximum Packet Size. */
    PACKET_TOO_LARGE(BridgeDrop.PACKET_TOO_LARGE, "it is larger than the Maximum Packet Size of the other broker"),
    /** The packet is larger than the limit of this broker. */
    TOO_LARGE_HERE(BridgeDrop.PACKET_TOO_LARGE, "it is larger than limits.max-packet-bytes of this broker"),
    /** The payload is larger than the limit of the bridge. */
    PAYLOAD_TOO_LARGE(BridgeDrop.PAYLOAD_TOO_LARGE, "its payload is larger than max-payload-bytes"),
    /** A message of QoS 0 above the rate of the bridge. */
    RATE(
            BridgeDrop.RATE,
            "it would wait for more than a second because of max-rate, or behind more than limits.max-outbound-bytes"),
    /** A message that the rate has held back for longer than its Message Expiry Interval. */
    EXPIRED(BridgeDrop.EXPIRED, "it has expired while max-rate held it back"),
    /** A message of QoS 0 for a connection that ends. */
    CONNECTION_ENDS(BridgeDrop.CONNECTION_ENDS, "the connection ends, and QoS 0 is not sent again"),
    /** A message that our session has given up before a connection could pass it on. */
    GIVEN_UP(BridgeDrop.EXPIRED, "it has expired before it could be sent"),
    /** It has been at this broker before, or has passed too many bridges. */
    LOOP(BridgeDrop.LOOP, "it has been here before, or has passed as many bridges as hop-limit allows");

    private final BridgeDrop reason;
    private final String text;

    DropCause(BridgeDrop reason, String text) {
        this.reason = reason;
        this.text = text;
    }

    /** For operators. */
    BridgeDrop reason() {
        return reason;
    }

    /** For logs. */
    String text() {
        return text;
    }
}
