// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttConnectMessage;
import io.netty.handler.codec.mqtt.MqttFixedHeader;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttMessageIdAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttProperties.IntegerProperty;
import io.netty.handler.codec.mqtt.MqttProperties.StringProperty;
import io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttPublishVariableHeader;
import io.netty.handler.codec.mqtt.MqttQoS;
import io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttSubscribeMessage;
import io.netty.handler.codec.mqtt.MqttSubscribePayload;
import io.netty.handler.codec.mqtt.MqttSubscriptionOption;
import io.netty.handler.codec.mqtt.MqttTopicSubscription;
import io.netty.handler.codec.mqtt.MqttUnsubscribeMessage;
import io.netty.handler.codec.mqtt.MqttUnsubscribePayload;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes up legal packets of Netty's types, the same ones for the same seed. */
final class RandomPackets {

    private static final String[] LEVELS = {"a", "b", "", "sensor", "äöü", "€", "😀", "x y"};
    private static final MqttSubscriptionOption.RetainedHandlingPolicy[] RETAIN_HANDLING =
            MqttSubscriptionOption.RetainedHandlingPolicy.values();

    private final Random random;

    RandomPackets(long seed) {
        random = new Random(seed);
    }

    Random random() {
        return random;
    }

    String topic() {
        StringBuilder topic = new StringBuilder("t");
        for (int i = random.nextInt(5); i > 0; i--) {
            topic.append('/').append(LEVELS[random.nextInt(LEVELS.length)]);
        }
        return topic.toString();
    }

    String text() {
        return topic() + "+#" + random.nextInt(100);
    }

    byte[] binary() {
        byte[] bytes = new byte[random.nextInt(random.nextInt(20) == 0 ? 20_000 : 200)];
        random.nextBytes(bytes);
        return bytes;
    }

    private boolean maybe() {
        return random.nextBoolean();
    }

    private int packetId() {
        return 1 + random.nextInt(65_535);
    }

    private void addUserProperties(MqttProperties properties) {
        for (int i = random.nextInt(3); i > 0; i--) {
            properties.add(new MqttProperties.UserProperty(text(), text()));
        }
    }

    MqttConnectMessage connect(ProtocolVersion version) {
        MqttMessageBuilders.ConnectBuilder connect = MqttMessageBuilders.connect()
                .protocolVersion(NettyPeer.versionOf(version))
                .clientId(version == ProtocolVersion.MQTT_3_1 ? "c" + random.nextInt() : "client" + text())
                .cleanSession(maybe())
                .keepAlive(random.nextInt(65_536));
        if (maybe()) {
            connect.username(text());
            if (maybe()) {
                connect.password(binary());
            }
        }
        if (maybe()) {
            connect.willFlag(true).willTopic(topic()).willMessage(binary()).willRetain(maybe());
            connect.willQoS(MqttQoS.valueOf(random.nextInt(3)));
            if (version.isV5()) {
                MqttProperties properties = messageProperties(false);
                if (maybe()) {
                    properties.add(new IntegerProperty(PropertyId.WILL_DELAY_INTERVAL, random.nextInt(1_000_000)));
                }
                connect.willProperties(properties);
            }
        }
        if (version.isV5()) {
            connect.properties(connectProperties());
        }
        return connect.build();
    }

    private MqttProperties connectProperties() {
        MqttProperties properties = new MqttProperties();
        if (maybe()) {
            properties.add(new IntegerProperty(PropertyId.SESSION_EXPIRY_INTERVAL, random.nextInt(1_000_000)));
        }
        if (maybe()) {
            properties.add(new IntegerProperty(PropertyId.RECEIVE_MAXIMUM, 1 + random.nextInt(65_535)));
        }
        if (maybe()) {
            properties.add(new IntegerProperty(PropertyId.REQUEST_PROBLEM_INFORMATION, random.nextInt(2)));
        }
        if (maybe()) {
            properties.add(new StringProperty(PropertyId.AUTHENTICATION_METHOD, text()));
        }
        addUserProperties(properties);
        return properties;
    }

    private MqttProperties messageProperties(boolean alias) {
        MqttProperties properties = new MqttProperties();
        if (maybe()) {
            properties.add(new IntegerProperty(PropertyId.PAYLOAD_FORMAT_INDICATOR, random.nextInt(2)));
        }
        if (maybe()) {
            properties.add(new IntegerProperty(PropertyId.MESSAGE_EXPIRY_INTERVAL, random.nextInt(1_000_000)));
        }
        if (maybe()) {
            properties.add(new StringProperty(PropertyId.RESPONSE_TOPIC, topic()));
        }
        if (maybe()) {
            properties.add(new MqttProperties.BinaryProperty(PropertyId.CORRELATION_DATA, binary()));
        }
        if (alias && maybe()) {
            properties.add(new IntegerProperty(PropertyId.TOPIC_ALIAS, 1 + random.nextInt(65_535)));
        }
        if (maybe()) {
            properties.add(new StringProperty(PropertyId.CONTENT_TYPE, text()));
        }
        addUserProperties(properties);
        return properties;
    }

    MqttPublishMessage publish(ProtocolVersion version) {
        int qos = random.nextInt(3);
        MqttFixedHeader header =
                new MqttFixedHeader(MqttMessageType.PUBLISH, qos > 0 && maybe(), MqttQoS.valueOf(qos), maybe(), 0);
        MqttProperties properties = version.isV5() ? messageProperties(true) : MqttProperties.NO_PROPERTIES;
        MqttPublishVariableHeader variable =
                new MqttPublishVariableHeader(topic(), qos == 0 ? 0 : packetId(), properties);
        return new MqttPublishMessage(header, variable, Unpooled.wrappedBuffer(binary()));
    }

    MqttMessage acknowledgement(ProtocolVersion version, MqttMessageType type) {
        MqttQoS flags = type == MqttMessageType.PUBREL ? MqttQoS.AT_LEAST_ONCE : MqttQoS.AT_MOST_ONCE;
        MqttFixedHeader header = new MqttFixedHeader(type, false, flags, false, 0);
        boolean received = type == MqttMessageType.PUBACK || type == MqttMessageType.PUBREC;
        byte reason = (byte) (maybe() ? 0 : received ? 0x87 : 0x92);
        MqttProperties properties = new MqttProperties();
        if (maybe()) {
            properties.add(new StringProperty(PropertyId.REASON_STRING, text()));
        }
        addUserProperties(properties);
        boolean v5 = version.isV5();
        return new MqttMessage(
                header,
                new MqttPubReplyMessageVariableHeader(
                        packetId(), v5 ? reason : 0, v5 ? properties : MqttProperties.NO_PROPERTIES));
    }

    MqttSubscribeMessage subscribe(ProtocolVersion version) {
        List<MqttTopicSubscription> subscriptions = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            MqttQoS qos = MqttQoS.valueOf(random.nextInt(3));
            MqttSubscriptionOption option = version.isV5()
                    ? new MqttSubscriptionOption(qos, maybe(), maybe(), RETAIN_HANDLING[random.nextInt(3)])
                    : MqttSubscriptionOption.onlyFromQos(qos);
            subscriptions.add(new MqttTopicSubscription(topic() + "/+/#", option));
        }
        MqttProperties properties = new MqttProperties();
        if (maybe()) {
            properties.add(new IntegerProperty(PropertyId.SUBSCRIPTION_IDENTIFIER, 1 + random.nextInt(268_435_455)));
        }
        addUserProperties(properties);
        return new MqttSubscribeMessage(
                new MqttFixedHeader(MqttMessageType.SUBSCRIBE, false, MqttQoS.AT_LEAST_ONCE, false, 0),
                new MqttMessageIdAndPropertiesVariableHeader(
                        packetId(), version.isV5() ? properties : MqttProperties.NO_PROPERTIES),
                new MqttSubscribePayload(subscriptions));
    }

    MqttUnsubscribeMessage unsubscribe(ProtocolVersion version) {
        List<String> filters = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            filters.add(topic() + "/+/#");
        }
        MqttProperties properties = new MqttProperties();
        addUserProperties(properties);
        return new MqttUnsubscribeMessage(
                new MqttFixedHeader(MqttMessageType.UNSUBSCRIBE, false, MqttQoS.AT_LEAST_ONCE, false, 0),
                new MqttMessageIdAndPropertiesVariableHeader(
                        packetId(), version.isV5() ? properties : MqttProperties.NO_PROPERTIES),
                new MqttUnsubscribePayload(filters));
    }

    /** A DISCONNECT or AUTH of MQTT 5.0. */
    MqttMessage reasonPacket(MqttMessageType type) {
        MqttProperties properties = new MqttProperties();
        if (type == MqttMessageType.AUTH) {
            properties.add(new StringProperty(PropertyId.AUTHENTICATION_METHOD, text()));
            properties.add(new MqttProperties.BinaryProperty(PropertyId.AUTHENTICATION_DATA, binary()));
        } else if (maybe()) {
            properties.add(new IntegerProperty(PropertyId.SESSION_EXPIRY_INTERVAL, random.nextInt(1_000_000)));
        }
        addUserProperties(properties);
        byte reason = (byte) (type == MqttMessageType.AUTH ? 0x18 : maybe() ? 0 : 4);
        return new MqttMessage(
                new MqttFixedHeader(type, false, MqttQoS.AT_MOST_ONCE, false, 0),
                new MqttReasonCodeAndPropertiesVariableHeader(reason, properties));
    }

    /** Any packet of a client but CONNECT. */
    MqttMessage any(ProtocolVersion version) {
        return switch (random.nextInt(version.isV5() ? 10 : 8)) {
            case 0, 1 -> publish(version);
            case 2 -> acknowledgement(version, MqttMessageType.PUBACK);
            case 3 -> acknowledgement(version, MqttMessageType.PUBREC);
            case 4 -> acknowledgement(version, MqttMessageType.PUBREL);
            case 5 -> acknowledgement(version, MqttMessageType.PUBCOMP);
            case 6 -> subscribe(version);
            case 7 -> unsubscribe(version);
            case 8 -> reasonPacket(MqttMessageType.DISCONNECT);
            default -> reasonPacket(MqttMessageType.AUTH);
        };
    }
}
