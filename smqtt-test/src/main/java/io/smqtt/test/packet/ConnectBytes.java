// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.message.ProtocolVersion;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A CONNECT of any version (section 3.1). Clean start, keep alive 0, no will, no credentials unless told otherwise. */
public final class ConnectBytes implements VersionedPacket {

    private final String clientId;
    private final PropertyBytes properties = PropertyBytes.none();
    private boolean cleanStart = true;
    private int keepAliveSeconds;
    private @Nullable PublishBytes will;
    private @Nullable String userName;
    private byte @Nullable [] password;

    private ConnectBytes(String clientId) {
        this.clientId = clientId;
    }

    /**
     * Starts a CONNECT.
     *
     * @param clientId maybe empty
     * @return a builder
     */
    public static ConnectBytes of(String clientId) {
        return new ConnectBytes(clientId);
    }

    /**
     * Clean Start, or Clean Session before MQTT 5.0.
     *
     * @param value the flag
     * @return this
     */
    public ConnectBytes cleanStart(boolean value) {
        cleanStart = value;
        return this;
    }

    /**
     * Asks for a session that outlives the connection: no clean start, and in MQTT 5.0 an expiry interval.
     *
     * @param seconds the session expiry interval, MQTT 5.0 only
     * @return this
     */
    public ConnectBytes persistent(long seconds) {
        properties.sessionExpiry(seconds);
        return cleanStart(false);
    }

    /**
     * Keep Alive.
     *
     * @param seconds 0 to 65,535
     * @return this
     */
    public ConnectBytes keepAlive(int seconds) {
        keepAliveSeconds = seconds;
        return this;
    }

    /**
     * The will message; its properties become the will properties.
     *
     * @param message topic, payload, QoS, retain flag and properties
     * @return this
     */
    public ConnectBytes will(PublishBytes message) {
        will = message;
        return this;
    }

    /**
     * User Name.
     *
     * @param value the name
     * @return this
     */
    public ConnectBytes userName(String value) {
        userName = value;
        return this;
    }

    /**
     * Password.
     *
     * @param value the password
     * @return this
     */
    public ConnectBytes password(String value) {
        password = value.getBytes(StandardCharsets.UTF_8);
        return this;
    }

    /**
     * The properties, to add to.
     *
     * @return written in MQTT 5.0 only
     */
    public PropertyBytes properties() {
        return properties;
    }

    private int flags() {
        int flags = cleanStart ? 0x02 : 0;
        PublishBytes message = will;
        if (message != null) {
            flags |= 0x04 | message.qos() << 3 | (message.retain() ? 0x20 : 0);
        }
        return flags | (password != null ? 0x40 : 0) | (userName != null ? 0x80 : 0);
    }

    @Override
    public byte[] toBytes(ProtocolVersion version) {
        PacketBytes packet = PacketBytes.connect(version, flags(), keepAliveSeconds, clientId, properties.fields());
        PublishBytes message = will;
        if (message != null) {
            packet.propertiesIn(version, message.properties().fields())
                    .string(message.topic())
                    .binary(message.payload());
        }
        if (userName != null) {
            packet.string(userName);
        }
        if (password != null) {
            packet.binary(password);
        }
        return packet.toBytes();
    }
}
