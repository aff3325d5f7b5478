// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * WebSocket frames of a server (RFC 6455, section 5) around a byte stream. Inbound, the payload of binary frames and of their
 * continuations is passed on as it arrives, unmasked in place: a frame is never aggregated, because an MQTT packet may span frames and a
 * frame may contain several packets [MQTT-6.0.0-2]. Outbound, every buffer becomes one binary frame
 * [MQTT-6.0.0-1]. Pings are answered while the peer reads the answers, the closing handshake always.
 */
final class WebSocketFrames extends ChannelDuplexHandler {

    static final int NORMAL = 1000;
    static final int PROTOCOL_ERROR = 1002;
    static final int NOT_ACCEPTABLE = 1003;
    static final int TOO_BIG = 1009;

    private static final int FIN = 0x80;
    private static final int RESERVED = 0x70;
    private static final int MASKED = 0x80;
    private static final int CONTINUATION = 0x0;
    private static final int TEXT = 0x1;
    private static final int BINARY = 0x2;
    private static final int CLOSE = 0x8;
    private static final int PING = 0x9;
    private static final int PONG = 0xA;
    private static final int MAX_CONTROL_BYTES = 125;
    private static final int MAX_HEADER_BYTES = 10;

    private final int maxFrameBytes;

    // the frame being read
    private Part part = Part.OPCODE;
    private int opcode;
    private boolean last;
    private int headerBytesLeft;
    private int lengthBytes;
    private long payloadLeft;
    private int mask;
    private int maskOffset;
    private byte @Nullable [] control;
    private int controlBytes;

    private boolean fragmented; // a binary message has begun and not ended
    private boolean starving; // a read was requested and has returned nothing yet
    private boolean closeSent;

    WebSocketFrames(int maxFrameBytes) {
        this.maxFrameBytes = maxFrameBytes;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!(message instanceof ByteBuf in)) {
            ctx.fireChannelRead(message);
            return;
        }
        try {
            while (in.isReadable() && part != Part.NOTHING) {
                advance(ctx, in);
            }
        } finally {
            in.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        boolean again = starving && ctx.channel().isWritable();
        ctx.fireChannelReadComplete();
        if (again) {
            ctx.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (starving && ctx.channel().isWritable()) {
            ctx.read();
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        starving = true;
        ctx.read();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (!(message instanceof ByteBuf payload)) {
            ctx.write(message, promise);
        } else if (closeSent) {
            ReferenceCountUtil.release(message);
            promise.tryFailure(new ClosedChannelException());
        } else if (!payload.isReadable()) {
            ctx.write(payload, promise);
        } else {
            ctx.write(header(ctx, BINARY, payload.readableBytes()));
            ctx.write(payload, promise);
        }
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        sendClose(ctx, NORMAL);
        ctx.close(promise);
    }

    private void advance(ChannelHandlerContext ctx, ByteBuf in) {
        switch (part) {
            case OPCODE -> readOpcode(ctx, in.readUnsignedByte());
            case LENGTH -> readLength(ctx, in.readUnsignedByte());
            case MORE_LENGTH -> readMoreLength(ctx, in.readUnsignedByte());
            case MASK -> readMask(ctx, in.readUnsignedByte());
            case PAYLOAD -> readPayload(ctx, in);
            case NOTHING -> in.skipBytes(in.readableBytes());
        }
    }

    private void readOpcode(ChannelHandlerContext ctx, int first) {
        opcode = first & 0x0F;
        last = (first & FIN) != 0;
        if (opcode == TEXT) {
            fail(ctx, NOT_ACCEPTABLE); // [MQTT-6.0.0-1]
        } else if ((first & RESERVED) != 0 || !legal()) {
            fail(ctx, PROTOCOL_ERROR);
        } else {
            part = Part.LENGTH;
        }
    }

    private boolean legal() {
        return switch (opcode) {
            case CONTINUATION -> fragmented;
            case BINARY -> !fragmented;
            case CLOSE, PING, PONG -> last;
            default -> false;
        };
    }

    private void readLength(ChannelHandlerContext ctx, int second) {
        int length = second & 0x7F;
        if ((second & MASKED) == 0 || isControl() && length > MAX_CONTROL_BYTES) {
            fail(ctx, PROTOCOL_ERROR);
            return;
        }
        payloadLeft = 0;
        if (length <= MAX_CONTROL_BYTES) {
            payloadLeft = length;
            lengthKnown(ctx);
        } else {
            lengthBytes = length == 126 ? 2 : 8;
            headerBytesLeft = lengthBytes;
            part = Part.MORE_LENGTH;
        }
    }

    private void readMoreLength(ChannelHandlerContext ctx, int next) {
        payloadLeft = payloadLeft << 8 | next;
        if (--headerBytesLeft > 0) {
            return;
        }
        boolean shortest = payloadLeft > (lengthBytes == 2 ? MAX_CONTROL_BYTES : 0xFFFF); // false if negative too
        if (shortest) {
            lengthKnown(ctx);
        } else {
            fail(ctx, PROTOCOL_ERROR);
        }
    }

    private void lengthKnown(ChannelHandlerContext ctx) {
        if (payloadLeft > maxFrameBytes && !isControl()) {
            fail(ctx, TOO_BIG);
            return;
        }
        mask = 0;
        maskOffset = 0;
        headerBytesLeft = Integer.BYTES;
        part = Part.MASK;
    }

    private void readMask(ChannelHandlerContext ctx, int next) {
        mask = mask << 8 | next;
        if (--headerBytesLeft > 0) {
            return;
        }
        part = Part.PAYLOAD;
        if (isControl()) {
            control = new byte[(int) payloadLeft];
            controlBytes = 0;
        }
        if (payloadLeft == 0) {
            frameRead(ctx);
        }
    }

    private void readPayload(ChannelHandlerContext ctx, ByteBuf in) {
        int length = (int) Math.min(payloadLeft, in.readableBytes());
        unmask(in, in.readerIndex(), length);
        payloadLeft -= length;
        boolean complete = payloadLeft == 0;
        if (control != null) {
            in.readBytes(control, controlBytes, length);
            controlBytes += length;
            if (complete) {
                frameRead(ctx);
            }
            return;
        }
        ByteBuf payload = in.readRetainedSlice(length);
        if (complete) {
            frameRead(ctx); // before the payload is passed on, because its reader may close
        }
        starving = false;
        ctx.fireChannelRead(payload);
    }

    private void unmask(ByteBuf in, int from, int length) {
        int rotated = Integer.rotateLeft(mask, maskOffset * Byte.SIZE);
        maskOffset = maskOffset + length & 3;
        if (in.nioBufferCount() == 1) {
            unmask(in.internalNioBuffer(from, length), rotated);
            return;
        }
        for (int i = 0; i < length; i++) {
            in.setByte(from + i, in.getByte(from + i) ^ maskByte(rotated, i));
        }
    }

    /** Unmasks in place, eight bytes at a time. */
    private static void unmask(ByteBuffer memory, int rotated) {
        long wide = (long) rotated << Integer.SIZE | rotated & 0xFFFF_FFFFL;
        int at = memory.position();
        int end = memory.limit();
        for (; end - at >= Long.BYTES; at += Long.BYTES) {
            memory.putLong(at, memory.getLong(at) ^ wide);
        }
        for (int i = 0; at < end; at++, i++) {
            memory.put(at, (byte) (memory.get(at) ^ maskByte(rotated, i)));
        }
    }

    private static int maskByte(int rotated, int i) {
        return rotated >>> (3 - (i & 3)) * Byte.SIZE;
    }

    private void frameRead(ChannelHandlerContext ctx) {
        part = Part.OPCODE;
        byte[] content = control;
        control = null;
        if (content == null) {
            fragmented = !last;
        } else if (opcode == CLOSE) {
            closed(ctx, content);
        } else if (opcode == PING && ctx.channel().isWritable()) {
            ByteBuf pong = header(ctx, PONG, content.length).writeBytes(content);
            ctx.writeAndFlush(pong);
        }
    }

    /** Answers a close frame with its own code. */
    private void closed(ChannelHandlerContext ctx, byte[] content) {
        if (content.length == 0) {
            fail(ctx, NORMAL);
            return;
        }
        int code = content.length == 1 ? 0 : (content[0] & 0xFF) << 8 | content[1] & 0xFF;
        fail(ctx, sendable(code) ? code : PROTOCOL_ERROR);
    }

    /** RFC 6455, section 7.4: some codes are never sent. */
    private static boolean sendable(int code) {
        return code >= 3000 && code < 5000
                || code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
    }

    private void fail(ChannelHandlerContext ctx, int code) {
        sendClose(ctx, code);
        ctx.close();
    }

    private void sendClose(ChannelHandlerContext ctx, int code) {
        part = Part.NOTHING;
        if (!closeSent && ctx.channel().isActive()) {
            closeSent = true;
            ctx.writeAndFlush(header(ctx, CLOSE, Short.BYTES).writeShort(code));
        }
    }

    private boolean isControl() {
        return opcode >= CLOSE;
    }

    /** Room is left for a control frame's payload. */
    private static ByteBuf header(ChannelHandlerContext ctx, int opcode, int length) {
        ByteBuf header = ctx.alloc().buffer(opcode >= CLOSE ? 2 + length : MAX_HEADER_BYTES);
        header.writeByte(FIN | opcode);
        if (length <= MAX_CONTROL_BYTES) {
            header.writeByte(length);
        } else if (length <= 0xFFFF) {
            header.writeByte(126).writeShort(length);
        } else {
            header.writeByte(127).writeLong(length);
        }
        return header;
    }

    /** The part of a frame to which the next byte belongs. */
    private enum Part {
        OPCODE,
        LENGTH,
        MORE_LENGTH,
        MASK,
        PAYLOAD,
        /** Nothing is read after this. */
        NOTHING
    }
}
