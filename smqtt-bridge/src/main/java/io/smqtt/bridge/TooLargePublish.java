// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The begin of a PUBLISH of MQTT 3.1.1 whose rest is skipped: what is needed to acknowledge it.
 *
 * @param topic its topic
 * @param qos its QoS
 * @param packetId its packet identifier; 0 with QoS 0
 */
record TooLargePublish(String topic, int qos, int packetId) {

    /**
     * Reads the begin of a packet whose length is complete. The indices stay.
     *
     * @return null if the topic or the packet identifier is not complete
     */
    static @Nullable TooLargePublish read(ByteBuf packet) {
        if (Packets.type(packet) != Packets.PUBLISH) {
            throw new IllegalArgumentException("only a PUBLISH may be large");
        }
        int qos = Packets.qos(packet);
        ByteBuf in = packet.duplicate();
        Packets.body(in);
        if (in.readableBytes() < 2
                || in.readableBytes() < 2 + in.getUnsignedShort(in.readerIndex()) + (qos > 0 ? 2 : 0)) {
            return null;
        }
        String topic = in.readCharSequence(in.readUnsignedShort(), StandardCharsets.UTF_8)
                .toString();
        return new TooLargePublish(topic, qos, qos > 0 ? in.readUnsignedShort() : 0);
    }
}
