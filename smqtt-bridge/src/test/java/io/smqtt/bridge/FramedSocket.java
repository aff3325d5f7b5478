// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Locale;

/** The server's end of a WebSocket connection: what is written at once is one binary frame. */
final class FramedSocket extends Socket {

    private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    private final Socket socket;
    private byte[] payload = {};
    private int at;

    /** Answers the handshake. */
    FramedSocket(Socket socket) throws IOException {
        this.socket = socket;
        String key = "";
        for (String line = line(); !line.isEmpty(); line = line()) {
            if (line.toLowerCase(Locale.ROOT).startsWith("sec-websocket-key:")) {
                key = line.substring(line.indexOf(':') + 1).strip();
            }
        }
        String answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Accept: " + accept(key) + "\r\n\r\n";
        socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = socket.getInputStream().read();
                next != '\n';
                next = socket.getInputStream().read()) {
            line.write(next);
        }
        return line.toString(StandardCharsets.US_ASCII).strip();
    }

    private static String accept(String key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-1").digest((key + GUID).getBytes(StandardCharsets.US_ASCII));
            return Base64.getEncoder().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void readFrame() throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.readByte();
        int length = in.readUnsignedByte() & 0x7f;
        if (length == 126) {
            length = in.readUnsignedShort();
        }
        byte[] mask = in.readNBytes(4);
        payload = in.readNBytes(length);
        for (int i = 0; i < length; i++) {
            payload[i] ^= mask[i % 4];
        }
        at = 0;
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return new FilterInputStream(socket.getInputStream()) {
            @Override
            public int read(byte[] target, int offset, int most) throws IOException {
                if (at == payload.length) {
                    readFrame();
                }
                int count = Math.min(most, payload.length - at);
                System.arraycopy(payload, at, target, offset, count);
                at += count;
                return count;
            }
        };
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        OutputStream out = socket.getOutputStream();
        return new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value});
            }

            @Override
            public void write(byte[] bytes, int offset, int count) throws IOException {
                ByteBuffer header = ByteBuffer.allocate(10).put((byte) 0x82);
                if (count < 126) {
                    header.put((byte) count);
                } else if (count < 0x1_0000) {
                    header.put((byte) 126).putShort((short) count);
                } else {
                    header.put((byte) 127).putLong(count);
                }
                out.write(header.array(), 0, header.position());
                out.write(bytes, offset, count);
            }
        };
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        socket.setSoTimeout(millis);
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        socket.setTcpNoDelay(on);
    }

    @Override
    public void close() throws IOException {
        socket.close();
        super.close();
    }
}
