// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttConnAckMessage;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageIdVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttSubAckMessage;
import io.netty.handler.codec.mqtt.MqttUnsubAckMessage;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the encoders write, Netty reads. */
class EncoderToNettyTest {

    private static final long NO_LIMIT = 0xFFFF_FFFFL;
    private static final ReasonCode[] REASONS = ReasonCode.values();

    private final ByteBuf out = Unpooled.buffer();

    private static @Nullable Object value(MqttProperties properties, int identifier) {
        MqttProperties.MqttProperty<?> property = properties.getProperty(identifier);
        return property == null ? null : property.value();
    }

    private <T extends MqttMessage> void read(NettyPeer netty, Class<T> type, Consumer<T> check) {
        netty.decode(out, type, check);
        out.clear();
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void publish(ProtocolVersion version) {
        PublishEncoder encoder = new PublishEncoder();
        RandomPackets texts = new RandomPackets(version.level());
        Random random = texts.random();
        try (NettyPeer netty = new NettyPeer(version)) {
            for (int i = 0; i < 1_000; i++) {
                ApplicationMessage message = message(texts);
                QoS qos = QoS.of(random.nextInt(3));
                int packetId = 1 + random.nextInt(65_535);
                boolean retain = random.nextBoolean();
                int alias = random.nextInt(3);
                int[] identifiers = random.nextBoolean() ? PublishEncoder.NO_IDENTIFIERS : new int[] {1 + i * 1_000};
                long expiry = message.expiryIntervalSeconds();
                for (int copies = random.nextInt(4); copies >= 0; copies--) {
                    int id = packetId;
                    boolean duplicate = qos != QoS.AT_MOST_ONCE && random.nextBoolean();
                    encoder.encode(out, version, message, qos, duplicate, retain, id, identifiers, expiry, alias, true);
                    read(netty, MqttPublishMessage.class, packet -> {
                        assertThat(packet.fixedHeader().qosLevel().value()).isEqualTo(qos.level());
                        assertThat(packet.fixedHeader().isDup()).isEqualTo(duplicate);
                        assertThat(packet.fixedHeader().isRetain()).isEqualTo(retain);
                        if (qos != QoS.AT_MOST_ONCE) {
                            assertThat(packet.variableHeader().packetId()).isEqualTo(id);
                        }
                        checkMessage(packet, message);
                        if (version.isV5()) {
                            checkProperties(packet.variableHeader().properties(), message, alias, identifiers);
                        }
                    });
                }
            }
        }
    }

    private static ApplicationMessage message(RandomPackets texts) {
        Random random = texts.random();
        PublishProperties.Builder properties = PublishProperties.builder();
        if (random.nextBoolean()) {
            properties.contentType(texts.text()).correlationData(texts.binary());
        }
        if (random.nextBoolean()) {
            properties.userProperty(texts.text(), texts.text()).userProperty("n", "v");
        }
        ApplicationMessage.Builder message = ApplicationMessage.builder(texts.topic())
                .payload(Payload.of(texts.binary()))
                .properties(properties.build());
        return (random.nextBoolean() ? message.expiryInterval(Duration.ofSeconds(random.nextInt(1_000))) : message)
                .build();
    }

    private static void checkMessage(MqttPublishMessage packet, ApplicationMessage message) {
        assertThat(packet.variableHeader().topicName())
                .isEqualTo(message.topic().value());
        assertThat(ByteBufUtil.getBytes(packet.payload()))
                .isEqualTo(message.payload().toByteArray());
    }

    private static void checkProperties(
            MqttProperties properties, ApplicationMessage message, int alias, int[] identifiers) {
        boolean expires = message.expiryIntervalSeconds() != ApplicationMessage.NEVER;
        assertThat(value(properties, PropertyId.MESSAGE_EXPIRY_INTERVAL))
                .isEqualTo(expires ? (int) message.expiryIntervalSeconds() : null);
        assertThat(value(properties, PropertyId.TOPIC_ALIAS)).isEqualTo(alias == 0 ? null : alias);
        assertThat(value(properties, PropertyId.SUBSCRIPTION_IDENTIFIER))
                .isEqualTo(identifiers.length == 0 ? null : identifiers[0]);
        assertThat(value(properties, PropertyId.CONTENT_TYPE))
                .isEqualTo(message.properties().contentType());
        assertThat(value(properties, PropertyId.CORRELATION_DATA))
                .isEqualTo(message.properties().correlationData());
        assertThat(properties.getProperties(PropertyId.USER_PROPERTY))
                .hasSameSizeAs(message.properties().userProperties());
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void acknowledgements(ProtocolVersion version) {
        try (NettyPeer netty = new NettyPeer(version)) {
            for (ReasonCode reason : REASONS) {
                for (String text : new String[] {"", "why €"}) {
                    String reasonString = text.isEmpty() ? null : text;
                    PacketEncoder.pubAck(out, version, 1, reason, reasonString, NO_LIMIT);
                    readReply(netty, MqttMessageType.PUBACK, version, 1, reason, reasonString);
                    PacketEncoder.pubRec(out, version, 258, reason, reasonString, NO_LIMIT);
                    readReply(netty, MqttMessageType.PUBREC, version, 258, reason, reasonString);
                    PacketEncoder.pubRel(out, version, 65_535, reason, reasonString, NO_LIMIT);
                    readReply(netty, MqttMessageType.PUBREL, version, 65_535, reason, reasonString);
                    PacketEncoder.pubComp(out, version, 7, reason, reasonString, NO_LIMIT);
                    readReply(netty, MqttMessageType.PUBCOMP, version, 7, reason, reasonString);
                }
            }
        }
    }

    private void readReply(
            NettyPeer netty,
            MqttMessageType type,
            ProtocolVersion version,
            int packetId,
            ReasonCode reason,
            @Nullable String text) {
        read(netty, MqttMessage.class, packet -> {
            assertThat(packet.fixedHeader().messageType()).isEqualTo(type);
            MqttMessageIdVariableHeader id = (MqttMessageIdVariableHeader) packet.variableHeader();
            assertThat(id.messageId()).isEqualTo(packetId);
            if (version.isV5()) {
                MqttPubReplyMessageVariableHeader header = (MqttPubReplyMessageVariableHeader) id;
                assertThat(header.reasonCode() & 0xFF).isEqualTo(reason.value());
                assertThat(value(header.properties(), PropertyId.REASON_STRING)).isEqualTo(text);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void subAckAndUnsubAck(ProtocolVersion version) {
        List<ReasonCode> subscribed = List.of(
                ReasonCode.SUCCESS, ReasonCode.GRANTED_QOS_1, ReasonCode.GRANTED_QOS_2, ReasonCode.NOT_AUTHORIZED);
        List<ReasonCode> gone = List.of(ReasonCode.SUCCESS, ReasonCode.NO_SUBSCRIPTION_EXISTED);
        List<Integer> granted = List.of(0, 1, 2, version.isV5() ? 0x87 : 0x80);
        try (NettyPeer netty = new NettyPeer(version)) {
            PacketEncoder.subAck(out, version, 7, subscribed, "why", NO_LIMIT);
            read(netty, MqttSubAckMessage.class, packet -> {
                assertThat(packet.variableHeader().messageId()).isEqualTo(7);
                assertThat(packet.payload().reasonCodes()).isEqualTo(granted);
            });
            PacketEncoder.unsubAck(out, version, 8, gone, "why", NO_LIMIT);
            read(netty, MqttUnsubAckMessage.class, packet -> {
                assertThat(packet.variableHeader().messageId()).isEqualTo(8);
                if (version.isV5()) {
                    assertThat(packet.payload().unsubscribeReasonCodes()).containsExactly((short) 0x00, (short) 0x11);
                }
            });
        }
    }

    @Test
    void connAckWithAllProperties() {
        ConnAck sent = new ConnAck(
                true,
                ReasonCode.SUCCESS,
                3_600,
                10,
                1,
                false,
                70_000,
                "assigned",
                7,
                "why",
                false,
                false,
                false,
                60,
                "info/",
                "other",
                "m",
                new byte[] {1, 2});
        try (NettyPeer netty = new NettyPeer(ProtocolVersion.MQTT_5)) {
            PacketEncoder.connAck(out, ProtocolVersion.MQTT_5, sent, NO_LIMIT);
            read(netty, MqttConnAckMessage.class, packet -> {
                MqttProperties properties = packet.variableHeader().properties();
                List<@Nullable Object> values = new ArrayList<>();
                for (int identifier : new int[] {
                    0x11, 0x21, 0x24, 0x25, 0x27, 0x12, 0x22, 0x1F, 0x28, 0x29, 0x2A, 0x13, 0x1A, 0x1C, 0x15
                }) {
                    values.add(value(properties, identifier));
                }
                assertThat(packet.variableHeader().isSessionPresent()).isTrue();
                assertThat(values)
                        .containsExactly(
                                3_600, 10, 1, 0, 70_000, "assigned", 7, "why", 0, 0, 0, 60, "info/", "other", "m");
            });
        }
    }

    @Test
    void disconnectAuthAndPingResp() {
        try (NettyPeer netty = new NettyPeer(ProtocolVersion.MQTT_5)) {
            PacketEncoder.disconnect(out, ProtocolVersion.MQTT_5, ReasonCode.SERVER_MOVED, "why", "other", NO_LIMIT);
            checkReasonPacket(netty, MqttMessageType.DISCONNECT, 0x9D);
            PacketEncoder.disconnect(out, ProtocolVersion.MQTT_5, ReasonCode.SERVER_BUSY, null, null, NO_LIMIT);
            checkReasonPacket(netty, MqttMessageType.DISCONNECT, 0x89);
            AuthPacket auth = new AuthPacket(ReasonCode.CONTINUE_AUTHENTICATION, "m", new byte[] {1});
            PacketEncoder.auth(out, auth, "why", NO_LIMIT);
            checkReasonPacket(netty, MqttMessageType.AUTH, 0x18);
            PacketEncoder.pingResp(out);
            read(
                    netty,
                    MqttMessage.class,
                    packet -> assertThat(packet.fixedHeader().messageType()).isEqualTo(MqttMessageType.PINGRESP));
        }
    }

    private void checkReasonPacket(NettyPeer netty, MqttMessageType type, int reason) {
        read(netty, MqttMessage.class, packet -> {
            assertThat(packet.fixedHeader().messageType()).isEqualTo(type);
            MqttReasonCodeAndPropertiesVariableHeader header =
                    (MqttReasonCodeAndPropertiesVariableHeader) packet.variableHeader();
            assertThat(header.reasonCode() & 0xFF).isEqualTo(reason);
        });
    }
}
