// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttConnectMessage;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttSubscribeMessage;
import io.netty.handler.codec.mqtt.MqttTopicSubscription;
import io.netty.handler.codec.mqtt.MqttUnsubscribeMessage;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.UserProperty;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What Netty encodes, the decoder reads; and what is then damaged does not upset it. */
@Tag("slow")
class NettyToDecoderTest {

    private static final int PACKETS = 1_000;
    private static final int MUTATIONS = 100_000;
    private static final int MAXIMUM_PACKET_BYTES = 1 << 20;

    private final PacketDecoder decoder = new PacketDecoder(new DecoderLimits(65_536, 100, 4_096, 128, 1_000));

    private <T> T decode(byte[] bytes, @Nullable ProtocolVersion version, Class<T> type) {
        PacketRecorder recorder = new PacketRecorder();
        assertThat(decoder.decode(Unpooled.wrappedBuffer(bytes), version, MAXIMUM_PACKET_BYTES, recorder))
                .isTrue();
        return recorder.only(type);
    }

    private static @Nullable Object value(MqttProperties properties, int identifier, @Nullable Object absent) {
        MqttProperties.MqttProperty<?> property = properties.getProperty(identifier);
        return property == null ? absent : property.value();
    }

    private static List<UserProperty> userProperties(MqttProperties properties) {
        return properties.getProperties(PropertyId.USER_PROPERTY).stream()
                .map(property -> (MqttProperties.StringPair) property.value())
                .map(pair -> new UserProperty(pair.key, pair.value))
                .toList();
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void readsConnect(ProtocolVersion version) {
        RandomPackets random = new RandomPackets(version.level());
        try (NettyPeer netty = new NettyPeer(version)) {
            for (int i = 0; i < PACKETS; i++) {
                MqttConnectMessage sent = random.connect(version);

                checkConnect(sent, decode(netty.encode(sent), null, ConnectPacket.class), version);
            }
        }
    }

    private static void checkConnect(MqttConnectMessage sent, ConnectPacket packet, ProtocolVersion version) {
        MqttProperties properties = sent.variableHeader().properties();
        assertThat(packet.version()).isEqualTo(version);
        assertThat(packet.clientId()).isEqualTo(sent.payload().clientIdentifier());
        assertThat(packet.cleanStart()).isEqualTo(sent.variableHeader().isCleanSession());
        assertThat(packet.keepAliveSeconds()).isEqualTo(sent.variableHeader().keepAliveTimeSeconds());
        assertThat(packet.userName()).isEqualTo(sent.payload().userName());
        assertThat(packet.password()).isEqualTo(sent.payload().passwordInBytes());
        assertThat(packet.receiveMaximum()).isEqualTo(value(properties, PropertyId.RECEIVE_MAXIMUM, 65_535));
        assertThat(packet.authenticationMethod()).isEqualTo(value(properties, PropertyId.AUTHENTICATION_METHOD, null));
        assertThat(packet.userProperties()).isEqualTo(userProperties(properties));
        assertThat(packet.will() != null).isEqualTo(sent.variableHeader().isWillFlag());
        if (packet.will() != null) {
            ApplicationMessage message = packet.will().message();
            MqttProperties willProperties = sent.payload().willProperties();
            assertThat(message.topic().value()).isEqualTo(sent.payload().willTopic());
            assertThat(message.payload().toByteArray()).isEqualTo(sent.payload().willMessageInBytes());
            assertThat(message.qos().level()).isEqualTo(sent.variableHeader().willQos());
            assertThat(message.retain()).isEqualTo(sent.variableHeader().isWillRetain());
            assertThat((int) packet.will().delaySeconds())
                    .isEqualTo(value(willProperties, PropertyId.WILL_DELAY_INTERVAL, 0));
            checkMessageProperties(message, willProperties);
        }
    }

    private static void checkMessageProperties(ApplicationMessage message, MqttProperties sent) {
        PublishProperties properties = message.properties();
        assertThat(properties.isPayloadUtf8())
                .isEqualTo(Integer.valueOf(1).equals(value(sent, PropertyId.PAYLOAD_FORMAT_INDICATOR, 0)));
        assertThat((int) message.expiryIntervalSeconds())
                .isEqualTo(value(sent, PropertyId.MESSAGE_EXPIRY_INTERVAL, -1));
        assertThat(properties.responseTopic()).isEqualTo(value(sent, PropertyId.RESPONSE_TOPIC, null));
        assertThat(properties.contentType()).isEqualTo(value(sent, PropertyId.CONTENT_TYPE, null));
        assertThat(properties.correlationData()).isEqualTo(value(sent, PropertyId.CORRELATION_DATA, null));
        assertThat(properties.userProperties()).isEqualTo(userProperties(sent));
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void readsPublish(ProtocolVersion version) {
        RandomPackets random = new RandomPackets(10 + version.level());
        try (NettyPeer netty = new NettyPeer(version)) {
            for (int i = 0; i < PACKETS; i++) {
                MqttPublishMessage sent = random.publish(version);
                byte[] payload = ByteBufUtil.getBytes(sent.payload());

                PacketRecorder.Publish packet = decode(netty.encode(sent), version, PacketRecorder.Publish.class);

                MqttProperties properties = sent.variableHeader().properties();
                assertThat(packet.message().topic().value())
                        .isEqualTo(sent.variableHeader().topicName());
                assertThat(packet.packetId()).isEqualTo(sent.variableHeader().packetId());
                assertThat(packet.message().qos().level())
                        .isEqualTo(sent.fixedHeader().qosLevel().value());
                assertThat(packet.message().retain())
                        .isEqualTo(sent.fixedHeader().isRetain());
                assertThat(packet.duplicate()).isEqualTo(sent.fixedHeader().isDup());
                assertThat(packet.message().payload().toByteArray()).isEqualTo(payload);
                assertThat(packet.topicAlias()).isEqualTo(value(properties, PropertyId.TOPIC_ALIAS, 0));
                checkMessageProperties(packet.message(), properties);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void readsAcknowledgements(ProtocolVersion version) {
        RandomPackets random = new RandomPackets(20 + version.level());
        List<MqttMessageType> types = List.of(
                MqttMessageType.PUBACK, MqttMessageType.PUBREC, MqttMessageType.PUBREL, MqttMessageType.PUBCOMP);
        try (NettyPeer netty = new NettyPeer(version)) {
            for (int i = 0; i < PACKETS; i++) {
                MqttMessageType type = types.get(i % 4);
                MqttMessage sent = random.acknowledgement(version, type);
                MqttPubReplyMessageVariableHeader header = (MqttPubReplyMessageVariableHeader) sent.variableHeader();

                assertThat(decode(netty.encode(sent), version, PacketRecorder.Acknowledgement.class))
                        .isEqualTo(new PacketRecorder.Acknowledgement(
                                type.name(), header.messageId(), ReasonCode.of(header.reasonCode())));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void readsSubscribeAndUnsubscribe(ProtocolVersion version) {
        RandomPackets random = new RandomPackets(30 + version.level());
        try (NettyPeer netty = new NettyPeer(version)) {
            for (int i = 0; i < PACKETS; i++) {
                MqttSubscribeMessage sent = random.subscribe(version);
                MqttUnsubscribeMessage gone = random.unsubscribe(version);

                SubscribePacket packet = decode(netty.encode(sent), version, SubscribePacket.class);
                UnsubscribePacket unsubscribe = decode(netty.encode(gone), version, UnsubscribePacket.class);

                assertThat(packet.packetId()).isEqualTo(sent.variableHeader().messageId());
                assertThat(packet.subscriptionIdentifier())
                        .isEqualTo(value(
                                sent.idAndPropertiesVariableHeader().properties(),
                                PropertyId.SUBSCRIPTION_IDENTIFIER,
                                0));
                assertThat(packet.requests())
                        .isEqualTo(sent.payload().topicSubscriptions().stream()
                                .map(NettyToDecoderTest::request)
                                .toList());
                assertThat(unsubscribe.packetId())
                        .isEqualTo(gone.variableHeader().messageId());
                assertThat(unsubscribe.filters()).isEqualTo(gone.payload().topics());
            }
        }
    }

    private static SubscribePacket.Request request(MqttTopicSubscription subscription) {
        return new SubscribePacket.Request(
                subscription.topicFilter(),
                QoS.of(subscription.qualityOfService().value()),
                subscription.option().isNoLocal(),
                subscription.option().isRetainAsPublished(),
                subscription.option().retainHandling().value());
    }

    @ParameterizedTest
    @EnumSource(ProtocolVersion.class)
    void damagedPacketsGiveAPacketOrAViolationOrAskForMore(ProtocolVersion version) {
        RandomPackets random = new RandomPackets(40 + version.level());
        int[] outcomes = new int[3];
        try (NettyPeer netty = new NettyPeer(version)) {
            byte[] bytes = new byte[0];
            for (int i = 0; i < MUTATIONS; i++) {
                boolean connect = i / 20 % 5 == 0;
                if (i % 20 == 0) {
                    bytes = netty.encode(connect ? random.connect(version) : random.any(version));
                }
                outcomes[decodeDamaged(damage(bytes, random.random()), connect ? null : version)]++;
            }
        }
        assertThat(outcomes[0]).isPositive();
        assertThat(outcomes[1]).isPositive();
        assertThat(outcomes[2]).isPositive();
    }

    private int decodeDamaged(byte[] bytes, @Nullable ProtocolVersion version) {
        PacketRecorder recorder = new PacketRecorder();
        try {
            boolean decoded = decoder.decode(Unpooled.wrappedBuffer(bytes), version, MAXIMUM_PACKET_BYTES, recorder);
            assertThat(recorder.packets).hasSize(decoded ? 1 : 0);
            return decoded ? 1 : 0;
        } catch (ProtocolViolation violation) {
            assertThat(violation.reason().isError()).isTrue();
            return 2;
        }
    }

    private static byte[] damage(byte[] bytes, Random random) {
        byte[] damaged = bytes.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = random.nextInt(Math.min(damaged.length, 120));
            switch (random.nextInt(4)) {
                case 0 -> damaged[at] = (byte) random.nextInt();
                case 1 -> damaged[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> damaged[at] = (byte) (random.nextBoolean() ? 0xFF : 0);
                default -> damaged[at]++;
            }
        }
        return damaged;
    }
}
