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
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The broker's decoder against the whole packet table. */
class PacketTableTest {

    private static final int EVERY_SPLIT_BYTES = 300;
    private static final byte[] PING = PacketBytes.packet(0xC0).toBytes();

    private final PacketDecoder decoder = new PacketDecoder(PacketTable.LIMITS);

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

    @Test
    void decodesEachRowAsExpectedFromAnArray() {
        assertThat(surprises(row -> decode(row, Unpooled.wrappedBuffer(row.bytes()))))
                .isEmpty();
    }

    @Test
    void decodesEachRowAsExpectedFromDirectMemoryInTheMiddleOfABuffer() {
        ByteBuf in = Unpooled.directBuffer();
        try {
            assertThat(surprises(row -> {
                        in.clear().writeZero(7).writeBytes(row.bytes()).readerIndex(7);
                        return decode(row, in);
                    }))
                    .isEmpty();
        } finally {
            in.release();
        }
    }

    @Test
    void decodesEachRowAsExpectedFromABufferOfManyParts() {
        assertThat(surprises(row -> {
                    int half = row.bytes().length / 2;
                    ByteBuf first = Unpooled.wrappedBuffer(row.bytes(), 0, half);
                    ByteBuf second = Unpooled.wrappedBuffer(row.bytes(), half, row.bytes().length - half);
                    return decode(row, Unpooled.wrappedBuffer(first, second));
                }))
                .isEmpty();
    }

    @Test
    void decodesEachRowAsExpectedWhateverFollows() {
        byte[] following = PacketBytes.fields().hex("FF 00 FF 00 FF").toBytes();

        assertThat(surprises(row -> row.expectation() instanceof PacketExpectation.NeedsMore
                        ? row.expectation()
                        : decode(row, Unpooled.wrappedBuffer(row.bytes(), following))))
                .isEmpty();
    }

    @Test
    void decodesEachRowAsExpectedBehindAnotherPacketOfTheSameRead() {
        assertThat(surprises(row -> {
                    if (row.version() == null) {
                        return row.expectation();
                    }
                    ByteBuf in = Unpooled.wrappedBuffer(PING, row.bytes());
                    RecordingHandler handler = new RecordingHandler();
                    decoder.decode(in, row.version(), PacketTable.MAXIMUM_PACKET_BYTES, handler);
                    assertThat(handler.packets).containsExactly("PINGREQ");
                    return decode(row, in);
                }))
                .isEmpty();
    }

    @Test
    void decodesTheSamePacketWhereverItIsSplit() {
        for (PacketRow row : PacketTable.acceptedRows()) {
            byte[] bytes = row.bytes();
            List<String> whole = decodeArriving(row.version(), bytes, bytes.length);
            int step = bytes.length <= EVERY_SPLIT_BYTES ? 1 : bytes.length / 50;
            for (int first = 1; first < bytes.length; first += step) {
                assertThat(decodeArriving(row.version(), bytes, first))
                        .as(row.name())
                        .isEqualTo(whole);
            }
        }
    }

    @Test
    void neverAsksForMoreThanAPacketNeedsNorHandsOverLess() {
        for (PacketRow row : PacketTable.rows()) {
            if (row.expectation() instanceof PacketExpectation.Violation) {
                byte[] bytes = row.bytes();
                int step = bytes.length <= EVERY_SPLIT_BYTES ? 1 : bytes.length / 50;
                for (int length = 0; length < bytes.length; length += step) {
                    assertThat(decode(row, Unpooled.wrappedBuffer(bytes, 0, length)))
                            .as("the first %s bytes of %s", length, row)
                            .isNotInstanceOf(PacketExpectation.Accepted.class);
                }
            }
        }
    }

    private List<String> surprises(Function<PacketRow, PacketExpectation> decode) {
        List<String> surprises = new ArrayList<>();
        for (PacketRow row : PacketTable.rows()) {
            PacketExpectation outcome = decode.apply(row);
            if (!outcome.equals(row.expectation())) {
                surprises.add(row + " but " + outcome);
            }
        }
        return surprises;
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
            assertThat(decoder.decode(in, version, PacketTable.MAXIMUM_PACKET_BYTES, handler))
                    .isTrue();
        }
        assertThat(in.isReadable()).isFalse();
        return handler.packets;
    }
}
