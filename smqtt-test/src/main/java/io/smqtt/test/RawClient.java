// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import io.smqtt.test.packet.VersionedPacket;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A client that knows no rules: it sends the bytes it is given and shows the packets that come, as Netty's decoder reads
 * them. It blocks; whatever does not come within its deadline (30 seconds unless changed) is an {@link AssertionError}.
 * Nothing is sent on its own: no acknowledgement, no PINGREQ. Not thread-safe.
 *
 * <pre>{@code
 * import static org.assertj.core.api.Assertions.assertThat;
 * import io.netty.handler.codec.mqtt.MqttMessageType;
 * import io.smqtt.message.ProtocolVersion;
 * import io.smqtt.test.RawClient;
 * import io.smqtt.test.packet.PublishBytes;
 *
 * try (RawClient client = RawClient.to(broker.listeners().get("mqtt"), ProtocolVersion.MQTT_5)) {
 *     client.connect("c");
 *     client.send(PublishBytes.to("a/b").qos(1, 7).payload("hello"));
 *     assertThat(client.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(7);
 * }
 * }</pre>
 */
public final class RawClient implements AutoCloseable {

    private static final int LARGEST_PACKET = 300_000_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Socket socket;
    private final InputStream input;
    private final ProtocolVersion version;
    private final EmbeddedChannel decoder;
    private Duration deadline = Duration.ofSeconds(30);
    private int lastPacketId;

    private RawClient(Socket socket, ProtocolVersion version) throws IOException {
        this.socket = socket;
        this.version = version;
        socket.setTcpNoDelay(true);
        input = socket.getInputStream();
        decoder = new EmbeddedChannel(new MqttDecoder(LARGEST_PACKET, 65_535));
        // Netty's decoder learns the version from a CONNECT
        decoder.writeInbound(Unpooled.wrappedBuffer(ConnectBytes.of("c").toBytes(version)));
        ReferenceCountUtil.release(decoder.readInbound());
    }

    /**
     * Opens a TCP connection.
     *
     * @param address where the broker listens; the loopback address if it listens on all
     * @param version how packets are written and read
     * @return a client that has sent nothing
     */
    public static RawClient to(InetSocketAddress address, ProtocolVersion version) {
        InetAddress host =
                address.getAddress().isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address.getAddress();
        try {
            return new RawClient(new Socket(host, address.getPort()), version);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Uses a connection that is open, such as a TLS socket.
     *
     * @param socket closed with the client
     * @param version how packets are written and read
     * @return a client that has sent nothing
     */
    public static RawClient over(Socket socket, ProtocolVersion version) {
        try {
            return new RawClient(socket, version);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Changes how long the broker has to answer.
     *
     * @param value for each packet and for the end of the connection
     * @return this
     */
    public RawClient deadline(Duration value) {
        deadline = value;
        return this;
    }

    /**
     * The protocol version of the connection.
     *
     * @return as given
     */
    public ProtocolVersion version() {
        return version;
    }

    /**
     * The socket, to look at or to mistreat.
     *
     * @return the socket
     */
    public Socket socket() {
        return socket;
    }

    /**
     * A packet identifier that this client did not hand out before.
     *
     * @return 1, 2, …
     */
    public int nextPacketId() {
        return ++lastPacketId;
    }

    // --- sending

    /**
     * Sends bytes.
     *
     * @param bytes anything
     * @return this
     */
    public RawClient send(byte... bytes) {
        try {
            socket.getOutputStream().write(bytes);
            return this;
        } catch (IOException e) {
            throw new AssertionError("the connection is closed for writing", e);
        }
    }

    /**
     * Sends a packet.
     *
     * @param packet written for the version of the connection
     * @return this
     */
    public RawClient send(VersionedPacket packet) {
        return send(packet.toBytes(version));
    }

    /**
     * Sends a packet.
     *
     * @param packet with its true remaining length
     * @return this
     */
    public RawClient send(PacketBytes packet) {
        return send(packet.toBytes());
    }

    /**
     * Sends a packet that consists of a packet identifier: PUBACK, PUBREC, PUBREL, PUBCOMP.
     *
     * @param first the first byte, such as 0x40 for PUBACK
     * @param packetId the packet identifier
     * @return this
     */
    public RawClient acknowledge(int first, int packetId) {
        return send(PacketBytes.packet(first).u16(packetId));
    }

    /**
     * Acknowledges a QoS 1 message.
     *
     * @param publish the PUBLISH
     * @return this
     */
    public RawClient pubAck(ReceivedPacket publish) {
        return acknowledge(0x40, publish.packetId());
    }

    /**
     * Acknowledges a QoS 2 message, expects the PUBREL before anything else and completes the handshake.
     *
     * @param publish the PUBLISH
     * @return this
     */
    public RawClient pubRecAndComp(ReceivedPacket publish) {
        acknowledge(0x50, publish.packetId());
        return acknowledge(0x70, expect(MqttMessageType.PUBREL).packetId());
    }

    /**
     * Connects with a clean start and expects to be accepted.
     *
     * @param clientId the client identifier
     * @return the CONNACK
     */
    public ReceivedPacket connect(String clientId) {
        return connect(ConnectBytes.of(clientId));
    }

    /**
     * Connects and expects to be accepted.
     *
     * @param connect the CONNECT
     * @return the CONNACK
     */
    public ReceivedPacket connect(VersionedPacket connect) {
        ReceivedPacket connAck = send(connect).expect(MqttMessageType.CONNACK);
        if (connAck.reasonCode() != 0) {
            throw new AssertionError("refused: " + connAck);
        }
        return connAck;
    }

    /**
     * Subscribes and expects the SUBACK before anything else.
     *
     * @param filter the topic filter
     * @param options the QoS and, in MQTT 5.0, other options
     * @return the SUBACK
     */
    public ReceivedPacket subscribe(String filter, int options) {
        return subscribe(SubscribeBytes.of(nextPacketId()).filter(filter, options));
    }

    /**
     * Subscribes and expects the SUBACK before anything else.
     *
     * @param subscribe the SUBSCRIBE
     * @return the SUBACK
     */
    public ReceivedPacket subscribe(SubscribeBytes subscribe) {
        return send(subscribe).expect(MqttMessageType.SUBACK);
    }

    /**
     * Unsubscribes and expects the UNSUBACK before anything else.
     *
     * @param filter the topic filter
     * @return the UNSUBACK
     */
    public ReceivedPacket unsubscribe(String filter) {
        PacketBytes packet = PacketBytes.packet(0xA2).u16(nextPacketId()).noPropertiesIn(version);
        return send(packet.string(filter)).expect(MqttMessageType.UNSUBACK);
    }

    /**
     * Publishes a message and does the whole handshake of its QoS; at QoS 0 a PINGREQ shows that the broker has it.
     *
     * @param topic the topic
     * @param payload the payload
     * @param qos 0, 1 or 2
     */
    public void publish(String topic, String payload, int qos) {
        publish(PublishBytes.to(topic).payload(payload).qos(qos));
    }

    /**
     * Publishes a message, with a packet identifier of its own, and does the whole handshake of its QoS.
     *
     * @param message the message
     */
    public void publish(PublishBytes message) {
        int id = nextPacketId();
        send(message.qos(message.qos(), id));
        if (message.qos() == 0) {
            ping();
        } else if (message.qos() == 1) {
            expect(MqttMessageType.PUBACK);
        } else {
            expect(MqttMessageType.PUBREC);
            acknowledge(0x62, id).expect(MqttMessageType.PUBCOMP);
        }
    }

    /** Sends PINGREQ and expects PINGRESP before anything else. */
    public void ping() {
        send((byte) 0xC0, (byte) 0).expect(MqttMessageType.PINGRESP);
    }

    /** Sends DISCONNECT and expects the end of the connection. */
    public void disconnect() {
        send((byte) 0xE0, (byte) 0).expectClosed();
        close();
    }

    /**
     * Sends DISCONNECT with a reason and expects the end of the connection; MQTT 5.0.
     *
     * @param reason the reason code
     */
    public void disconnect(ReasonCode reason) {
        send(PacketBytes.packet(0xE0).u8(reason.value())).expectClosed();
        close();
    }

    /** Resets the connection, as if the network had failed. */
    public void abort() {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        close();
    }

    // --- receiving

    /**
     * Waits for a packet.
     *
     * @return null if the connection ended instead
     */
    public @Nullable ReceivedPacket receive() {
        long end = System.nanoTime() + deadline.toNanos();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int first = read(end);
        if (first < 0) {
            return null;
        }
        bytes.write(first);
        int length = readLength(bytes, end);
        for (int i = 0; i < length; ) {
            byte[] part = read(Math.min(length - i, 65_536), end);
            if (part.length == 0) {
                throw new AssertionError("the connection ended inside a packet");
            }
            bytes.writeBytes(part);
            i += part.length;
        }
        return decode(bytes.toByteArray());
    }

    private int readLength(ByteArrayOutputStream bytes, long end) {
        int length = 0;
        for (int shift = 0; shift <= 21; shift += 7) {
            int next = read(end);
            if (next < 0) {
                throw new AssertionError("the connection ended inside a packet");
            }
            bytes.write(next);
            length |= (next & 0x7F) << shift;
            if (next < 0x80) {
                return length;
            }
        }
        throw new AssertionError("the broker sent a remaining length of more than four bytes");
    }

    private int read(long end) {
        byte[] one = read(1, end);
        return one.length == 0 ? -1 : one[0] & 0xFF;
    }

    /** Reads at least one byte, none at the end of the connection. */
    private byte[] read(int atMost, long end) {
        byte[] buffer = new byte[atMost];
        try {
            long left = (end - System.nanoTime()) / NANOS_PER_MILLI;
            if (left <= 0) {
                throw new SocketTimeoutException();
            }
            socket.setSoTimeout((int) left);
            int count = input.read(buffer);
            return Arrays.copyOf(buffer, Math.max(0, count));
        } catch (SocketTimeoutException e) {
            throw new AssertionError("nothing came within " + deadline, e);
        } catch (IOException e) { // a reset is an end too
            return new byte[0];
        }
    }

    private ReceivedPacket decode(byte[] bytes) {
        decoder.writeInbound(Unpooled.wrappedBuffer(bytes));
        MqttMessage message = decoder.readInbound();
        if (message == null || message.decoderResult().isFailure()) {
            throw new AssertionError(
                    "the broker sent what is no packet: " + HexFormat.of().formatHex(bytes));
        }
        return new ReceivedPacket(bytes, message);
    }

    /**
     * Waits for a packet of a type.
     *
     * @param type the only type that may come next
     * @return the packet
     */
    public ReceivedPacket expect(MqttMessageType type) {
        ReceivedPacket packet = receive();
        if (packet == null) {
            throw new AssertionError("the connection ended where " + type + " was expected");
        }
        if (packet.type() != type) {
            throw new AssertionError(packet + " came where " + type + " was expected");
        }
        return packet;
    }

    /**
     * Waits for a PUBLISH; acknowledges nothing.
     *
     * @param topic the topic it must have
     * @param payload the payload it must have, as text
     * @return the packet
     */
    public ReceivedPacket expectPublish(String topic, String payload) {
        ReceivedPacket packet = expect(MqttMessageType.PUBLISH);
        if (!packet.topic().equals(topic) || !packet.text().equals(payload)) {
            throw new AssertionError("'" + packet.topic() + "' '" + packet.text() + "' came where '" + topic + "' '"
                    + payload + "' was expected");
        }
        return packet;
    }

    /**
     * Receives messages of QoS 2, whatever is mixed of their PUBLISH and PUBREL, and completes the exchange of each.
     *
     * @param count the number of exchanges to complete
     * @return the payloads as text, in the order in which the messages came
     */
    public List<String> receiveExactlyOnce(int count) {
        List<String> texts = new ArrayList<>();
        for (int completed = 0; completed < count; ) {
            ReceivedPacket packet = receive();
            if (packet == null) {
                throw new AssertionError("the connection ended after " + completed + " of " + count + " exchanges");
            }
            if (packet.type() == MqttMessageType.PUBREL) {
                acknowledge(0x70, packet.packetId());
                completed++;
            } else if (packet.type() == MqttMessageType.PUBLISH) {
                texts.add(packet.text());
                acknowledge(0x50, packet.packetId());
            } else {
                throw new AssertionError(packet + " came where PUBLISH or PUBREL was expected");
            }
        }
        return texts;
    }

    /**
     * Shows without waiting that nothing else was sent to this client: two PINGREQs are answered and nothing comes before
     * the answers. Two, because a message of another event loop may stand behind the first.
     */
    public void expectNothing() {
        ping();
        ping();
    }

    /**
     * Takes all PUBLISH packets that were sent to this client up to now, in the way of {@link #expectNothing()}.
     *
     * @param packets called with each
     */
    public void expectNothingBut(Consumer<ReceivedPacket> packets) {
        for (int pings = 0; pings < 2; pings++) {
            send((byte) 0xC0, (byte) 0);
            ReceivedPacket next = receive();
            while (next != null && next.type() == MqttMessageType.PUBLISH) {
                packets.accept(next);
                next = receive();
            }
            if (next == null || next.type() != MqttMessageType.PINGRESP) {
                throw new AssertionError(next + " came where PUBLISH or PINGRESP was expected");
            }
        }
    }

    /** Waits for the end of the connection; no packet may come before. */
    public void expectClosed() {
        ReceivedPacket packet = receive();
        if (packet != null) {
            throw new AssertionError(packet + " came where the end of the connection was expected");
        }
    }

    /**
     * Waits for the end of the connection, and in MQTT 5.0 for the DISCONNECT that says why. No other packet may come.
     *
     * @param reason the reason code
     * @return the DISCONNECT; null before MQTT 5.0
     */
    public @Nullable ReceivedPacket expectDisconnect(ReasonCode reason) {
        ReceivedPacket packet = null;
        if (version.isV5()) {
            packet = expect(MqttMessageType.DISCONNECT);
            if (packet.reasonCode() != reason.value()) {
                throw new AssertionError(packet + " came where " + reason + " was expected");
            }
        }
        expectClosed();
        return packet;
    }

    /** Closes the connection without a DISCONNECT. */
    @Override
    public void close() {
        decoder.finishAndReleaseAll();
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
