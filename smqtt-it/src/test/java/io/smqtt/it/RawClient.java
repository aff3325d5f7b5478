// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.packet.PacketBytes;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** A client that writes and reads packets as they are, blocking, for tests about connections rather than libraries. Not thread-safe. */
final class RawClient implements AutoCloseable {

    static final int CONNACK = 2;
    static final int PUBLISH = 3;
    static final int PUBACK = 4;
    static final int SUBACK = 9;
    static final int PINGRESP = 13;
    static final int DISCONNECT = 14;

    private static final int PATIENCE_MILLIS = 20_000;
    private static final int CLEAN_START = 0x02;
    private static final int PASSWORD = 0x40;
    private static final int USER_NAME = 0x80;

    /**
     * A packet.
     *
     * @param first its first byte
     * @param body what follows the remaining length
     */
    record Packet(int first, byte[] body) {

        int type() {
            return first >>> 4;
        }

        int at(int index) {
            return body[index] & 0xFF;
        }

        /** The reason or return code of a CONNACK. */
        int connAckCode() {
            return at(1);
        }

        /** The last byte: the reason code of a SUBACK with one filter. */
        int last() {
            return at(body.length - 1);
        }

        @Override
        public String toString() {
            return Integer.toHexString(first) + " " + HexFormat.of().formatHex(body);
        }
    }

    private final Socket socket;
    private final DataInputStream in;
    private final ProtocolVersion version;
    private int packetId;

    private RawClient(Socket socket, ProtocolVersion version) throws IOException {
        this.socket = socket;
        this.version = version;
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
    }

    /** Opens a connection without sending anything. */
    static RawClient open(int port, ProtocolVersion version) throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(Endpoint.HOST, port), PATIENCE_MILLIS);
        return new RawClient(socket, version);
    }

    /** Opens a TLS connection. */
    static RawClient openTls(int port, ProtocolVersion version, SSLSocketFactory sockets) throws IOException {
        return new RawClient(sockets.createSocket(Endpoint.HOST, port), version);
    }

    /** Opens a connection and expects to be accepted. */
    static RawClient connect(int port, ProtocolVersion version, String clientId) throws IOException {
        RawClient client = open(port, version);
        Packet answer = client.login(clientId, 0, null, null);
        if (answer.type() != CONNACK || answer.connAckCode() != 0) {
            throw new AssertionError("refused: " + answer);
        }
        return client;
    }

    Socket socket() {
        return socket;
    }

    /** Sends CONNECT with clean start. */
    void sendConnect(String clientId, int keepAliveSeconds, @Nullable String user, @Nullable String password) throws IOException {
        int flags = CLEAN_START | (user == null ? 0 : USER_NAME) | (password == null ? 0 : PASSWORD);
        PacketBytes packet = PacketBytes.connect(version, flags, keepAliveSeconds, clientId);
        if (user != null) {
            packet.string(user);
        }
        if (password != null) {
            packet.binary(password.getBytes(StandardCharsets.UTF_8));
        }
        send(packet.toBytes());
    }

    /** Sends CONNECT with clean start and returns the answer. */
    Packet login(String clientId, int keepAliveSeconds, @Nullable String user, @Nullable String password) throws IOException {
        sendConnect(clientId, keepAliveSeconds, user, password);
        return read();
    }

    /** Subscribes and returns the SUBACK's reason code. */
    int subscribe(String filter, int qos) throws IOException {
        send(PacketBytes.packet(0x82).u16(++packetId).noPropertiesIn(version).string(filter).u8(qos).toBytes());
        return expect(SUBACK).last();
    }

    /** Publishes with QoS 1 without waiting for the acknowledgement. */
    void publish(String topic, String payload) throws IOException {
        send(PacketBytes.packet(0x32).string(topic).u16(++packetId).noPropertiesIn(version).text(payload).toBytes());
    }

    /** Sends PINGREQ. */
    void ping() throws IOException {
        send(PacketBytes.packet(0xC0).toBytes());
    }

    void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Reads packets until one of the type comes. */
    Packet expect(int type) throws IOException {
        Packet packet = read();
        while (packet.type() != type) {
            packet = read();
        }
        return packet;
    }

    /** Reads a packet; fails at the end of the connection. */
    Packet read() throws IOException {
        return Objects.requireNonNull(readOrEnd(), "the broker closed the connection");
    }

    /** Reads a packet, or null at the end of the connection. */
    @Nullable Packet readOrEnd() throws IOException {
        int first = in.read();
        if (first < 0) {
            return null;
        }
        int length = 0;
        int shift = 0;
        int part;
        do {
            part = in.readUnsignedByte();
            length |= (part & 0x7F) << shift;
            shift += 7;
        } while (part >= 0x80);
        byte[] body = new byte[length];
        in.readFully(body);
        return new Packet(first, body);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
