// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.message.ProtocolVersion;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Writes packets, or parts of them, field by field, and checks nothing: it is there to write wrong ones too. A packet
 * counts its remaining length itself unless told otherwise. Not thread-safe.
 *
 * <pre>{@code
 * import io.smqtt.test.packet.PacketBytes;
 *
 * byte[] publish = PacketBytes.packet(0x32).string("a/b").u16(1).properties(PacketBytes.fields()).toBytes();
 * }</pre>
 */
public final class PacketBytes {

    private static final int NO_FIRST_BYTE = -1;

    private final int first;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    private PacketBytes(int first) {
        this.first = first;
    }

    /**
     * Starts a packet.
     *
     * @param first the first byte: packet type and flags
     * @return a packet without body
     */
    public static PacketBytes packet(int first) {
        return new PacketBytes(first);
    }

    /**
     * Starts a sequence of fields, such as the properties of a packet.
     *
     * @return no bytes yet
     */
    public static PacketBytes fields() {
        return new PacketBytes(NO_FIRST_BYTE);
    }

    /**
     * A CONNECT up to and including its client identifier, with empty properties in MQTT 5.0.
     *
     * @param version the protocol version
     * @param flags the connect flags
     * @param keepAliveSeconds 0 to 65,535
     * @param clientId maybe empty
     * @return a packet to which will, user name and password can be added
     */
    public static PacketBytes connect(ProtocolVersion version, int flags, int keepAliveSeconds, String clientId) {
        return connect(version, flags, keepAliveSeconds, clientId, fields());
    }

    /**
     * A CONNECT up to and including its client identifier.
     *
     * @param version the protocol version
     * @param flags the connect flags
     * @param keepAliveSeconds 0 to 65,535
     * @param clientId maybe empty
     * @param properties written in MQTT 5.0 only
     * @return a packet to which will, user name and password can be added
     */
    public static PacketBytes connect(
            ProtocolVersion version, int flags, int keepAliveSeconds, String clientId, PacketBytes properties) {
        PacketBytes packet = packet(0x10)
                .string(version.protocolName())
                .u8(version.level())
                .u8(flags)
                .u16(keepAliveSeconds);
        return packet.propertiesIn(version, properties).string(clientId);
    }

    /**
     * Adds a byte.
     *
     * @param value its low eight bits count
     * @return this
     */
    public PacketBytes u8(int value) {
        body.write(value);
        return this;
    }

    /**
     * Adds two bytes.
     *
     * @param value its low sixteen bits count
     * @return this
     */
    public PacketBytes u16(int value) {
        return u8(value >> 8).u8(value);
    }

    /**
     * Adds four bytes.
     *
     * @param value its low 32 bits count
     * @return this
     */
    public PacketBytes u32(long value) {
        return u16((int) (value >> 16)).u16((int) value);
    }

    /**
     * Adds a variable byte integer in its shortest form.
     *
     * @param value 0 to 268,435,455
     * @return this
     */
    public PacketBytes variable(int value) {
        int rest = value;
        for (; rest > 0x7F; rest >>>= 7) {
            u8(rest | 0x80);
        }
        return u8(rest);
    }

    /**
     * Adds a string: two bytes of length, then UTF-8.
     *
     * @param text the text
     * @return this
     */
    public PacketBytes string(String text) {
        return binary(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Adds binary data: two bytes of length, then the data.
     *
     * @param data the data
     * @return this
     */
    public PacketBytes binary(byte... data) {
        return u16(data.length).bytes(data);
    }

    /**
     * Adds binary data, or a string, whose bytes are given in hexadecimal.
     *
     * @param hex digits, with blanks between bytes or without
     * @return this
     */
    public PacketBytes binary(String hex) {
        return binary(parse(hex));
    }

    /**
     * Adds bytes as they are.
     *
     * @param bytes the bytes
     * @return this
     */
    public PacketBytes bytes(byte... bytes) {
        body.writeBytes(bytes);
        return this;
    }

    /**
     * Adds bytes that are given in hexadecimal.
     *
     * @param hex digits, with blanks between bytes or without
     * @return this
     */
    public PacketBytes hex(String hex) {
        return bytes(parse(hex));
    }

    /**
     * Adds text without a length, such as a payload.
     *
     * @param text the text
     * @return this
     */
    public PacketBytes text(String text) {
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Adds a property block: its length, then the fields.
     *
     * @param properties the block
     * @return this
     */
    public PacketBytes properties(PacketBytes properties) {
        return variable(properties.body.size()).bytes(properties.body.toByteArray());
    }

    /**
     * Adds a property block if the version has properties.
     *
     * @param version a protocol version
     * @param properties the block
     * @return this
     */
    public PacketBytes propertiesIn(ProtocolVersion version, PacketBytes properties) {
        return version.isV5() ? properties(properties) : this;
    }

    /**
     * Adds an empty property block if the version has properties.
     *
     * @param version a protocol version
     * @return this
     */
    public PacketBytes noPropertiesIn(ProtocolVersion version) {
        return propertiesIn(version, fields());
    }

    /**
     * The packet with its true remaining length, or the bare fields.
     *
     * @return new bytes
     */
    public byte[] toBytes() {
        return first == NO_FIRST_BYTE ? body.toByteArray() : toBytes(body.size());
    }

    /**
     * The packet with a remaining length that need not be true.
     *
     * @param remainingLength 0 to 268,435,455
     * @return new bytes
     */
    public byte[] toBytes(int remainingLength) {
        return fields().u8(first)
                .variable(remainingLength)
                .bytes(body.toByteArray())
                .toBytes();
    }

    private static byte[] parse(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
}
