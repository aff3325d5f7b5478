// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.codec.DecoderLimits;
import java.util.List;

/**
 * Packets that a client may or may not send, each with what a server's decoder must make of it: every packet type,
 * legal and malformed, in MQTT 3.1, 3.1.1 and 5.0. Names are unique within a version. Expectations are those of a
 * decoder: a packet that is accepted may still be refused for the state of its connection.
 */
public final class PacketTable {

    /** The limits that the table takes for granted; they are those of a broker with its default configuration. */
    public static final DecoderLimits LIMITS = new DecoderLimits(65_536, 100, 4_096, 128, 1_000);

    /** The maximum packet size, in bytes, that the table takes for granted. */
    public static final int MAXIMUM_PACKET_BYTES = 1_048_576;

    private static final List<PacketRow> ROWS = collect();

    private PacketTable() {}

    /**
     * All rows.
     *
     * @return in the order of the standard's chapters, as far as there is one
     */
    public static List<PacketRow> rows() {
        return ROWS;
    }

    /**
     * The rows whose bytes are whole legal packets.
     *
     * @return rows to be accepted
     */
    public static List<PacketRow> acceptedRows() {
        return ROWS.stream().filter(PacketRow::isAccepted).toList();
    }

    private static List<PacketRow> collect() {
        RowCollector rows = new RowCollector();
        FramingRows.addTo(rows);
        StringRows.addTo(rows);
        ConnectRows.addTo(rows);
        PublishRows.addTo(rows);
        AcknowledgementRows.addTo(rows);
        SubscribeRows.addTo(rows);
        DisconnectRows.addTo(rows);
        PropertyRows.addTo(rows);
        return rows.rows();
    }
}
