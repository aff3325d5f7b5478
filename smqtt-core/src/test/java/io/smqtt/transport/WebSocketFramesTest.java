// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
final class WebSocketFramesTest {

    @Test
    void aFrameCutAnywhereIsUnmaskedRight() {
        byte[] payload = new byte[70];
        new Random(1).nextBytes(payload);
        byte[] frame = WebSocketClient.frame(0x82, payload);
        for (int first = 0; first <= frame.length; first++) {
            for (int second = first; second <= frame.length; second += 3) {
                EmbeddedChannel channel = new EmbeddedChannel(new WebSocketFrames(100));
                channel.writeInbound(
                        part(frame, 0, first), part(frame, first, second), part(frame, second, frame.length));
                assertThat(inbound(channel)).isEqualTo(payload);
                channel.finishAndReleaseAll();
            }
        }
    }

    /** Or a frame could hold more memory than a client may have before its CONNECT. */
    @Test
    void whatHasArrivedOfAFrameGoesOnBeforeTheRestIsThere() {
        byte[] payload = new byte[1_000];
        new Random(4).nextBytes(payload);
        byte[] frame = WebSocketClient.frame(0x82, payload);
        EmbeddedChannel channel = new EmbeddedChannel(new WebSocketFrames(1_000));
        channel.writeInbound(part(frame, 0, frame.length - 1));
        assertThat(inbound(channel)).isEqualTo(Arrays.copyOf(payload, 999));
        channel.finishAndReleaseAll();
    }

    @Test
    void aTextFrameIsRefusedAtItsFirstByte() {
        EmbeddedChannel channel = new EmbeddedChannel(new WebSocketFrames(100));
        channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {(byte) 0x81}));
        ByteBuf close = channel.readOutbound();
        assertThat(ByteBufUtil.getBytes(close)).containsExactly(0x88, 2, 1003 >> 8, 1003 & 0xFF);
        close.release();
        assertThat(channel.isOpen()).isFalse();
        channel.finishAndReleaseAll();
    }

    @Test
    void aBufferOfSeveralPiecesIsUnmaskedRight() {
        byte[] payload = new byte[70];
        new Random(2).nextBytes(payload);
        byte[] frame = WebSocketClient.frame(0x82, payload);
        EmbeddedChannel channel = new EmbeddedChannel(new WebSocketFrames(100));
        channel.writeInbound(Unpooled.wrappedBuffer(part(frame, 0, 11), part(frame, 11, 30), part(frame, 30, 76)));
        assertThat(inbound(channel)).isEqualTo(payload);
        channel.finishAndReleaseAll();
    }

    @Test
    void lengthsAreWrittenInTheirShortestForm() {
        for (int length : new int[] {1, 125, 126, 65_535, 65_536}) {
            EmbeddedChannel channel = new EmbeddedChannel(new WebSocketFrames(100));
            channel.writeOutbound(Unpooled.buffer(length).writeZero(length));
            ByteBuf header = channel.readOutbound();
            assertThat(header.readUnsignedByte()).isEqualTo((short) 0x82);
            int announced = header.readUnsignedByte();
            int actual = announced < 126
                    ? announced
                    : announced == 126 ? header.readUnsignedShort() : (int) header.readLong();
            assertThat(actual).isEqualTo(length);
            assertThat(header.isReadable()).isFalse();
            header.release();
            channel.finishAndReleaseAll();
        }
    }

    @Test
    void arbitraryBytesNeverBreakTheDecoder() {
        Random random = new Random(3);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(40)];
            random.nextBytes(bytes);
            EmbeddedChannel channel = new EmbeddedChannel(new WebSocketFrames(100));
            channel.writeInbound(Unpooled.wrappedBuffer(bytes));
            assertThat(channel.isOpen() || channel.outboundMessages().size() <= 2)
                    .isTrue();
            channel.finishAndReleaseAll();
        }
    }

    private static ByteBuf part(byte[] bytes, int from, int to) {
        return Unpooled.copiedBuffer(Arrays.copyOfRange(bytes, from, to));
    }

    private static byte[] inbound(EmbeddedChannel channel) {
        ByteBuf all = Unpooled.buffer();
        for (ByteBuf next = channel.readInbound(); next != null; next = channel.readInbound()) {
            all.writeBytes(next);
            next.release();
        }
        byte[] bytes = new byte[all.readableBytes()];
        all.readBytes(bytes);
        return bytes;
    }
}
