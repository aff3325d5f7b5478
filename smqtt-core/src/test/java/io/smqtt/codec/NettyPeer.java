// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttEncoder;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.netty.util.ReferenceCountUtil;
import io.smqtt.message.ProtocolVersion;
import java.util.function.Consumer;

/** The independent other side: Netty's MQTT codec on one connection of one version. */
final class NettyPeer implements AutoCloseable {

    private final EmbeddedChannel channel = new EmbeddedChannel(new MqttDecoder(1 << 20), MqttEncoder.INSTANCE);

    NettyPeer(ProtocolVersion version) {
        encode(MqttMessageBuilders.connect()
                .protocolVersion(versionOf(version))
                .clientId("peer")
                .build());
    }

    static MqttVersion versionOf(ProtocolVersion version) {
        return switch (version) {
            case MQTT_3_1 -> MqttVersion.MQTT_3_1;
            case MQTT_3_1_1 -> MqttVersion.MQTT_3_1_1;
            case MQTT_5 -> MqttVersion.MQTT_5;
        };
    }

    byte[] encode(MqttMessage message) {
        channel.writeOutbound(message);
        ByteBuf bytes = Unpooled.buffer();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            bytes.writeBytes(part);
            part.release();
        }
        return ByteBufUtil.getBytes(bytes);
    }

    <T extends MqttMessage> void decode(ByteBuf bytes, Class<T> type, Consumer<T> check) {
        channel.writeInbound(bytes.copy());
        MqttMessage message = channel.readInbound();
        try {
            if (!message.decoderResult().isSuccess()) {
                throw new AssertionError("not decoded", message.decoderResult().cause());
            }
            check.accept(type.cast(message));
        } finally {
            ReferenceCountUtil.release(message);
        }
        if (channel.readInbound() != null) {
            throw new AssertionError("more than one packet");
        }
    }

    @Override
    public void close() {
        channel.finishAndReleaseAll();
    }
}
