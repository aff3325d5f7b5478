// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** The other broker, played by the test packet by packet. */
final class RemoteStub implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 20_000;
    private static final int CLEAN_START = 2;
    private static final int FLAGS_AT = 9; // in a CONNECT

    private final ServerSocket server;
    private final List<RawClient> accepted = new ArrayList<>();

    RemoteStub() {
        try {
            server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            server.setSoTimeout(PATIENCE_MILLIS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return server.getLocalPort();
    }

    String address() {
        return "127.0.0.1:" + port();
    }

    /** Waits for a connection of the bridge. */
    Socket acceptSocket() {
        try {
            return server.accept();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Socket acceptWebSocket() {
        try {
            return new FramedSocket(acceptSocket());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for a connection and its CONNECT. */
    RawClient acceptConnect() {
        RawClient bridge = RawClient.over(acceptSocket(), ProtocolVersion.MQTT_5);
        accepted.add(bridge);
        bridge.expect(MqttMessageType.CONNECT);
        return bridge;
    }

    /** Waits for a connection of MQTT 5.0 and its CONNECT, with or without Clean Start. */
    RawClient acceptConnect(boolean clean) {
        RawClient bridge = RawClient.over(acceptSocket(), ProtocolVersion.MQTT_5);
        accepted.add(bridge);
        byte[] connect = bridge.expect(MqttMessageType.CONNECT).bytes();
        assertThat((connect[FLAGS_AT] & CLEAN_START) != 0).as("Clean Start").isEqualTo(clean);
        return bridge;
    }

    /** Waits for a connection with or without Clean Start, and accepts it. */
    RawClient accept(boolean clean, boolean present) {
        RawClient bridge = acceptConnect(clean);
        bridge.send(PacketBytes.packet(0x20)
                .u8(present ? 1 : 0)
                .u8(0)
                .properties(PropertyBytes.none().fields()));
        return bridge;
    }

    /** Waits for a connection, and accepts it with properties in the CONNACK. */
    RawClient accept(PropertyBytes properties) {
        RawClient bridge = acceptConnect();
        connAck(bridge, 0, properties);
        return bridge;
    }

    /** Waits for a connection with MQTT 3.1.1, and accepts it. */
    RawClient accept311(boolean webSocket) {
        Socket socket = webSocket ? acceptWebSocket() : acceptSocket();
        RawClient bridge = RawClient.over(socket, ProtocolVersion.MQTT_3_1_1);
        accepted.add(bridge);
        bridge.expect(MqttMessageType.CONNECT);
        bridge.send(PacketBytes.packet(0x20).u8(0).u8(0));
        return bridge;
    }

    static void connAck(RawClient bridge, int reason, PropertyBytes properties) {
        bridge.send(PacketBytes.packet(0x20).u8(0).u8(reason).properties(properties.fields()));
    }

    /** Takes packets until a PUBLISH. */
    static ReceivedPacket nextPublish(RawClient bridge) {
        return next(bridge, MqttMessageType.PUBLISH);
    }

    /** Takes packets until one of a type. */
    static ReceivedPacket next(RawClient bridge, MqttMessageType type) {
        ReceivedPacket packet = bridge.receive();
        while (packet != null && packet.type() != type) {
            packet = bridge.receive();
        }
        if (packet == null) {
            throw new AssertionError("the bridge has closed the connection");
        }
        return packet;
    }

    /** Ends all connections; more may come. */
    void closeConnections() {
        accepted.forEach(RawClient::close);
        accepted.clear();
    }

    @Override
    public void close() {
        accepted.forEach(RawClient::close);
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
