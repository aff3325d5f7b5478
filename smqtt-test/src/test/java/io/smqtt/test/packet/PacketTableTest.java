// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.smqtt.codec.PacketDecoder;
import io.smqtt.codec.ProtocolViolation;
import io.smqtt.message.ProtocolVersion;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The broker's decoder against the whole packet table. */
class PacketTableTest {

    private static final int EVERY_SPLIT_BYTES = 300;
    private static final byte[] PING = PacketBytes.packet(0xC0).toBytes();

    private final PacketDecoder decoder = new PacketDecoder(PacketTable.LIMITS);

    static Stream<PacketRow> rows() {
        return PacketTable.rows().stream();
    }

    static Stream<PacketRow> acceptedRows() {
        return PacketTable.acceptedRows().stream();
    }

    @Test
    void theTableHasHundredsOfRowsOfUniqueName() {
        Set<String> names = new HashSet<>();
        List<String> repeated = new ArrayList<>();
        for (PacketRow row : PacketTable.rows()) {
            if (!names.add(row.version() + row.name())) {
                repeated.add(row.toString());
            }
        }

        assertThat(repeated).isEmpty();
        assertThat(names).hasSizeGreaterThan(1_000);
    }

    @ParameterizedTest
    @MethodSource("rows")
    void decodesAsExpectedFromAnArray(PacketRow row) {
        assertThat(decode(row, Unpooled.wrappedBuffer(row.bytes()))).isEqualTo(row.expectation());
    }

    @ParameterizedTest
    @MethodSource("rows")
    void decodesAsExpectedFromDirectMemoryInTheMiddleOfABuffer(PacketRow row) {
        ByteBuf in = Unpooled.directBuffer(row.bytes().length + 7);
        try {
            in.writeZero(7).writeBytes(row.bytes()).readerIndex(7);

            assertThat(decode(row, in)).isEqualTo(row.expectation());
        } finally {
            in.release();
        }
    }

    @ParameterizedTest
    @MethodSource("rows")
    void decodesAsExpectedWhateverFollows(PacketRow row) {
        byte[] bytes = row.expectation() instanceof PacketExpectation.NeedsMore
                ? row.bytes()
                : PacketBytes.fields().bytes(row.bytes()).hex("FF 00 FF 00 FF").toBytes();

        assertThat(decode(row, Unpooled.wrappedBuffer(bytes))).isEqualTo(row.expectation());
    }

    @ParameterizedTest
    @MethodSource("acceptedRows")
    void decodesTheSamePacketWhereverItIsSplit(PacketRow row) {
        byte[] bytes = row.bytes();
        List<String> whole = decodeArriving(row.version(), bytes, bytes.length);
        assertThat(whole).hasSize(1);

        int step = bytes.length <= EVERY_SPLIT_BYTES ? 1 : bytes.length / 50;
        for (int first = 1; first < bytes.length; first += step) {
            assertThat(decodeArriving(row.version(), bytes, first)).isEqualTo(whole);
        }
    }

    @ParameterizedTest
    @MethodSource("rows")
    void decodesAsExpectedBehindAnotherPacketOfTheSameRead(PacketRow row) {
        ProtocolVersion version = row.version();
        byte[] before = version == null ? new byte[0] : PING;
        ByteBuf in = Unpooled.wrappedBuffer(before, row.bytes());
        RecordingHandler handler = new RecordingHandler();
        if (version != null) {
            assertThat(decoder.decode(in, version, PacketTable.MAXIMUM_PACKET_BYTES, handler)).isTrue();
            assertThat(handler.packets).containsExactly("PINGREQ");
        }

        assertThat(decode(row, in)).isEqualTo(row.expectation());
    }

    private PacketExpectation decode(PacketRow row, ByteBuf in) {
        RecordingHandler handler = new RecordingHandler();
        int start = in.readerIndex();
        try {
            if (!decoder.decode(in, row.version(), PacketTable.MAXIMUM_PACKET_BYTES, handler)) {
                assertThat(in.readerIndex()).isEqualTo(start);
                return new PacketExpectation.NeedsMore();
            }
        } catch (ProtocolViolation violation) {
            assertThat(handler.packets).isEmpty();
            return new PacketExpectation.Violation(violation.reason());
        }
        assertThat(handler.packets).hasSize(1);
        assertThat(in.readerIndex()).isEqualTo(start + row.bytes().length);
        return new PacketExpectation.Accepted();
    }

    private List<String> decodeArriving(@Nullable ProtocolVersion version, byte[] bytes, int first) {
        RecordingHandler handler = new RecordingHandler();
        ByteBuf in = Unpooled.wrappedBuffer(bytes);
        in.writerIndex(first);
        if (!decoder.decode(in, version, PacketTable.MAXIMUM_PACKET_BYTES, handler)) {
            assertThat(handler.packets).isEmpty();
            in.writerIndex(bytes.length);
            assertThat(decoder.decode(in, version, PacketTable.MAXIMUM_PACKET_BYTES, handler)).isTrue();
        }
        assertThat(in.isReadable()).isFalse();
        return handler.packets;
    }
}
