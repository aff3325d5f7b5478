// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Packets in parts of any size. */
class PacketStreamTest {

    private final UnpooledByteBufAllocator alloc = new UnpooledByteBufAllocator(false);
    private final PacketStream stream = new PacketStream();

    @AfterEach
    void nothingIsLeft() {
        stream.clear();
        assertThat(alloc.metric().usedHeapMemory()).isZero();
    }

    /** A packet with a payload of some bytes, all of them the same. */
    private static void write(ByteBuf out, int payload, int value) {
        out.writeByte(0x30);
        Packets.writeVarInt(out, payload);
        for (int i = 0; i < payload; i++) {
            out.writeByte(value);
        }
    }

    private List<ByteBuf> cut(ByteBuf part) {
        List<ByteBuf> packets = new ArrayList<>();
        stream.add(part);
        ByteBuf packet = stream.next(stream.length());
        while (packet != null) {
            packets.add(Unpooled.copiedBuffer(packet));
            packet = stream.next(stream.length());
        }
        stream.settle(alloc);
        return packets;
    }

    @Test
    void packetsAreWholeHoweverTheyAreDivided() {
        Random random = new Random(1);
        ByteBuf all = Unpooled.buffer();
        for (int i = 0; i < 50; i++) {
            write(all, random.nextInt(2_000), i);
        }
        ByteBuf expected = all.copy();
        ByteBuf joined = Unpooled.buffer();
        int count = 0;
        while (all.isReadable()) {
            ByteBuf part = alloc.heapBuffer().writeBytes(all, Math.min(all.readableBytes(), 1 + random.nextInt(700)));
            for (ByteBuf packet : cut(part)) {
                joined.writeBytes(packet);
                count++;
            }
        }
        assertThat(count).isEqualTo(50);
        assertThat(joined).isEqualTo(expected);
        assertThat(stream.isEmpty()).isTrue();
    }

    @Test
    void aLongPacketInShortPartsIsCopiedAFewTimesOnly() {
        ByteBuf all = Unpooled.buffer();
        write(all, 200_000, 7);
        int parts = 0;
        int buffers = 0;
        int capacity = 0;
        List<ByteBuf> packets = new ArrayList<>();
        while (all.isReadable()) {
            packets.addAll(cut(alloc.heapBuffer(16).writeBytes(all, Math.min(all.readableBytes(), 10))));
            parts++;
            int used = (int) alloc.metric().usedHeapMemory();
            buffers += used == capacity ? 0 : 1;
            capacity = used;
        }
        assertThat(packets).hasSize(1);
        assertThat(parts).isGreaterThan(20_000);
        assertThat(buffers).isLessThan(20);
    }

    @Test
    void skippedBytesAreNotKept() {
        ByteBuf all = Unpooled.buffer();
        write(all, 100_000, 7);
        write(all, 3, 8);
        stream.add(alloc.heapBuffer().writeBytes(all, 1_000));
        stream.skip(stream.length());
        while (stream.skips()) {
            stream.settle(alloc);
            assertThat(alloc.metric().usedHeapMemory()).isZero();
            stream.add(alloc.heapBuffer().writeBytes(all, Math.min(all.readableBytes(), 1_000)));
        }
        assertThat(stream.length()).isEqualTo(5);
        assertThat(stream.next(5)).isNotNull();
        stream.settle(alloc);
    }
}
