// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.buffer.ByteBuf;

/**
 * Decodes the packets of a server, as far as a load client needs them: fixed header, identifiers, reason codes, the position of the
 * payload. Works on the received buffer itself and allocates nothing.
 */
final class ServerPackets {

    /** Receives the packets of one buffer, in order. */
    interface Sink {

        /**
         * CONNACK.
         *
         * @param receiveMaximum 65535 unless an MQTT 5 server sent a lower one
         * @param topicAliasMaximum 0 unless an MQTT 5 server sent more
         */
        void connAck(boolean sessionPresent, int reasonCode, int receiveMaximum, int topicAliasMaximum);

        /** PUBLISH; the payload is in {@code in} and valid during the call only. */
        void publish(ByteBuf in, int payloadAt, int payloadBytes, int qos, int packetIdentifier);

        /** PUBACK, PUBREC, PUBREL or PUBCOMP: {@code type} is 4 to 7. */
        void acknowledgement(int type, int packetIdentifier, int reasonCode);

        /** SUBACK; {@code worstReasonCode} is the highest of its codes. */
        void subAck(int packetIdentifier, int worstReasonCode);

        /** DISCONNECT by an MQTT 5 server. */
        void disconnect(int reasonCode);

        /** The bytes are not MQTT, or not allowed from a server. */
        void malformed(String why);
    }

    private static final int RECEIVE_MAXIMUM = 0x21;
    private static final int TOPIC_ALIAS_MAXIMUM = 0x22;

    private ServerPackets() {}

    /** Passes every complete packet to the sink; returns the total size of an incomplete packet, 0 if unknown. */
    static int parse(ByteBuf in, int version, Sink sink) {
        while (in.readableBytes() >= 2) {
            int at = in.readerIndex();
            int end = in.writerIndex();
            int length = 0;
            int index = at + 1;
            int shift = 0;
            int digit;
            do {
                if (index == end) {
                    return 0;
                }
                if (shift > 21) {
                    sink.malformed("a packet length of more than four bytes");
                    return 0;
                }
                digit = in.getByte(index++);
                length |= (digit & 127) << shift;
                shift += 7;
            } while (digit < 0);
            if (end - index < length) {
                return index - at + length;
            }
            in.readerIndex(index + length);
            packet(in, in.getUnsignedByte(at), index, length, version, sink);
        }
        return 0;
    }

    private static void packet(ByteBuf in, int first, int at, int length, int version, Sink sink) {
        int type = first >>> 4;
        if (type == 3) {
            publish(in, first >> 1 & 3, at, length, version, sink);
        } else if (type >= 4 && type <= 7 && length >= 2) {
            sink.acknowledgement(type, in.getUnsignedShort(at), length > 2 ? in.getUnsignedByte(at + 2) : 0);
        } else if (type == 9 && length >= 3) {
            int worst = 0;
            int from = version == 5 ? afterProperties(in, at + 2) : at + 2;
            for (int i = from; i < at + length; i++) {
                worst = Math.max(worst, in.getUnsignedByte(i));
            }
            sink.subAck(in.getUnsignedShort(at), worst);
        } else if (type == 2 && length >= 2) {
            sink.connAck(
                    (in.getByte(at) & 1) == 1,
                    in.getUnsignedByte(at + 1),
                    version == 5 && length > 2 ? shortProperty(in, at + 2, RECEIVE_MAXIMUM, 65_535) : 65_535,
                    version == 5 && length > 2 ? shortProperty(in, at + 2, TOPIC_ALIAS_MAXIMUM, 0) : 0);
        } else if (type == 14) {
            sink.disconnect(length > 0 ? in.getUnsignedByte(at) : 0);
        } else if (type != 13) {
            sink.malformed("a packet of type " + type + " and length " + length);
        }
    }

    private static void publish(ByteBuf in, int qos, int at, int length, int version, Sink sink) {
        int index = length < 2 ? at + length + 1 : at + 2 + in.getUnsignedShort(at);
        int identifier = 0;
        if (qos > 0 && index + 2 <= at + length) {
            identifier = in.getUnsignedShort(index);
            index += 2;
        }
        if (version == 5 && index < at + length) {
            index = afterProperties(in, index);
        }
        if (index > at + length) {
            sink.malformed("a PUBLISH that is longer than its length");
        } else {
            sink.publish(in, index, at + length - index, qos, identifier);
        }
    }

    /**
     * The number of bytes from the start of a PUBLISH up to and with the stamp of its payload; -1 if {@code in} has another packet or fewer bytes.
     */
    static int bytesToStamp(ByteBuf in, int version) {
        int first = in.getUnsignedByte(in.readerIndex());
        int end = in.writerIndex();
        int at = in.readerIndex() + 1;
        while (at < end && in.getByte(at) < 0) {
            at++;
        }
        at++; // the length of the packet
        if (first >>> 4 != 3 || at + 2 > end) {
            return -1;
        }
        at += 2 + in.getUnsignedShort(at) + ((first >> 1 & 3) > 0 ? 2 : 0);
        if (version == 5) {
            if (at + 4 > end) {
                return -1;
            }
            at = afterProperties(in, at);
        }
        if (at >= end) {
            return -1;
        }
        int stamped = at + Stamp.bytes(in, at);
        return stamped > end ? -1 : stamped - in.readerIndex();
    }

    /** Passes a PUBLISH to the sink of which {@code in} has at least {@link #bytesToStamp}. */
    static void publishHead(ByteBuf in, int version, Sink sink) {
        int at = in.readerIndex();
        int index = at + 1;
        int length = 0;
        int shift = 0;
        int digit;
        do {
            digit = in.getByte(index++);
            length |= (digit & 127) << shift;
            shift += 7;
        } while (digit < 0);
        publish(in, in.getUnsignedByte(at) >> 1 & 3, index, length, version, sink);
    }

    private static int afterProperties(ByteBuf in, int at) {
        int index = at;
        int length = 0;
        int shift = 0;
        int digit;
        do {
            digit = in.getByte(index++);
            length |= (digit & 127) << shift;
            shift += 7;
        } while (digit < 0 && shift < 28);
        return index + length;
    }

    /** Reads a property of two bytes from those of a CONNACK (MQTT 5.0, section 3.2.2.3). */
    private static int shortProperty(ByteBuf in, int at, int wanted, int absent) {
        int end = afterProperties(in, at);
        int index = at;
        while (in.getByte(index++) < 0) {
            // the length of the properties
        }
        while (index < end) {
            int property = in.getUnsignedByte(index++);
            if (property == wanted) {
                return in.getUnsignedShort(index);
            }
            switch (property) {
                case 0x11, 0x27 -> index += 4;
                case 0x13, RECEIVE_MAXIMUM, TOPIC_ALIAS_MAXIMUM -> index += 2;
                case 0x24, 0x25, 0x28, 0x29, 0x2A -> index += 1;
                case 0x26 -> {
                    index += 2 + in.getUnsignedShort(index);
                    index += 2 + in.getUnsignedShort(index);
                }
                default -> index += 2 + in.getUnsignedShort(index);
            }
        }
        return absent;
    }
}
