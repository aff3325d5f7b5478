// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.io.ByteArrayOutputStream;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** WebSocket frames of any length, in parts of any size. */
class FramePiecesTest {

    private final EmbeddedChannel channel = new EmbeddedChannel(new FramePieces());
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private int largest;
    private int begun;
    private int ended;
    private int pings;

    private static void write(ByteBuf out, int first, byte[] payload) {
        out.writeByte(first);
        if (payload.length < 126) {
            out.writeByte(payload.length);
        } else if (payload.length < 0x1_0000) {
            out.writeByte(126).writeShort(payload.length);
        } else {
            out.writeByte(127).writeLong(payload.length);
        }
        out.writeBytes(payload);
    }

    private void take() {
        for (WebSocketFrame frame = channel.readInbound(); frame != null; frame = channel.readInbound()) {
            if (frame instanceof PingWebSocketFrame) {
                pings++;
            } else {
                assertThat(frame).isInstanceOfAny(BinaryWebSocketFrame.class, ContinuationWebSocketFrame.class);
                begun += frame instanceof BinaryWebSocketFrame ? 1 : 0;
                ended += frame.isFinalFragment() ? 1 : 0;
                largest = Math.max(largest, frame.content().readableBytes());
                byte[] bytes = new byte[frame.content().readableBytes()];
                frame.content().readBytes(bytes);
                received.writeBytes(bytes);
            }
            frame.release();
        }
    }

    @Test
    void framesOfAnyLengthComeInPieces() {
        Random random = new Random(1);
        ByteBuf all = Unpooled.buffer();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        int messages = 0;
        for (int length : new int[] {0, 1, 125, 126, 65_535, 65_536, 65_537, 131_070, 131_071, 1_000_000, 3}) {
            byte[] payload = new byte[length];
            random.nextBytes(payload);
            boolean divided = messages % 2 == 1;
            write(all, divided ? 0x02 : 0x82, payload);
            write(all, 0x89, new byte[messages]); // a ping
            if (divided) {
                write(all, 0x80, payload);
                expected.writeBytes(payload);
            }
            expected.writeBytes(payload);
            messages++;
        }
        while (all.isReadable()) {
            channel.writeInbound(all.readRetainedSlice(Math.min(all.readableBytes(), 1 + random.nextInt(3_000))));
            take();
        }
        all.release();

        assertThat(received.toByteArray()).isEqualTo(expected.toByteArray());
        assertThat(begun).isEqualTo(messages);
        assertThat(ended).isEqualTo(messages);
        assertThat(pings).isEqualTo(messages);
        assertThat(largest).isLessThanOrEqualTo(FramePieces.LARGEST);
    }

    /** RFC 6455, sections 5.1, 5.2 and 5.5. */
    @Test
    void whatIsNotAllowedIsRefused() {
        assertRefused(0x82, 0x80 | 127, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4); // masked
        assertRefused(0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff); // not the shortest form
        assertRefused(0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0);
        assertRefused(0x89, 127, 0, 0, 0, 0, 0, 1, 0, 0, 1); // a large ping
        assertRefused(0x80, 127, 0, 0, 0, 0, 0, 1, 0, 0, 1); // continues nothing
        assertRefused(0xc2, 127, 0, 0, 0, 0, 0, 1, 0, 0, 1); // an extension
    }

    private static void assertRefused(int... bytes) {
        EmbeddedChannel other = new EmbeddedChannel(new FramePieces());
        ByteBuf frame = Unpooled.buffer();
        for (int value : bytes) {
            frame.writeByte(value);
        }
        assertThatThrownBy(() -> other.writeInbound(frame)).isInstanceOf(CorruptedWebSocketFrameException.class);
        other.finishAndReleaseAll();
    }
}
