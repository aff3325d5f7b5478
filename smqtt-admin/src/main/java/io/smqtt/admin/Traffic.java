// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.spi.TrafficCounts;
import java.util.List;

/**
 * Packets and bytes of all clients of a node since its start, without TLS and WebSocket. Immutable.
 *
 * @param receivedPackets packets of every kind from clients
 * @param receivedBytes their bytes
 * @param sentPackets packets of every kind to clients
 * @param sentBytes their bytes
 */
public record Traffic(long receivedPackets, long receivedBytes, long sentPackets, long sentBytes) {

    static Traffic of(List<TrafficCounts> loops) {
        return new Traffic(
                loops.stream().mapToLong(TrafficCounts::receivedPackets).sum(),
                loops.stream().mapToLong(TrafficCounts::receivedBytes).sum(),
                loops.stream().mapToLong(TrafficCounts::sentPackets).sum(),
                loops.stream().mapToLong(TrafficCounts::sentBytes).sum());
    }
}
