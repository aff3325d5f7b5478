// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.smqtt.message.ReasonCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first bytes of a client of a front node. */
class FrontHandlerTest {

    private final ConnectionBench bench = new ConnectionBench();
    private final List<RelayedConnection> relayed = new ArrayList<>();
    private final EmbeddedChannel node = new EmbeddedChannel();

    @AfterEach
    void close() {
        bench.close();
        node.finishAndReleaseAll();
    }

    private void open() {
        bench.front = relayed::add;
        bench.open();
    }

    private static MqttMessage stored(MqttVersion version) {
        MqttProperties properties = new MqttProperties();
        properties.add(new MqttProperties.IntegerProperty(MqttProperties.SESSION_EXPIRY_INTERVAL, 1_000));
        return MqttMessageBuilders.connect()
                .protocolVersion(version)
                .clientId("stored")
                .cleanSession(false)
                .properties(properties)
                .build();
    }

    private static byte[] taken(ByteBuf bytes) {
        byte[] all = new byte[bytes.readableBytes()];
        bytes.readBytes(all);
        bytes.release();
        return all;
    }

    @Test
    void aClientWithoutAStoredSessionIsServedHere() {
        open();
        bench.send(ConnectionBench.connect("clean", MqttVersion.MQTT_5), ConnectionBench.ping());

        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_ACCEPTED", "PINGRESP");
        assertThat(bench.events).containsExactly("connected clean");
        assertThat(relayed).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 9, 30, 1_000})
    void exactlyWhatTheClientHasSentGoesToTheNode(int piece) {
        open();
        byte[] sent = taken(bench.encode(
                stored(MqttVersion.MQTT_5),
                ConnectionBench.subscribe("a", 1, 1),
                ConnectionBench.publish("a", "b", 1, 2)));
        for (int from = 0; from < sent.length; from += piece) {
            bench.channel.writeInbound(Unpooled.copiedBuffer(sent, from, Math.min(piece, sent.length - from)));
        }
        assertThat(relayed).hasSize(1);
        assertThat(relayed.get(0).clientId()).isEqualTo("stored");
        assertThat(bench.complete).isTrue();
        assertThat(bench.settled).isFalse();

        relayed.get(0).connect(node);

        ByteBuf all = Unpooled.buffer();
        for (ByteBuf part = node.readOutbound(); part != null; part = node.readOutbound()) {
            all.writeBytes(part);
            part.release();
        }
        assertThat(taken(all)).isEqualTo(sent);
        assertThat(bench.answers()).isEmpty();
        node.writeInbound(Unpooled.wrappedBuffer(new byte[] {0x20, 3, 0, 0, 0}));
        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_ACCEPTED");
        assertThat(bench.settled).isTrue();
    }

    @Test
    void nothingMoreIsReadUntilTheNodeHasAnswered() {
        open();
        bench.send(stored(MqttVersion.MQTT_3_1_1));
        int reads = bench.wire.reads;
        bench.channel.pipeline().fireChannelReadComplete();
        assertThat(bench.wire.reads).isEqualTo(reads);

        relayed.get(0).connect(node);
        assertThat(bench.wire.reads).isEqualTo(reads);
        node.writeInbound(Unpooled.wrappedBuffer(new byte[] {0x20, 2, 0, 0}));

        assertThat(bench.wire.reads).isEqualTo(reads + 1);
        node.releaseOutbound();
    }

    @ParameterizedTest
    @ValueSource(strings = {"MQTT_5", "MQTT_3_1_1"})
    void aClientWithoutANodeIsRefused(String version) {
        open();
        bench.send(stored(MqttVersion.valueOf(version)), ConnectionBench.ping());

        relayed.get(0).refuse(ReasonCode.SERVER_BUSY, "no room");

        assertThat(bench.answers())
                .containsExactly(
                        version.equals("MQTT_5")
                                ? "CONNACK CONNECTION_REFUSED_SERVER_BUSY"
                                : "CONNACK CONNECTION_REFUSED_SERVER_UNAVAILABLE");
        assertThat(bench.channel.isOpen()).isFalse();
        assertThat(bench.events).containsExactly("refused SERVER_BUSY", "closed SERVER_BUSY");
    }

    @Test
    void aClientThatGoesEndsTheSearch() {
        open();
        bench.send(stored(MqttVersion.MQTT_5));
        List<String> gone = new ArrayList<>();
        relayed.get(0).whenGone(() -> gone.add("gone"));

        bench.channel.close();

        assertThat(gone).containsExactly("gone");
        assertThat(relayed.get(0).isWaiting()).isFalse();
        assertThat(bench.events).containsExactly("closed UNSPECIFIED_ERROR");
        relayed.get(0).connect(node); // too late
        assertThat(node.isOpen()).isFalse();
        assertThat((Object) node.readOutbound()).isNull();
    }

    @Test
    void aNodeThatHasClosedItsConnectionRefusesTheClient() {
        open();
        bench.send(stored(MqttVersion.MQTT_5));
        node.close();

        relayed.get(0).connect(node);

        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_REFUSED_SERVER_UNAVAILABLE_5");
    }

    @Test
    void theEndOfARelayedConnectionIsCountedOnce() {
        open();
        bench.send(stored(MqttVersion.MQTT_5));
        relayed.get(0).connect(node);
        node.releaseOutbound();

        node.close();
        bench.channel.runPendingTasks();

        assertThat(bench.channel.isOpen()).isFalse();
        assertThat(bench.events).containsExactly("closed SUCCESS");
    }

    @Test
    void garbageIsAnsweredAsWithoutAFront() {
        open();
        bench.channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {0x10, (byte) 0xFF, (byte) 0xFF}));
        bench.channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {(byte) 0xFF, 0x7F}));

        assertThat(bench.channel.isOpen()).isFalse();
        assertThat(bench.events).containsExactly("closed PACKET_TOO_LARGE");
        assertThat(relayed).isEmpty();
    }

    @Test
    void aConnectThatDoesNotComeInTimeIsCounted() {
        open();
        bench.channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {0x10, 20, 0}));

        bench.connectTimeout.run();

        assertThat(bench.channel.isOpen()).isFalse();
        assertThat(bench.events).containsExactly("closed MAXIMUM_CONNECT_TIME");
    }

    @Test
    void anOverloadedFrontRefusesTheClientItself() {
        open();
        bench.overloadLevel = 2;
        bench.send(stored(MqttVersion.MQTT_5));

        assertThat(relayed).isEmpty();
        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_REFUSED_SERVER_BUSY");
    }
}
