// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.smqtt.connection.ForeignProtocol;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS of one connection. Closes the connection if the client announces a first handshake message of more than 64 KiB, or starts a second
 * handshake. With the JDK's engine this handler is called at the beginning of a record, whose type is never encrypted: after the handshake
 * no record of type "handshake" is allowed, because TLS 1.3 sends later handshake messages in records of application data. OpenSSL's
 * engine refuses these by itself.
 */
final class GuardedTls extends SslHandler {

    private static final Logger LOG = LoggerFactory.getLogger(GuardedTls.class);
    private static final int HANDSHAKE_RECORD = 22;
    private static final int RECORD_HEADER_BYTES = 5;
    private static final int MESSAGE_HEADER_BYTES = 4;
    private static final int MAX_CLIENT_HELLO_BYTES = 64 << 10;

    private final boolean recordWise;
    private boolean helloSeen;
    private boolean received;

    GuardedTls(SSLEngine engine) {
        super(engine);
        this.recordWise = !isOpenSsl(engine);
        setHandshakeTimeoutMillis(0); // the connect timeout covers it
    }

    /** Whether the client has sent any bytes; a probe that only connects has not. */
    boolean hasReceived() {
        return received;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws SSLException {
        received = true;
        if (!helloSeen && in.readableBytes() >= RECORD_HEADER_BYTES + MESSAGE_HEADER_BYTES) {
            helloSeen = true;
            if (type(in) == HANDSHAKE_RECORD && helloBytes(in) > MAX_CLIENT_HELLO_BYTES) {
                end(ctx, in, "ClientHello too large");
                return;
            }
        }
        if (recordWise
                && in.isReadable()
                && type(in) == HANDSHAKE_RECORD
                && handshakeFuture().isSuccess()) {
            end(ctx, in, "renegotiation refused");
            return;
        }
        String protocol = handshakeFuture().isDone() ? null : ForeignProtocol.of(in, in.readerIndex());
        try {
            super.decode(ctx, in, out);
        } catch (NotSslRecordException e) {
            throw withoutContent(e, protocol);
        }
    }

    /** Replaces the exception, whose message has the received bytes, for example a CONNECT with its password, which must not be logged. */
    private static NotSslRecordException withoutContent(NotSslRecordException received, @Nullable String protocol) {
        String what = protocol == null ? "no TLS" : protocol + " without TLS";
        NotSslRecordException quiet = new NotSslRecordException(what + " on a port for TLS");
        quiet.setStackTrace(received.getStackTrace());
        return quiet;
    }

    private void end(ChannelHandlerContext ctx, ByteBuf in, String reason) {
        LOG.debug("{}: {}", ctx.channel(), reason);
        in.skipBytes(in.readableBytes());
        if (!handshakeFuture().isDone()) {
            ctx.fireUserEventTriggered(new SslHandshakeCompletionEvent(new SSLException(reason)));
        }
        ctx.close(); // without TLS, whose state no longer matters
    }

    private static int helloBytes(ByteBuf in) {
        return in.getUnsignedMedium(in.readerIndex() + RECORD_HEADER_BYTES + 1);
    }

    private static int type(ByteBuf in) {
        return in.getUnsignedByte(in.readerIndex());
    }

    private static boolean isOpenSsl(SSLEngine engine) {
        try {
            return engine instanceof ReferenceCountedOpenSslEngine;
        } catch (LinkageError e) {
            return false;
        }
    }
}
