// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Encodes the packets of a client, except PUBLISH. Protocol versions are 3 (MQTT 3.1), 4 (MQTT 3.1.1) and 5. */
final class ClientPackets {

    static final int PUBACK = 0x40;
    static final int PUBREC = 0x50;
    static final int PUBREL = 0x62;
    static final int PUBCOMP = 0x70;

    private static final int SESSION_EXPIRY_INTERVAL = 0x11;
    private static final int TOPIC_ALIAS_MAXIMUM = 0x22;

    private ClientPackets() {}

    /** CONNECT (section 3.1); {@code sessionExpirySeconds} and {@code topicAliases} are sent to MQTT 5 servers only. */
    static void connect(
            ByteBuf out,
            int version,
            String clientId,
            boolean cleanStart,
            int keepAliveSeconds,
            long sessionExpirySeconds,
            int topicAliases,
            @Nullable String userName,
            @Nullable String password) {
        String protocol = version == 3 ? "MQIsdp" : "MQTT";
        int properties = (sessionExpirySeconds > 0 ? 5 : 0) + (topicAliases > 0 ? 3 : 0);
        int length = 2 + protocol.length() + 4 + (version < 5 ? 0 : 1 + properties) + stringBytes(clientId);
        length += userName == null ? 0 : stringBytes(userName);
        length += password == null ? 0 : stringBytes(password);
        out.writeByte(0x10);
        variableByteInteger(out, length);
        string(out, protocol);
        out.writeByte(version);
        out.writeByte((cleanStart ? 0x02 : 0) | (userName == null ? 0 : 0x80) | (password == null ? 0 : 0x40));
        out.writeShort(keepAliveSeconds);
        if (version == 5) {
            out.writeByte(properties);
            if (sessionExpirySeconds > 0) {
                out.writeByte(SESSION_EXPIRY_INTERVAL).writeInt((int) sessionExpirySeconds);
            }
            if (topicAliases > 0) {
                out.writeByte(TOPIC_ALIAS_MAXIMUM).writeShort(topicAliases);
            }
        }
        string(out, clientId);
        if (userName != null) {
            string(out, userName);
        }
        if (password != null) {
            string(out, password);
        }
    }

    /** SUBSCRIBE (section 3.8) of filters with one QoS. */
    static void subscribe(ByteBuf out, int version, int packetIdentifier, List<String> filters, int qos) {
        int length = 2 + (version == 5 ? 1 : 0);
        for (String filter : filters) {
            length += stringBytes(filter) + 1;
        }
        out.writeByte(0x82);
        variableByteInteger(out, length);
        out.writeShort(packetIdentifier);
        if (version == 5) {
            out.writeByte(0);
        }
        for (String filter : filters) {
            string(out, filter);
            out.writeByte(qos);
        }
    }

    /** One of the four acknowledgements, with reason code success. */
    static void acknowledgement(ByteBuf out, int firstByte, int packetIdentifier) {
        out.writeInt(firstByte << 24 | 2 << 16 | packetIdentifier);
    }

    static void pingRequest(ByteBuf out) {
        out.writeShort(0xC000);
    }

    static void disconnect(ByteBuf out) {
        out.writeShort(0xE000);
    }

    static void string(ByteBuf out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeShort(bytes.length).writeBytes(bytes);
    }

    static int stringBytes(String text) {
        return 2 + ByteBufUtil.utf8Bytes(text);
    }

    static void variableByteInteger(ByteBuf out, int value) {
        int rest = value;
        while (rest >= 128) {
            out.writeByte(rest & 127 | 128);
            rest >>>= 7;
        }
        out.writeByte(rest);
    }
}
