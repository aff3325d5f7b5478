// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.message.ProtocolVersion;

/** A packet whose bytes depend on the protocol version of the connection that it is sent on. */
@FunctionalInterface
public interface VersionedPacket {

    /**
     * Writes the packet.
     *
     * @param version the protocol version of the connection
     * @return new bytes
     */
    byte[] toBytes(ProtocolVersion version);
}
