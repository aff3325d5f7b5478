// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.FastThreadLocal;
import io.smqtt.cluster.jgroups.SharedSecret;
import io.smqtt.thread.OnEventLoop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The protocol of {@link io.smqtt.cluster.jgroups.SharedSecret} between nodes as a handler: the accepting end sends four bytes and a random
 * number, the dialling end the same with its proof, the accepting end its own proof; after that each direction consists of numbered records of at
 * most 64 KiB, sealed with AES-256-GCM by a key of this connection. The first four bytes differ from those of the cluster's port, so that neither
 * proof is one for the other port.
 */
@OnEventLoop
final class SealedChannel extends ChannelDuplexHandler {

    /** The event that follows the handshake. */
    static final Object SECURED = new Object();

    private static final byte[] PROTOCOL = {'s', 'm', 'r', 1};
    private static final int NUMBER_BYTES = 32;
    private static final int TAG_BYTES = 16;
    private static final int NONCE_BYTES = 12;
    private static final int RECORD_BYTES = 64 * 1024;
    private static final String DIALLER = "relay: proof of the dialling end";
    private static final String ACCEPTOR = "relay: proof of the accepting end";
    private static final String TO_ACCEPTOR = "relay: key to the accepting end";
    private static final String TO_DIALLER = "relay: key to the dialling end";
    private static final SecureRandom RANDOM = new SecureRandom();

    /** One for all connections of an event loop: it gets key and nonce for each record. */
    private static final FastThreadLocal<Cipher> CIPHER = new FastThreadLocal<>() {
        @Override
        protected Cipher initialValue() throws GeneralSecurityException {
            return Cipher.getInstance("AES/GCM/NoPadding");
        }
    };

    private final SharedSecret secret;
    private final boolean dials;
    private final boolean afterTls;
    private @Nullable ByteBuf waiting;
    private byte @Nullable [] own;
    private byte @Nullable [] theirs;
    private @Nullable SecretKeySpec incoming;
    private @Nullable SecretKeySpec outgoing;
    private long opened;
    private long sealed;

    /**
     * Creates the handler of one end.
     *
     * @param secret the secret of both ends
     * @param dials whether this end has dialled
     * @param afterTls whether a TLS handshake comes before
     */
    SealedChannel(SharedSecret secret, boolean dials, boolean afterTls) {
        this.secret = secret;
        this.dials = dials;
        this.afterTls = afterTls;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (!afterTls) {
            begin(context);
        }
        context.fireChannelActive();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
            begin(context);
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    private void begin(ChannelHandlerContext context) {
        byte[] number = new byte[NUMBER_BYTES];
        RANDOM.nextBytes(number);
        own = number;
        if (!dials) {
            context.writeAndFlush(context.alloc().buffer().writeBytes(PROTOCOL).writeBytes(number));
        }
        context.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws GeneralSecurityException {
        if (!(message instanceof ByteBuf bytes)) {
            ReferenceCountUtil.release(message);
            return;
        }
        ByteBuf before = waiting;
        ByteBuf all =
                before == null ? bytes : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), before, bytes);
        waiting = all;
        byte[] number = own;
        if (incoming == null && number != null) {
            handshake(context, all, number);
        }
        SecretKeySpec key = incoming;
        if (key != null) {
            open(context, all, key);
        }
        if (waiting == all && !all.isReadable()) {
            all.release();
            waiting = null;
        }
    }

    private void handshake(ChannelHandlerContext context, ByteBuf all, byte[] number) throws GeneralSecurityException {
        byte[] other = theirs;
        if (other == null) {
            int known = Math.min(PROTOCOL.length, all.readableBytes());
            for (int i = 0; i < known; i++) {
                if (all.getByte(all.readerIndex() + i) != PROTOCOL[i]) {
                    fail(context, "no handshake with a secret");
                    return;
                }
            }
            if (all.readableBytes() < PROTOCOL.length + NUMBER_BYTES) {
                return;
            }
            all.skipBytes(PROTOCOL.length);
            other = take(all);
            theirs = other;
            if (dials) {
                context.writeAndFlush(context.alloc()
                        .buffer()
                        .writeBytes(PROTOCOL)
                        .writeBytes(number)
                        .writeBytes(secret.derive(DIALLER, other, number)));
            }
        }
        if (all.readableBytes() < NUMBER_BYTES) {
            return;
        }
        byte[] proof = take(all);
        byte[] acceptor = dials ? other : number;
        byte[] dialler = dials ? number : other;
        if (!MessageDigest.isEqual(secret.derive(dials ? ACCEPTOR : DIALLER, acceptor, dialler), proof)) {
            fail(context, "different cluster.secret");
            return;
        }
        if (!dials) {
            context.writeAndFlush(context.alloc().buffer().writeBytes(secret.derive(ACCEPTOR, acceptor, dialler)));
        }
        incoming = key(secret.derive(dials ? TO_DIALLER : TO_ACCEPTOR, acceptor, dialler));
        outgoing = key(secret.derive(dials ? TO_ACCEPTOR : TO_DIALLER, acceptor, dialler));
        own = null;
        theirs = null;
        context.fireUserEventTriggered(SECURED);
    }

    private static byte[] take(ByteBuf source) {
        byte[] bytes = new byte[NUMBER_BYTES];
        source.readBytes(bytes);
        return bytes;
    }

    private static SecretKeySpec key(byte[] bytes) {
        return new SecretKeySpec(bytes, "AES");
    }

    private void open(ChannelHandlerContext context, ByteBuf all, SecretKeySpec key) {
        while (waiting == all && all.readableBytes() >= Integer.BYTES) {
            int length = all.getInt(all.readerIndex());
            if (length <= TAG_BYTES || length > RECORD_BYTES + TAG_BYTES) {
                fail(context, "a record of " + length + " bytes");
                return;
            }
            if (all.readableBytes() < Integer.BYTES + length) {
                return;
            }
            all.skipBytes(Integer.BYTES);
            ByteBuf plain = context.alloc().buffer(length - TAG_BYTES);
            try {
                Cipher cipher = cipher(Cipher.DECRYPT_MODE, key, opened++);
                ByteBuffer target = plain.nioBuffer(0, length - TAG_BYTES);
                plain.writerIndex(cipher.doFinal(all.nioBuffer(all.readerIndex(), length), target));
            } catch (GeneralSecurityException e) {
                plain.release();
                fail(context, "a record was changed");
                return;
            }
            all.skipBytes(length);
            context.fireChannelRead(plain);
        }
    }

    private static Cipher cipher(int mode, SecretKeySpec key, long number) throws GeneralSecurityException {
        byte[] nonce = ByteBuffer.allocate(NONCE_BYTES)
                .putLong(NONCE_BYTES - Long.BYTES, number)
                .array();
        Cipher cipher = CIPHER.get();
        cipher.init(mode, key, new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce));
        return cipher;
    }

    private void fail(ChannelHandlerContext context, String reason) {
        if (!dials && incoming == null) {
            context.writeAndFlush(
                    context.alloc().buffer().writeZero(NUMBER_BYTES)); // no proof: the other end fails as well
        }
        release();
        context.fireExceptionCaught(new IOException(reason));
        context.close();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (incoming == null) {
            context.read();
        }
        context.fireChannelReadComplete();
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        SecretKeySpec key = outgoing;
        if (!(message instanceof ByteBuf plain) || key == null) {
            ReferenceCountUtil.release(message);
            promise.setFailure(new IOException("nothing can be sealed before the handshake"));
            return;
        }
        if (!plain.isReadable()) {
            context.write(plain, promise);
            return;
        }
        try {
            while (plain.readableBytes() > RECORD_BYTES) {
                context.write(seal(context, plain, RECORD_BYTES, key));
            }
            context.write(seal(context, plain, plain.readableBytes(), key), promise);
        } catch (GeneralSecurityException e) {
            promise.setFailure(new IOException("a record was not sealed", e));
            context.close();
        } finally {
            plain.release();
        }
    }

    private ByteBuf seal(ChannelHandlerContext context, ByteBuf plain, int length, SecretKeySpec key)
            throws GeneralSecurityException {
        int bytes = length + TAG_BYTES;
        ByteBuf record = context.alloc().buffer(Integer.BYTES + bytes).writeInt(bytes);
        try {
            Cipher cipher = cipher(Cipher.ENCRYPT_MODE, key, sealed++);
            cipher.doFinal(plain.nioBuffer(plain.readerIndex(), length), record.nioBuffer(Integer.BYTES, bytes));
        } catch (GeneralSecurityException e) {
            record.release();
            throw e;
        }
        plain.skipBytes(length);
        return record.writerIndex(Integer.BYTES + bytes);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        release();
    }

    private void release() {
        ByteBuf bytes = waiting;
        waiting = null;
        if (bytes != null) {
            bytes.release();
        }
    }
}
