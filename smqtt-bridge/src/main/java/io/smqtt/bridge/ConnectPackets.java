// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The CONNECT of a bridge for the other broker, and the one for ours.
 *
 * @param limits those of our broker
 * @param growth the bytes that a message of the other broker can grow by before it reaches ours
 */
@OnEventLoop
record ConnectPackets(BridgeConfig config, LimitsConfig limits, int growth) {

    private static final int SESSION_EXPIRY_INTERVAL = 0x11;
    private static final int RECEIVE_MAXIMUM = 0x21;
    private static final int MAXIMUM_PACKET_SIZE = 0x27;
    private static final int FOREVER = -1;
    private static final int MQTT_5 = 5;
    private static final int MQTT_3_1_1 = 4;
    private static final int BRIDGE_MQTT_3_1_1 = 0x84;

    /**
     * The CONNECT for the other broker.
     *
     * @param clean whether it begins a session there
     * @param bridgeBit whether it has the bridge bit, with MQTT 3.1.1
     * @param stateTopic the topic of the will; null for none
     */
    ByteBuf there(
            ByteBufAllocator alloc,
            boolean clean,
            boolean bridgeBit,
            String clientId,
            byte @Nullable [] password,
            @Nullable String stateTopic) {
        ByteBuf properties = null;
        if (config.isV5()) {
            properties = alloc.buffer();
            properties.writeByte(SESSION_EXPIRY_INTERVAL).writeInt(expiry());
            properties.writeByte(RECEIVE_MAXIMUM).writeShort(receiveMaximum());
            properties.writeByte(MAXIMUM_PACKET_SIZE).writeInt(Math.max(1, limits.maxPacketBytes() - growth));
        }
        int old = bridgeBit ? BRIDGE_MQTT_3_1_1 : MQTT_3_1_1;
        return Packets.connect(
                alloc,
                config.isV5() ? MQTT_5 : old,
                clean,
                (int) config.keepAlive().toSeconds(),
                properties,
                clientId,
                stateTopic,
                config.username(),
                password);
    }

    private int expiry() {
        return config.cleanStart()
                ? 0
                : (int) config.sessionExpiry().toSeconds(); // an unsigned number, of which the largest one is for ever
    }

    /** The messages above QoS 0 that our broker takes at a time. */
    private int receiveMaximum() {
        int ours = Math.min(Math.min(limits.receiveMaximum(), limits.maxAwaitingRelease()), 65_535);
        return config.receiveMaximum() == 0 ? ours : Math.min(ours, config.receiveMaximum());
    }

    /**
     * The CONNECT for our broker.
     *
     * @param receiveMaximum the messages above QoS 0 that may be in flight
     */
    static ByteBuf here(ByteBufAllocator alloc, String sessionId, int receiveMaximum) {
        ByteBuf properties = alloc.buffer();
        properties.writeByte(SESSION_EXPIRY_INTERVAL).writeInt(FOREVER);
        properties.writeByte(RECEIVE_MAXIMUM).writeShort(receiveMaximum);
        return Packets.connect(alloc, MQTT_5, false, 0, properties, sessionId, null, "", null);
    }
}
