// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.handler.codec.CodecException;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshakeException;
import io.netty.handler.codec.http.websocketx.WebSocketHandshakeException;
import io.netty.handler.ssl.NotSslRecordException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;

/** What operators read of the failure of a connection. */
final class FailureText {

    private static final int NO_HTTP = 999;
    private static final int SESSION_TAKEN_OVER = 0x8e;

    private FailureText() {}

    /** The failure in words, without received bytes. */
    static String of(Throwable failure) {
        Throwable cause =
                failure instanceof DecoderException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof NotSslRecordException) {
            return "it does not use TLS on this port";
        }
        if (cause instanceof SSLException) {
            return tls(cause);
        }
        if (cause instanceof WebSocketClientHandshakeException handshake) {
            return webSocket(handshake);
        }
        if (cause instanceof ClosedChannelException) {
            return "it has closed the connection";
        }
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    /** Whether the network or the other broker is the cause, not this broker. */
    static boolean isOfPeer(Throwable failure) {
        return failure instanceof IOException
                || failure.getCause() instanceof SSLException
                || failure instanceof WebSocketHandshakeException
                || failure instanceof CodecException;
    }

    /** The DISCONNECT of the other broker in words. */
    static String ofDisconnect(int reason) {
        return String.format("it ends the connection with reason 0x%02x", reason)
                + (reason == SESSION_TAKEN_OVER ? ": another client uses the same client identifier" : "");
    }

    private static String tls(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertPathBuilderException) {
                return "its certificate is not trusted: " + cause.getMessage();
            }
            if (cause instanceof CertificateException && cause.getCause() == null) {
                return "its certificate is not accepted: " + cause.getMessage();
            }
        }
        return "TLS fails: " + failure.getMessage();
    }

    private static String webSocket(WebSocketClientHandshakeException handshake) {
        if (handshake.response() == null || handshake.response().status().code() == NO_HTTP) {
            return "it does not complete the WebSocket handshake";
        }
        return "it refuses the WebSocket handshake: " + handshake.response().status();
    }
}
