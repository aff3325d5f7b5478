// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.message.ProtocolVersion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One row of the {@link PacketTable}.
 *
 * @param name what is particular about the packet; unique in the table
 * @param version the version of the connection; null if the bytes are the first that the client sends
 * @param bytes what the client sends; do not change
 * @param expectation what a decoder must make of it
 * @param tags the normative statements at stake, such as {@code MQTT-3.1.0-1}; those of MQTT 3.1.1 end in {@code @3.1.1}
 */
public record PacketRow(
        String name,
        @Nullable ProtocolVersion version,
        byte[] bytes,
        PacketExpectation expectation,
        List<String> tags) {

    /**
     * Tells whether the bytes are a whole legal packet.
     *
     * @return true if they must be accepted
     */
    public boolean isAccepted() {
        return expectation instanceof PacketExpectation.Accepted;
    }

    @Override
    public String toString() {
        return (version == null ? "first packet" : version) + ": " + name + " -> " + expectation;
    }
}
