// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;
import io.smqtt.message.PayloadMemory;
import io.smqtt.message.PayloadReader;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/**
 * Decodes packets of clients, strictly and one complete packet at a time. Any input has one of three results: a packet is passed to the
 * handler, more bytes are needed, or a {@link ProtocolViolation} is thrown. Nothing is read beyond the packet, and nothing is allocated for
 * bytes that are announced but have not arrived. Packet type and flags are checked as soon as the first byte has arrived, sizes as soon as
 * the fixed header has.
 *
 * <p>It holds buffers and a cache of topic names, but no state of a connection: one instance serves all connections of an event loop. Not
 * thread-safe.
 */
public final class PacketDecoder {

    private static final long ACKNOWLEDGEMENT_PROPERTIES =
            PropertyReader.allowed(PropertyId.REASON_STRING, PropertyId.USER_PROPERTY);
    private static final long DISCONNECT_PROPERTIES = PropertyReader.allowed(
            PropertyId.SESSION_EXPIRY_INTERVAL,
            PropertyId.REASON_STRING,
            PropertyId.SERVER_REFERENCE, // rejected below with its own reason code
            PropertyId.USER_PROPERTY);
    private static final long AUTH_PROPERTIES = PropertyReader.allowed(
            PropertyId.AUTHENTICATION_METHOD,
            PropertyId.AUTHENTICATION_DATA,
            PropertyId.REASON_STRING,
            PropertyId.USER_PROPERTY);

    private static final int INCOMPLETE = -1;
    private static final int SCRATCH_BYTES = 4_096;
    private static final int MAXIMUM_SCRATCH_BYTES = 65_536;

    private final int maximumConnectBytes;
    private final PacketReader reader = new PacketReader();
    private final PropertyReader properties;
    private final ConnectDecoder connect;
    private final PublishDecoder publish;
    private final SubscribeDecoder subscribe;
    private byte[] scratch = new byte[SCRATCH_BYTES];
    private int headerBytes;

    /**
     * Creates a decoder that copies all payloads to the heap.
     *
     * @param limits the limits of packets
     */
    public PacketDecoder(DecoderLimits limits) {
        this(limits, new PayloadReader(new PayloadMemory(0)));
    }

    /**
     * Creates a decoder.
     *
     * @param limits the limits of packets
     * @param payloads takes payloads out of the network buffers
     */
    public PacketDecoder(DecoderLimits limits, PayloadReader payloads) {
        maximumConnectBytes = limits.maximumConnectBytes();
        properties = new PropertyReader(reader, limits.maximumUserProperties());
        TopicCache topics = new TopicCache(limits.maximumTopicBytes(), limits.maximumTopicLevels());
        connect = new ConnectDecoder(reader, properties, topics);
        publish = new PublishDecoder(reader, properties, topics, payloads);
        subscribe = new SubscribeDecoder(reader, properties, limits);
    }

    /**
     * The length of the first packet in a buffer.
     *
     * @param in the bytes that have arrived
     * @return bytes, fixed header included; 0 if the fixed header is not complete, or is invalid
     */
    public static int packetBytes(ByteBuf in) {
        int arrived = in.readableBytes();
        int length = 0;
        for (int i = 1; i < 5 && i < arrived; i++) {
            int part = in.getByte(in.readerIndex() + i);
            length |= (part & 0x7F) << (i - 1) * 7;
            if (part >= 0) {
                return length + i + 1;
            }
        }
        return 0;
    }

    /**
     * The number of missing bytes of the first packet in a buffer, as far as it is known.
     *
     * @param in the bytes that have arrived
     * @return 1 as long as the fixed header is not complete; 0 or less if the packet is complete, or is invalid
     */
    public static int missingBytes(ByteBuf in) {
        int packet = packetBytes(in);
        if (packet == 0) { // a length of more than four bytes is rejected when it is decoded
            return in.readableBytes() < 5 ? 1 : 0;
        }
        return packet - in.readableBytes();
    }

    /**
     * Decodes one packet if it is complete. The buffer's reader index is behind the packet when the
     * handler is called.
     *
     * @param in the bytes that have arrived; any kind of buffer, remains owned by the caller
     * @param version the version of the connection, or null as long as no CONNECT has been decoded
     * @param maximumPacketBytes the largest packet that the connection accepts, fixed header included; CONNECT is limited by
     *     {@link DecoderLimits#maximumConnectBytes()} instead
     * @param handler receives the packet during this call
     * @return true if a packet was decoded; false, with the reader index unchanged, if more bytes are needed
     * @throws ProtocolViolation if a client may not send these bytes now; the reader index is undefined then, and
     *     the connection must be closed
     */
    public boolean decode(
            ByteBuf in, @Nullable ProtocolVersion version, int maximumPacketBytes, PacketHandler handler) {
        int available = in.readableBytes();
        if (available == 0) {
            return false;
        }
        int start = in.readerIndex();
        int first = in.getByte(start) & 0xFF;
        FixedHeader.requireLegal(first, version);
        int type = first >>> 4;
        int remainingLength = readRemainingLength(in, start, available);
        if (remainingLength == INCOMPLETE) {
            return false;
        }
        requireLength(type, remainingLength, version, maximumPacketBytes);
        if (available - headerBytes < remainingLength) {
            return false;
        }
        int body = start + headerBytes;
        in.readerIndex(body + remainingLength);
        if (version == null) {
            load(in, body, remainingLength);
            handler.onConnect(connect.decode(hasShortestLength(remainingLength)));
        } else if (type == FixedHeader.PUBLISH) {
            decodePublish(in, body, remainingLength, first, version, handler);
        } else {
            load(in, body, remainingLength);
            decodeBody(type, version, handler);
        }
        return true;
    }

    /**
     * Decodes the CONNECT with which a connection begins, and changes nothing in the buffer.
     *
     * @param in the received bytes
     * @return null while the CONNECT is incomplete
     * @throws ProtocolViolation if they do not begin with a CONNECT, or with a malformed one
     */
    public @Nullable ConnectPacket peekConnect(ByteBuf in) {
        int available = in.readableBytes();
        if (available == 0) {
            return null;
        }
        int start = in.readerIndex();
        int first = in.getByte(start) & 0xFF;
        FixedHeader.requireLegal(first, null);
        int remainingLength = readRemainingLength(in, start, available);
        if (remainingLength == INCOMPLETE) {
            return null;
        }
        requireLength(first >>> 4, remainingLength, null, 0);
        if (available - headerBytes < remainingLength) {
            return null;
        }
        load(in, start + headerBytes, remainingLength);
        return connect.decode(hasShortestLength(remainingLength));
    }

    private int readRemainingLength(ByteBuf in, int start, int available) {
        int length = 0;
        for (int i = 1; i <= 4; i++) {
            if (i >= available) {
                return INCOMPLETE;
            }
            int b = in.getByte(start + i);
            length |= (b & 0x7F) << 7 * (i - 1);
            if (b >= 0) {
                headerBytes = i + 1;
                return length;
            }
        }
        throw PacketReader.malformed("the remaining length has more than four bytes");
    }

    /** Checks the fixed header, before the body arrives. */
    private void requireLength(
            int type, int remainingLength, @Nullable ProtocolVersion version, int maximumPacketBytes) {
        int maximumBytes = type == FixedHeader.CONNECT ? maximumConnectBytes : maximumPacketBytes;
        if (headerBytes + remainingLength > maximumBytes) {
            throw new ProtocolViolation(ReasonCode.PACKET_TOO_LARGE, "a packet is larger than the maximum packet size");
        }
        FixedHeader.requireLength(type, remainingLength, version);
        if (version == ProtocolVersion.MQTT_5 && !hasShortestLength(remainingLength)) { // [MQTT-1.5.5-1]
            throw PacketReader.malformed("the remaining length is longer than necessary");
        }
    }

    private boolean hasShortestLength(int remainingLength) {
        return headerBytes == 1 + VariableByteInteger.size(remainingLength);
    }

    /** Sets the reader to bytes that have arrived: those of the buffer itself, or a copy if it has no array. */
    private void load(ByteBuf in, int from, int length) {
        if (in.hasArray()) {
            int offset = in.arrayOffset() + from;
            reader.reset(in.array(), offset, offset + length);
        } else {
            byte[] copy = scratch(length);
            in.getBytes(from, copy, 0, length);
            reader.reset(copy, 0, length);
        }
    }

    private byte[] scratch(int length) {
        if (length > MAXIMUM_SCRATCH_BYTES) {
            return new byte[length];
        }
        if (length > scratch.length) {
            scratch = new byte[MAXIMUM_SCRATCH_BYTES];
        }
        return scratch;
    }

    private void decodePublish(
            ByteBuf in, int body, int length, int first, ProtocolVersion version, PacketHandler handler) {
        load(in, body, in.hasArray() ? length : PublishDecoder.headerLength(in, body, length, first, version));
        publish.decode(in, body, length, first, version, handler);
    }

    private void decodeBody(int type, ProtocolVersion version, PacketHandler handler) {
        switch (type) {
            case FixedHeader.SUBSCRIBE -> handler.onSubscribe(subscribe.decodeSubscribe(version));
            case FixedHeader.UNSUBSCRIBE -> handler.onUnsubscribe(subscribe.decodeUnsubscribe(version));
            case FixedHeader.PINGREQ -> handler.onPingReq();
            case FixedHeader.DISCONNECT -> handler.onDisconnect(decodeDisconnect());
            case FixedHeader.AUTH -> handler.onAuth(decodeAuth());
            default -> decodeAcknowledgement(type, handler);
        }
    }

    private void decodeAcknowledgement(int type, PacketHandler handler) {
        int packetId = reader.readPacketId();
        AllowedReasons allowed = type == FixedHeader.PUBACK || type == FixedHeader.PUBREC
                ? AllowedReasons.RECEIVED
                : AllowedReasons.RELEASED;
        ReasonCode reason = readReason(allowed, ACKNOWLEDGEMENT_PROPERTIES);
        switch (type) {
            case FixedHeader.PUBACK -> handler.onPubAck(packetId, reason);
            case FixedHeader.PUBREC -> handler.onPubRec(packetId, reason);
            case FixedHeader.PUBREL -> handler.onPubRel(packetId, reason);
            default -> handler.onPubComp(packetId, reason);
        }
    }

    /** Reads an optional reason code and optional properties up to the end of the packet. */
    private ReasonCode readReason(AllowedReasons allowed, long allowedProperties) {
        properties.startPacket();
        int value = reader.remaining() == 0 ? ReasonCode.SUCCESS.value() : reader.readByte();
        ReasonCode reason = allowed.require(value);
        if (reader.remaining() > 0) {
            properties.read(allowedProperties);
            reader.requireEnd();
        }
        return reason;
    }

    private DisconnectPacket decodeDisconnect() {
        ReasonCode reason = readReason(AllowedReasons.DISCONNECT, DISCONNECT_PROPERTIES);
        if (properties.has(PropertyId.SERVER_REFERENCE)) {
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "a client's DISCONNECT has a server reference");
        }
        long expiry = properties.number(PropertyId.SESSION_EXPIRY_INTERVAL, DisconnectPacket.UNCHANGED);
        return new DisconnectPacket(reason, expiry);
    }

    private AuthPacket decodeAuth() {
        ReasonCode reason = readReason(AllowedReasons.AUTH, AUTH_PROPERTIES);
        String method = properties.string(PropertyId.AUTHENTICATION_METHOD);
        if (method == null) {
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "an AUTH has no authentication method");
        }
        return new AuthPacket(reason, method, properties.binary(PropertyId.AUTHENTICATION_DATA));
    }
}
