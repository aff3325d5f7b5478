// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A blocking WebSocket client that can also break the rules. */
final class WebSocketClient extends WireClient {

    static final String KEY = "dGhlIHNhbXBsZSBub25jZQ=="; // of RFC 6455, section 1.3
    static final String HEADERS = "Host: localhost\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + "\r\nSec-WebSocket-Protocol: mqtt\r\n";
    static final String REQUEST = "GET /mqtt HTTP/1.1\r\n" + HEADERS + "\r\n";

    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    String response = "";

    private WebSocketClient(Socket socket) throws IOException {
        super(socket);
    }

    static WebSocketClient connected(InetSocketAddress server, @Nullable SSLContext tls) throws IOException {
        WebSocketClient client = raw(server, tls);
        client.sendRaw(REQUEST);
        client.readResponse();
        return client;
    }

    static WebSocketClient raw(InetSocketAddress server, @Nullable SSLContext tls) throws IOException {
        return new WebSocketClient(socket(server, tls));
    }

    /** Reads the head of the HTTP response. */
    String readResponse() throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                break;
            }
            head.append((char) next);
        }
        response = head.toString();
        return response;
    }

    int status() {
        return Integer.parseInt(response.substring(9, 12));
    }

    @Override
    void send(byte[] bytes) throws IOException {
        sendRaw(frame(0x82, bytes));
    }

    @Override
    void sendBytewise(byte[] bytes) throws IOException {
        for (byte one : frame(0x82, bytes)) {
            sendRaw(new byte[] {one});
        }
    }

    @Override
    byte[] receive(int length) throws IOException {
        while (received.size() < length) {
            Frame frame = readFrame();
            if (frame.first != 0x82) {
                throw new IOException("not a binary frame: " + frame.first);
            }
            received.write(frame.payload);
        }
        byte[] all = received.toByteArray();
        received.reset();
        received.write(all, length, all.length - length);
        return java.util.Arrays.copyOf(all, length);
    }

    Frame readFrame() throws IOException {
        int first = in.readUnsignedByte();
        int length = in.readUnsignedByte();
        if (length == 126) {
            length = in.readUnsignedShort();
        } else if (length == 127) {
            length = (int) in.readLong();
        }
        return new Frame(first, in.readNBytes(length));
    }

    /** A masked frame with its first byte as given. */
    static byte[] frame(int first, byte[] payload) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write(first);
        if (payload.length <= 125) {
            frame.write(0x80 | payload.length);
        } else if (payload.length <= 0xFFFF) {
            frame.write(0x80 | 126);
            frame.write(payload.length >> 8);
            frame.write(payload.length);
        } else {
            frame.write(0x80 | 127);
            for (int shift = 56; shift >= 0; shift -= 8) {
                frame.write((int) ((long) payload.length >> shift));
            }
        }
        byte[] mask = new byte[4];
        ThreadLocalRandom.current().nextBytes(mask);
        frame.writeBytes(mask);
        byte[] masked = payload.clone();
        for (int i = 0; i < payload.length; i++) {
            masked[i] ^= mask[i & 3];
        }
        frame.writeBytes(masked);
        return frame.toByteArray();
    }

    static byte[] frame(int first, String payload) {
        return frame(first, payload.getBytes(StandardCharsets.ISO_8859_1));
    }

    record Frame(int first, byte[] payload) {
        int closeCode() {
            return (payload[0] & 0xFF) << 8 | payload[1] & 0xFF;
        }
    }
}
