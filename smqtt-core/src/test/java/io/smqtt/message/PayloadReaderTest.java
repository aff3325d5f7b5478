// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PayloadReaderTest {

    private static final int SIZE = PayloadReader.IN_PLACE_BYTES;

    private final PayloadMemory memory = new PayloadMemory(5L * SIZE);
    private final PayloadReader reader = new PayloadReader(memory);

    private static ByteBuf filled(int payloads) {
        ByteBuf buffer = Unpooled.directBuffer(payloads * SIZE, payloads * SIZE);
        for (int i = 0; i < payloads; i++) {
            buffer.writeBytes(String.valueOf(i).repeat(SIZE).getBytes(StandardCharsets.US_ASCII));
        }
        return buffer;
    }

    @Test
    void largePayloadsStayInTheirBufferWhichCountsOnce() {
        ByteBuf buffer = filled(2);
        Payload first = reader.read(buffer, 0, SIZE);
        Payload second = reader.read(buffer, SIZE, SIZE);
        buffer.release();
        assertThat(memory.bytes()).isEqualTo(2L * SIZE);
        assertThat(first.isOnHeap()).isFalse();
        assertThat(first.size()).isEqualTo(SIZE);

        first.release();
        ByteBuf written = second.retainedSlice();
        assertThat(written).isNotNull();
        assertThat(written.toString(StandardCharsets.US_ASCII)).isEqualTo("1".repeat(SIZE));
        written.release();
        assertThat(memory.bytes()).isEqualTo(2L * SIZE);

        second.release();
        assertThat(memory.bytes()).isZero();
        assertThat(buffer.refCnt()).isZero();
    }

    @Test
    void utf8IsCheckedWithoutACopy() {
        ByteBuf buffer = filled(1);
        Payload text = reader.read(buffer, 0, SIZE);
        assertThat(text.isUtf8()).isTrue();
        buffer.setByte(SIZE - 1, 0xE4); // cut off in the middle of a character
        Payload cut = reader.read(buffer, 0, SIZE);
        assertThat(cut.isUtf8()).isFalse();
        buffer.release();
        cut.release();
        text.release();
        assertThatIllegalStateException().isThrownBy(cut::onHeap); // there is no copy

        assertThat(Payload.EMPTY.isUtf8()).isTrue();
        assertThat(Payload.of("\u00e4\ud83d\ude00").isUtf8()).isTrue();
        assertThat(Payload.of(new byte[] {(byte) 0xED, (byte) 0xA0, (byte) 0x80})
                        .isUtf8())
                .isFalse(); // a surrogate
        assertThat(Payload.of(new byte[] {(byte) 0xC0, (byte) 0x80}).isUtf8()).isFalse(); // longer than needed
    }

    @Test
    void outputKeepsTheBufferWhichCountsUntilThen() {
        ByteBuf buffer = filled(1);
        Payload payload = reader.read(buffer, 0, SIZE);
        ByteBuf written = payload.retainedSlice();
        payload.release();
        buffer.release();
        assertThat(memory.bytes()).isEqualTo(SIZE);
        assertThat(written).isNotNull();
        assertThat(written.toString(StandardCharsets.US_ASCII)).isEqualTo("0".repeat(SIZE));
        written.release();
        assertThat(memory.bytes()).isZero();
        assertThat(buffer.refCnt()).isZero();
    }

    /** A WebSocket frame is passed on as a slice of what the socket was read into. */
    @Test
    void aSliceCountsAsItsWholeBuffer() {
        ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(4 * SIZE);
        ByteBuf frame = buffer.writeZero(4 * SIZE).readRetainedSlice(SIZE + 1);
        buffer.release();
        Payload payload = reader.read(frame, 1, SIZE);
        frame.release();
        assertThat(payload.isOnHeap()).isFalse();
        assertThat(payload.heldBytes()).isEqualTo(4 * SIZE);
        assertThat(memory.bytes()).isEqualTo(4L * SIZE);
        payload.release();
        assertThat(memory.bytes()).isZero();
        assertThat(buffer.refCnt()).isZero();
    }

    @Test
    void aSmallSliceIsCopied() {
        ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(5 * SIZE);
        ByteBuf frame = buffer.writeZero(5 * SIZE).readRetainedSlice(SIZE);
        buffer.release();
        Payload payload = reader.read(frame, 0, SIZE);
        assertThat(payload.isOnHeap()).isTrue();
        assertThat(memory.bytes()).isZero();
        frame.release();
        assertThat(buffer.refCnt()).isZero();
    }

    @Test
    void theCopyOnTheHeapOutlivesTheBuffer() {
        ByteBuf buffer = filled(1);
        Payload payload = reader.read(buffer, 0, SIZE);
        buffer.release();
        Payload copy = payload.onHeap();
        assertThat(payload.onHeap()).isSameAs(copy);
        payload.release();
        assertThat(copy.isOnHeap()).isTrue();
        assertThat(copy.asString()).isEqualTo("0".repeat(SIZE));
        assertThat(buffer.refCnt()).isZero();
    }

    @Test
    void aPayloadWithoutAReferenceCannotBeRead() {
        ByteBuf buffer = filled(1);
        Payload payload = reader.read(buffer, 0, SIZE);
        payload.release(); // although somebody else still has the buffer
        assertThatIllegalStateException().isThrownBy(payload::onHeap);
        assertThatIllegalStateException().isThrownBy(payload::retain);
        assertThatIllegalStateException().isThrownBy(payload::retainedSlice);
        assertThatIllegalStateException().isThrownBy(payload::release);
        assertThat(payload.size()).isEqualTo(SIZE);
        Payload again = reader.read(buffer, 0, SIZE);
        assertThat(again.asString()).isEqualTo("0".repeat(SIZE));
        again.release();
        buffer.release();
    }

    @Test
    void theOtherBytesAreCopied() {
        ByteBuf buffer = filled(1);
        ByteBuf onHeap = Unpooled.copiedBuffer(buffer);
        ByteBuf hardlyFilled = Unpooled.directBuffer(8 * SIZE).writeBytes(buffer, 0, SIZE);
        assertThat(reader.read(buffer, 0, SIZE - 1).isOnHeap()).isTrue();
        assertThat(reader.read(onHeap, 0, SIZE).isOnHeap()).isTrue();
        assertThat(reader.read(hardlyFilled, 0, SIZE).isOnHeap()).isTrue();
        assertThat(reader.read(buffer, 0, 0)).isSameAs(Payload.EMPTY);
        assertThat(memory.bytes()).isZero();
        buffer.release();
        hardlyFilled.release();
    }

    @Test
    void aboveTheLimitPayloadsAreCopied() {
        ByteBuf first = filled(3);
        ByteBuf second = filled(3);
        Payload inPlace = reader.read(first, 0, SIZE);
        Payload copied = reader.read(second, SIZE, SIZE);
        assertThat(inPlace.isOnHeap()).isFalse();
        assertThat(copied.isOnHeap()).isTrue();
        assertThat(copied.asString()).isEqualTo("1".repeat(SIZE));
        inPlace.release();
        copied.release();

        Payload later = reader.read(second, 0, SIZE);
        assertThat(later.isOnHeap()).isFalse();
        later.release();
        assertThat(memory.bytes()).isZero();
        first.release();
        second.release();
    }

    @Test
    void theSameBytesAreEqualWhereverTheyAre() {
        ByteBuf buffer = filled(1);
        Payload payload = reader.read(buffer, 0, SIZE);
        Payload heap = Payload.of("0".repeat(SIZE));
        assertThat(payload).isEqualTo(heap).hasSameHashCodeAs(heap);
        assertThat(heap).isEqualTo(payload);
        assertThat(payload).isNotEqualTo(Payload.of("1".repeat(SIZE)));
        assertThat(payload.toByteArray()).isEqualTo(heap.toByteArray());
        assertThat(payload.asByteBuffer()).isEqualTo(heap.asByteBuffer());
        assertThat(payload).hasToString(heap.toString());
        payload.release();
        buffer.release();
    }
}
