// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.message.ReasonCode;

/** The expected result of decoding the bytes of a {@link PacketRow}. */
public sealed interface PacketExpectation {

    /** The bytes are one whole legal packet. */
    record Accepted() implements PacketExpectation {}

    /** The bytes are the beginning of a packet that may yet become legal. */
    record NeedsMore() implements PacketExpectation {}

    /**
     * The bytes show, whole or not, that the peer breaks the protocol.
     *
     * @param reason the reason code of MQTT 5.0 for it
     */
    record Violation(ReasonCode reason) implements PacketExpectation {}
}
