// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects the rows of the table. */
final class RowCollector {

    private final List<PacketRow> rows = new ArrayList<>();

    void accepted(String name, @Nullable ProtocolVersion version, PacketBytes packet, String... tags) {
        add(name, version, packet.toBytes(), new PacketExpectation.Accepted(), tags);
    }

    void needsMore(String name, @Nullable ProtocolVersion version, byte[] bytes, String... tags) {
        add(name, version, bytes, new PacketExpectation.NeedsMore(), tags);
    }

    void violation(
            String name, @Nullable ProtocolVersion version, ReasonCode reason, PacketBytes packet, String... tags) {
        violation(name, version, reason, packet.toBytes(), tags);
    }

    void violation(String name, @Nullable ProtocolVersion version, ReasonCode reason, byte[] bytes, String... tags) {
        add(name, version, bytes, new PacketExpectation.Violation(reason), tags);
    }

    private void add(
            String name,
            @Nullable ProtocolVersion version,
            byte[] bytes,
            PacketExpectation expectation,
            String... tags) {
        rows.add(new PacketRow(name, version, bytes, expectation, List.of(tags)));
    }

    List<PacketRow> rows() {
        return List.copyOf(rows);
    }
}
