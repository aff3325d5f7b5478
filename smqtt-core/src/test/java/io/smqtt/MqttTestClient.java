// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.mqtt.MqttConnAckMessage;
import io.netty.handler.codec.mqtt.MqttConnectMessage;
import io.netty.handler.codec.mqtt.MqttConnectReturnCode;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttEncoder;
import io.netty.handler.codec.mqtt.MqttFixedHeader;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttMessageIdVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttQoS;
import io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttVersion;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A small client on Netty's own MQTT codec. Acknowledges QoS 1 at once. */
final class MqttTestClient implements AutoCloseable {

    private static final MultiThreadIoEventLoopGroup GROUP = new MultiThreadIoEventLoopGroup(
            1,
            daemon -> {
                Thread thread = new Thread(daemon, "test-client");
                thread.setDaemon(true);
                return thread;
            },
            NioIoHandler.newFactory());

    final List<String> texts = new CopyOnWriteArrayList<>();
    private final LinkedBlockingQueue<MqttMessage> answers = new LinkedBlockingQueue<>();
    private final Channel channel;
    volatile boolean acknowledges = true;
    volatile int disconnectReason = -1;
    volatile boolean sessionPresent;
    private int packetId;

    private MqttTestClient(InetSocketAddress address) {
        channel = new Bootstrap()
                .group(GROUP)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel created) {
                        created.pipeline().addLast(new MqttDecoder(1 << 24), MqttEncoder.INSTANCE, new Incoming());
                    }
                })
                .connect(address)
                .syncUninterruptibly()
                .channel();
    }

    private final class Incoming extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof MqttPublishMessage publish) {
                texts.add(publish.payload().toString(StandardCharsets.UTF_8));
                if (acknowledges && publish.fixedHeader().qosLevel() == MqttQoS.AT_LEAST_ONCE) {
                    context.writeAndFlush(MqttMessageBuilders.pubAck()
                            .packetId(publish.variableHeader().packetId())
                            .build());
                }
                publish.release();
            } else if (message instanceof MqttMessage other) {
                if (other.variableHeader() instanceof MqttReasonCodeAndPropertiesVariableHeader reason) {
                    disconnectReason = reason.reasonCode() & 0xFF;
                } else {
                    answers.add(other);
                }
            }
        }
    }

    static MqttTestClient connect(InetSocketAddress address, String clientId, boolean cleanStart) throws Exception {
        return connect(address, clientId, cleanStart, 1_000);
    }

    static MqttTestClient connect(InetSocketAddress address, String clientId, boolean cleanStart, int expirySeconds)
            throws Exception {
        MqttProperties properties = new MqttProperties();
        properties.add(new MqttProperties.IntegerProperty(MqttProperties.SESSION_EXPIRY_INTERVAL, expirySeconds));
        return connect(
                address,
                MqttMessageBuilders.connect()
                        .protocolVersion(MqttVersion.MQTT_5)
                        .clientId(clientId)
                        .cleanSession(cleanStart)
                        .keepAlive(60)
                        .properties(properties)
                        .build());
    }

    /** A client without a session that outlives its connection, and with a will of QoS 1. */
    static MqttTestClient withWill(InetSocketAddress address, String clientId, String topic, String text)
            throws Exception {
        return connect(
                address,
                MqttMessageBuilders.connect()
                        .protocolVersion(MqttVersion.MQTT_5)
                        .clientId(clientId)
                        .cleanSession(true)
                        .keepAlive(60)
                        .willFlag(true)
                        .willQoS(MqttQoS.AT_LEAST_ONCE)
                        .willTopic(topic)
                        .willMessage(text.getBytes(StandardCharsets.UTF_8))
                        .build());
    }

    private static MqttTestClient connect(InetSocketAddress address, MqttConnectMessage connect) throws Exception {
        MqttTestClient client = new MqttTestClient(address);
        client.channel.writeAndFlush(connect);
        MqttConnAckMessage answer = (MqttConnAckMessage) client.answer(MqttMessageType.CONNACK);
        if (answer.variableHeader().connectReturnCode() != MqttConnectReturnCode.CONNECTION_ACCEPTED) {
            throw new AssertionError("refused: " + answer);
        }
        client.sessionPresent = answer.variableHeader().isSessionPresent();
        return client;
    }

    private MqttMessage answer(MqttMessageType type) throws InterruptedException {
        MqttMessage answer = answers.poll(10, TimeUnit.SECONDS);
        if (answer == null || answer.fixedHeader().messageType() != type) {
            throw new AssertionError("no " + type + " but " + answer);
        }
        return answer;
    }

    MqttTestClient subscribe(String filter, int qos) throws Exception {
        channel.writeAndFlush(MqttMessageBuilders.subscribe()
                .addSubscription(MqttQoS.valueOf(qos), filter)
                .messageId(nextId())
                .build());
        answer(MqttMessageType.SUBACK);
        return this;
    }

    void unsubscribe(String filter) throws Exception {
        channel.writeAndFlush(MqttMessageBuilders.unsubscribe()
                .addTopicFilter(filter)
                .messageId(nextId())
                .build());
        answer(MqttMessageType.UNSUBACK);
    }

    private int nextId() {
        return packetId = packetId % 65_535 + 1;
    }

    /** Publishes; at QoS 1 waits for the PUBACK. */
    void publish(String topic, String text, int qos) throws Exception {
        publish(topic, text, qos, false);
    }

    void publish(String topic, String text, int qos, boolean retain) throws Exception {
        int id = qos == 0 ? 0 : nextId();
        channel.writeAndFlush(MqttMessageBuilders.publish()
                .topicName(topic)
                .retained(retain)
                .qos(MqttQoS.valueOf(qos))
                .messageId(id)
                .payload(Unpooled.copiedBuffer(text, StandardCharsets.UTF_8))
                .build());
        if (qos == 1) {
            MqttMessageIdVariableHeader header =
                    (MqttMessageIdVariableHeader) answer(MqttMessageType.PUBACK).variableHeader();
            if (header.messageId() != id) {
                throw new AssertionError("PUBACK of " + header.messageId() + " instead of " + id);
            }
        }
    }

    /** Completes a round trip: what was sent before has been handled. */
    void ping() throws Exception {
        channel.writeAndFlush(
                new MqttMessage(new MqttFixedHeader(MqttMessageType.PINGREQ, false, MqttQoS.AT_MOST_ONCE, false, 0)));
        answer(MqttMessageType.PINGRESP);
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    /** Lets the connection break without a DISCONNECT. */
    @Override
    public void close() {
        channel.close().syncUninterruptibly();
    }
}
