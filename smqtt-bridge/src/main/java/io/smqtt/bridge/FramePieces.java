// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.smqtt.thread.OnEventLoop;
import java.util.List;

/**
 * Decodes the WebSocket frames of a server, and gives large ones in pieces, as they arrive: a frame may be of any length, and of none more than a
 * piece is kept. A piece is what a fragment of the same message would be (RFC 6455, section 5.4), so all rules are those of the base class.
 */
@OnEventLoop
final class FramePieces extends WebSocket13FrameDecoder {

    /** The largest piece in bytes. */
    static final int LARGEST = 0xffff;

    private static final int FIN = 0x80;
    private static final int MASKED = 0x80;
    private static final int LENGTH = 0x7f;
    private static final int SHORT = 126;
    private static final int LONG = 127;
    private static final int HEADER = 2;

    /** The first byte of the next piece without the flag of the last one. */
    private int begin;

    private boolean last;
    private long left;

    FramePieces() {
        super(false, false, LARGEST);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
        if (left > 0) {
            piece(context, in, out);
            return;
        }
        int available = in.readableBytes();
        int lengthByte = available < HEADER ? 0 : in.getUnsignedByte(in.readerIndex() + 1);
        int header = HEADER
                + switch (lengthByte & LENGTH) {
                    case SHORT -> Short.BYTES;
                    case LONG -> Long.BYTES;
                    default -> 0;
                };
        if (available < header) {
            return;
        }
        long payload = payload(in, lengthByte & LENGTH);
        if (payload > LARGEST && lengthByte < MASKED) {
            int first = in.readUnsignedByte();
            last = (first & FIN) != 0;
            begin = first & ~FIN;
            in.skipBytes(header - 1);
            left = payload;
            piece(context, in, out);
        } else if (lengthByte >= MASKED || header > HEADER + Short.BYTES || available - header >= payload) {
            // also what is refused without its payload: a mask, or a length that is not in the shortest form
            super.decode(context, in, out);
        }
    }

    /** The bytes of the payload of a frame whose header is complete; negative if it is malformed. */
    private static long payload(ByteBuf in, int length) {
        int at = in.readerIndex() + HEADER;
        return length == SHORT ? in.getUnsignedShort(at) : length == LONG ? in.getLong(at) : length;
    }

    private void piece(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
        int now = (int) Math.min(left, Math.min(LARGEST, in.readableBytes()));
        if (now == 0) {
            return;
        }
        left -= now;
        ByteBuf piece = context.alloc().buffer(HEADER + Short.BYTES + now);
        try {
            piece.writeByte(begin | (last && left == 0 ? FIN : 0));
            if (now < SHORT) {
                piece.writeByte(now);
            } else {
                piece.writeByte(SHORT).writeShort(now);
            }
            piece.writeBytes(in, now);
            begin = 0; // the next one continues it
            super.decode(context, piece, out);
        } finally {
            piece.release();
        }
    }
}
