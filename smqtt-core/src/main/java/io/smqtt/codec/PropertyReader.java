// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.PropertyId;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.UserProperty;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a property block (MQTT 5.0, section 2.2.2). Each property must be known, allowed in this packet, in range and, except for user
 * properties, not repeated. Keeps numbers, and the positions of texts, by property identifier until the next block; allocates nothing. One
 * instance per decoder.
 */
final class PropertyReader {

    /** Properties that belong to one connection or count down; they are removed from forwarded properties. */
    private static final int[] NOT_PASSED_ON = {
        PropertyId.MESSAGE_EXPIRY_INTERVAL, PropertyId.WILL_DELAY_INTERVAL, PropertyId.TOPIC_ALIAS
    };

    private static final int IDENTIFIERS = 64;

    private static final byte BYTE = 1;
    private static final byte SHORT = 2;
    private static final byte INT = 3;
    private static final byte VARIABLE = 4;
    private static final byte STRING = 5;
    private static final byte BINARY = 6;
    private static final byte[] TYPES = types();

    private final PacketReader reader;
    private final int maximumUserProperties;
    private final long[] numbers = new long[IDENTIFIERS];
    private final int[] entries = new int[IDENTIFIERS];
    private long seen;
    private int userPropertyCount;
    private int blockStart;
    private int blockEnd;

    PropertyReader(PacketReader reader, int maximumUserProperties) {
        this.reader = reader;
        this.maximumUserProperties = maximumUserProperties;
    }

    /** The set of properties that a packet may contain, for {@link #read(long)}. */
    static long allowed(int... identifiers) {
        long set = 0;
        for (int identifier : identifiers) {
            set |= 1L << identifier;
        }
        return set;
    }

    /** Clears all properties, as for a packet without a property block. */
    void startPacket() {
        seen = 0;
        userPropertyCount = 0;
        blockStart = 0;
        blockEnd = 0;
    }

    /** Reads the block at the position of the reader, including its length. */
    void read(long allowed) {
        int length = reader.readVariableByteInteger();
        reader.require(length);
        seen = 0;
        blockStart = reader.at;
        blockEnd = reader.at + length;
        int packetEnd = reader.end;
        reader.end = blockEnd;
        while (reader.at < blockEnd) {
            readProperty(allowed);
        }
        reader.end = packetEnd;
    }

    private void readProperty(long allowed) {
        int entry = reader.at;
        int identifier = reader.readByte();
        if (identifier >= IDENTIFIERS || (allowed & 1L << identifier) == 0) {
            throw PacketReader.malformed("a property is not known or not allowed in this packet");
        }
        if (identifier == PropertyId.USER_PROPERTY) {
            readUserProperty();
            return;
        }
        if (has(identifier)) {
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "a property is repeated");
        }
        seen |= 1L << identifier;
        entries[identifier] = entry;
        readValue(identifier);
    }

    private void readUserProperty() {
        if (++userPropertyCount > maximumUserProperties) {
            throw new ProtocolViolation(ReasonCode.QUOTA_EXCEEDED, "a packet has too many user properties");
        }
        reader.skipString();
        reader.skipString();
    }

    private void readValue(int identifier) {
        switch (TYPES[identifier]) {
            case BYTE -> setNumber(identifier, reader.readByte());
            case SHORT -> setNumber(identifier, reader.readShort());
            case INT -> setNumber(identifier, reader.readInt());
            case VARIABLE -> setNumber(identifier, reader.readVariableByteInteger());
            case STRING -> reader.skipString();
            default -> reader.skipBinary();
        }
        if (identifier == PropertyId.RESPONSE_TOPIC) {
            requireResponseTopic();
        }
    }

    private void setNumber(int identifier, long number) {
        numbers[identifier] = number;
        boolean inRange = switch (identifier) {
            case PropertyId.PAYLOAD_FORMAT_INDICATOR,
                    PropertyId.REQUEST_PROBLEM_INFORMATION,
                    PropertyId.REQUEST_RESPONSE_INFORMATION -> number <= 1;
            case PropertyId.RECEIVE_MAXIMUM,
                    PropertyId.MAXIMUM_PACKET_SIZE,
                    PropertyId.SUBSCRIPTION_IDENTIFIER,
                    PropertyId.TOPIC_ALIAS -> number != 0;
            default -> true;
        };
        if (!inRange) { // an alias of zero [MQTT-3.3.2-8]
            throw new ProtocolViolation(
                    identifier == PropertyId.TOPIC_ALIAS ? ReasonCode.TOPIC_ALIAS_INVALID : ReasonCode.PROTOCOL_ERROR,
                    "a property is out of its range");
        }
    }

    private void requireResponseTopic() {
        int from = entries[PropertyId.RESPONSE_TOPIC] + 3;
        boolean valid = reader.at > from;
        for (int i = from; i < reader.at; i++) {
            valid &= reader.array[i] != '+' && reader.array[i] != '#';
        }
        if (!valid) { // [MQTT-3.3.2-14]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "the response topic is not a topic name");
        }
    }

    boolean has(int identifier) {
        return (seen & 1L << identifier) != 0;
    }

    long number(int identifier, long absent) {
        return has(identifier) ? numbers[identifier] : absent;
    }

    @Nullable
    String string(int identifier) {
        return has(identifier) ? reader.stringAt(entries[identifier] + 1) : null;
    }

    byte @Nullable [] binary(int identifier) {
        return has(identifier) ? reader.binaryAt(entries[identifier] + 1) : null;
    }

    /** The user properties of the block, in their order [MQTT-3.1.2-26] and others. */
    List<UserProperty> userProperties() {
        if (userPropertyCount == 0) {
            return List.of();
        }
        List<UserProperty> properties = new ArrayList<>(userPropertyCount);
        for (int at = blockStart; at < blockEnd; at = afterProperty(at)) {
            if (reader.array[at] == PropertyId.USER_PROPERTY) {
                String name = reader.stringAt(at + 1);
                properties.add(new UserProperty(name, reader.stringAt(at + 3 + reader.shortAt(at + 1))));
            }
        }
        return List.copyOf(properties);
    }

    private int afterProperty(int at) {
        int value = at + 1;
        return switch (TYPES[reader.array[at]]) {
            case BYTE -> value + 1;
            case SHORT -> value + 2;
            case INT -> value + 4;
            case VARIABLE -> afterVariable(value);
            default -> {
                int end = value + 2 + reader.shortAt(value);
                yield reader.array[at] == PropertyId.USER_PROPERTY ? end + 2 + reader.shortAt(end) : end;
            }
        };
    }

    private int afterVariable(int at) {
        int end = at;
        while (reader.array[end++] < 0) {
            // a high bit: one more byte
        }
        return end;
    }

    /** The properties to forward with the message: a copy of the block without those of the connection [MQTT-3.3.2-4]. */
    PublishProperties passedOn() {
        int cutBytes = 0;
        for (int identifier : NOT_PASSED_ON) {
            cutBytes += has(identifier) ? entryBytes(identifier) : 0;
        }
        int length = blockEnd - blockStart - cutBytes;
        if (length == 0) {
            return PublishProperties.EMPTY;
        }
        return PublishProperties.ofEncoded(
                cutBytes == 0 ? Arrays.copyOfRange(reader.array, blockStart, blockEnd) : copyWithoutCuts(length));
    }

    private byte[] copyWithoutCuts(int length) {
        byte[] kept = new byte[length];
        int written = 0;
        int from = blockStart;
        while (from < blockEnd) {
            int cut = 0;
            int to = blockEnd;
            for (int identifier : NOT_PASSED_ON) {
                if (has(identifier) && entries[identifier] >= from && entries[identifier] < to) {
                    to = entries[identifier];
                    cut = entryBytes(identifier);
                }
            }
            System.arraycopy(reader.array, from, kept, written, to - from);
            written += to - from;
            from = to + cut;
        }
        return kept;
    }

    private static int entryBytes(int identifier) {
        return TYPES[identifier] == SHORT ? 3 : 5;
    }

    private static byte[] types() {
        byte[] types = new byte[IDENTIFIERS];
        types[PropertyId.PAYLOAD_FORMAT_INDICATOR] = BYTE;
        types[PropertyId.REQUEST_PROBLEM_INFORMATION] = BYTE;
        types[PropertyId.REQUEST_RESPONSE_INFORMATION] = BYTE;
        types[PropertyId.RECEIVE_MAXIMUM] = SHORT;
        types[PropertyId.TOPIC_ALIAS_MAXIMUM] = SHORT;
        types[PropertyId.TOPIC_ALIAS] = SHORT;
        types[PropertyId.MESSAGE_EXPIRY_INTERVAL] = INT;
        types[PropertyId.SESSION_EXPIRY_INTERVAL] = INT;
        types[PropertyId.WILL_DELAY_INTERVAL] = INT;
        types[PropertyId.MAXIMUM_PACKET_SIZE] = INT;
        types[PropertyId.SUBSCRIPTION_IDENTIFIER] = VARIABLE;
        types[PropertyId.CONTENT_TYPE] = STRING;
        types[PropertyId.RESPONSE_TOPIC] = STRING;
        types[PropertyId.AUTHENTICATION_METHOD] = STRING;
        types[PropertyId.REASON_STRING] = STRING;
        types[PropertyId.SERVER_REFERENCE] = STRING;
        types[PropertyId.USER_PROPERTY] = STRING;
        types[PropertyId.CORRELATION_DATA] = BINARY;
        types[PropertyId.AUTHENTICATION_DATA] = BINARY;
        return types;
    }
}
