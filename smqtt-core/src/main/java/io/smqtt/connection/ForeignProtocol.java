// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Recognizes other protocols by their first bytes: clients often connect to a wrong port. */
public final class ForeignProtocol {

    /** The result of {@link #of} for MQTT. */
    public static final String MQTT = "MQTT";

    /** The result of {@link #of} for an HTTP request. */
    public static final String HTTP = "HTTP";

    private static final int TLS_HANDSHAKE_RECORD = 0x16;
    private static final int TLS_MAJOR_VERSION = 3;
    private static final int CONNECT = 0x10;
    private static final String PROXY_TEXT = "PROXY ";
    private static final int PROXY_BINARY = 0x0D;

    private ForeignProtocol() {}

    /**
     * Recognizes the protocol of a client.
     *
     * @param bytes the first bytes of the client; the reader index does not change
     * @param start the index of the first byte
     * @return TLS, HTTP, {@link #MQTT} or PROXY protocol, or null for any other
     */
    public static @Nullable String of(ByteBuf bytes, int start) {
        int length = bytes.writerIndex() - start;
        if (length < 2) {
            return null;
        }
        int first = bytes.getUnsignedByte(start);
        int second = bytes.getUnsignedByte(start + 1);
        if (first == TLS_HANDSHAKE_RECORD && second == TLS_MAJOR_VERSION) {
            return "TLS";
        }
        if (first == CONNECT) {
            return MQTT;
        }
        if (first == PROXY_BINARY && second == '\n') {
            return "PROXY protocol";
        }
        if (!isUpperCase(first) || !isUpperCase(second)) {
            return null;
        }
        int compared = Math.min(length, PROXY_TEXT.length());
        boolean proxy = PROXY_TEXT.startsWith(bytes.toString(start, compared, StandardCharsets.US_ASCII));
        return proxy && compared > 2 ? "PROXY protocol" : HTTP;
    }

    private static boolean isUpperCase(int c) {
        return c >= 'A' && c <= 'Z';
    }
}
