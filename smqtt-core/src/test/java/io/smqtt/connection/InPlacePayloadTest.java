// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.publish;
import static io.smqtt.connection.ConnectionBench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PayloadMemory;
import io.smqtt.spi.Interception;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large payloads that stay in the network buffer: how long, and who gets a copy. The client publishes to itself. */
class InPlacePayloadTest {

    private static final String LARGE = "L".repeat(5_000);
    private static final String OTHER = "o".repeat(5_000);

    private final ConnectionBench bench = new ConnectionBench();
    private final List<ByteBuf> sent = new ArrayList<>();

    @AfterEach
    void close() {
        bench.close();
        assertThat(bench.payloads.bytes()).isZero();
        assertThat(sent).allSatisfy(buffer -> assertThat(buffer.refCnt()).isZero());
    }

    private void open() {
        bench.open().connected();
        bench.send(subscribe("t", 1, 1));
        bench.received();
    }

    /** Sends packets in one direct buffer, as the socket does. */
    private void sendDirect(MqttMessage... messages) {
        receive(direct(bench.encode(messages)));
    }

    private static ByteBuf direct(ByteBuf bytes) {
        return Unpooled.directBuffer(bytes.readableBytes(), bytes.readableBytes())
                .writeBytes(bytes);
    }

    private void receive(ByteBuf buffer) {
        sent.add(buffer);
        bench.channel.writeInbound(buffer);
        bench.channel.runPendingTasks();
    }

    @Test
    void atQos1TheBufferIsReleasedByTheLastAcknowledgement() {
        open();
        sendDirect(publish("t", LARGE, 1, 1), publish("t", OTHER, 1, 2));
        assertThat(bench.answers())
                .containsExactly("PUBLISH t " + LARGE, "PUBACK 1 0", "PUBLISH t " + OTHER, "PUBACK 2 0");
        assertThat(bench.payloads.bytes()).isEqualTo(sent.get(0).capacity()).isGreaterThan(10_000);
        bench.send(pubAck(1));
        assertThat(bench.payloads.bytes()).isPositive();
        bench.send(pubAck(2));
        assertThat(bench.payloads.bytes()).isZero();
        assertThat(sent.get(0).refCnt()).isZero();
    }

    private static MqttMessage pubAck(int packetId) {
        return MqttMessageBuilders.pubAck().packetId(packetId).build();
    }

    @Test
    void atQos0TheBufferIsReleasedWhenItIsWritten() {
        open();
        sendDirect(publish("t", LARGE, 0, 0));
        assertThat(bench.payloads.bytes()).isEqualTo(sent.get(0).capacity());
        assertThat(bench.answers()).containsExactly("PUBLISH t " + LARGE);
        assertThat(bench.payloads.bytes()).isZero();
    }

    /** 20 buffers, in each a payload for a client that does not read. */
    @Test
    void outputThatWaitsForTheSocketCounts() {
        bench.payloads = new PayloadMemory(200_000);
        open();
        for (int i = 0; i < 20; i++) {
            sendDirect(publish("t", LARGE, 0, 0), publish("elsewhere", "o".repeat(59_000), 0, 0));
        }
        assertThat(heldBytes()).isEqualTo(bench.payloads.bytes()).isBetween(100_000L, 200_000L);
        assertThat(bench.answers()).hasSize(20).containsOnly("PUBLISH t " + LARGE);
    }

    private long heldBytes() {
        return sent.stream()
                .filter(buffer -> buffer.refCnt() > 0)
                .mapToLong(ByteBuf::capacity)
                .sum();
    }

    /** The slices would keep much more memory than the limit of the output allows. */
    @Test
    void aSlowSocketKeepsNoBufferForASmallPartOfIt() {
        open();
        bench.wire.stuck = true;
        bench.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(500_000, 1_000_000));
        for (int i = 0; i < 20; i++) {
            sendDirect(publish("t", LARGE, 0, 0), publish("elsewhere", "o".repeat(35_000), 0, 0));
        }
        assertThat(sent.get(0).refCnt()).isPositive();
        assertThat(sent.get(19).refCnt()).isZero();
        assertThat(heldBytes()).isEqualTo(bench.payloads.bytes()).isLessThan(15 * 41_000);
        sendDirect(publish("t", LARGE, 0, 0), publish("t", OTHER, 0, 0)); // these are most of their buffer
        assertThat(sent.get(20).refCnt()).isPositive();
        bench.wire.stuck = false;
        bench.channel.flush();
        assertThat(bench.answers()).hasSize(22).contains("PUBLISH t " + LARGE, "PUBLISH t " + OTHER);
    }

    @Test
    void withoutASubscriberNothingIsKept() {
        open();
        sendDirect(publish("elsewhere", LARGE, 1, 1));
        assertThat(bench.answers()).containsExactly("PUBACK 1 10");
        assertThat(sent.get(0).refCnt()).isZero();
    }

    @Test
    void anOfflineClientHoldsNoBuffer() {
        bench.open();
        MqttProperties expiry = new MqttProperties();
        expiry.add(new MqttProperties.IntegerProperty(17, 1_000)); // session expiry interval
        bench.send(ConnectionBench.connect("c", MqttVersion.MQTT_5, expiry), subscribe("t", 1, 1));
        bench.received();
        sendDirect(publish("t", LARGE, 1, 1));
        bench.answers();
        assertThat(bench.payloads.bytes()).isPositive();
        bench.reopen(expiry);
        assertThat(bench.payloads.bytes()).isZero();
        assertThat(sent.get(0).refCnt()).isZero();
        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_ACCEPTED", "PUBLISH t " + LARGE);
    }

    @Test
    void whatWaitsInAQueueIsOnTheHeap() {
        bench.open();
        MqttProperties one = new MqttProperties();
        one.add(new MqttProperties.IntegerProperty(33, 1)); // receive maximum
        bench.send(ConnectionBench.connect("c", MqttVersion.MQTT_5, one), subscribe("t", 1, 1));
        bench.received();
        sendDirect(publish("t", "small", 1, 1));
        sendDirect(publish("t", LARGE, 1, 2));
        assertThat(bench.answers()).containsExactly("PUBLISH t small", "PUBACK 1 0", "PUBACK 2 0");
        assertThat(bench.payloads.bytes()).isZero();
        assertThat(sent.get(1).refCnt()).isZero();
        bench.send(pubAck(1));
        assertThat(bench.answers()).containsExactly("PUBLISH t " + LARGE);
    }

    @Test
    void aboveTheLimitPayloadsAreOnTheHeap() {
        bench.payloads = new PayloadMemory(9_000);
        open();
        sendDirect(publish("t", LARGE, 1, 1));
        sendDirect(publish("t", OTHER, 1, 2));
        assertThat(bench.answers())
                .containsExactly("PUBLISH t " + LARGE, "PUBACK 1 0", "PUBLISH t " + OTHER, "PUBACK 2 0");
        assertThat(bench.payloads.bytes()).isEqualTo(sent.get(0).capacity());
        assertThat(sent.get(1).refCnt()).isZero();
    }

    @Test
    void anInterceptorMayKeepTheMessageForever() {
        List<ApplicationMessage> kept = new ArrayList<>();
        bench.interceptors.add((client, message) -> {
            kept.add(message);
            return Interception.forward(message).now();
        });
        open();
        sendDirect(publish("t", LARGE, 0, 0));
        assertThat(bench.answers()).containsExactly("PUBLISH t " + LARGE);
        assertThat(sent.get(0).refCnt()).isZero();
        assertThat(kept)
                .singleElement()
                .satisfies(message -> assertThat(message.payload().asString()).isEqualTo(LARGE));
    }

    @Test
    void aRetainedMessageHoldsNoBuffer() {
        open();
        sendDirect(MqttMessageBuilders.publish()
                .topicName("t")
                .qos(io.netty.handler.codec.mqtt.MqttQoS.AT_MOST_ONCE)
                .retained(true)
                .payload(Unpooled.copiedBuffer(LARGE, java.nio.charset.StandardCharsets.US_ASCII))
                .build());
        assertThat(bench.answers()).containsExactly("PUBLISH t " + LARGE);
        assertThat(sent.get(0).refCnt()).isZero();
        bench.send(subscribe("t", 0, 2));
        assertThat(bench.answers()).contains("PUBLISH t " + LARGE);
    }

    /** The packets are cut anywhere: the bytes behind a payload in use are not moved, and those before it not changed. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 2_000, 4_000, 5_006, 5_007, 5_008, 5_009, 5_011, 6_000, 9_000, 10_015})
    void packetsMayBeCutAnywhere(int at) {
        open();
        ByteBuf all = bench.encode(publish("t", LARGE, 1, 1), publish("t", OTHER, 1, 2));
        ByteBuf first = Unpooled.directBuffer(12_000).writeBytes(all, at);
        receive(first);
        receive(direct(all));
        assertThat(bench.answers())
                .containsExactly("PUBLISH t " + LARGE, "PUBACK 1 0", "PUBLISH t " + OTHER, "PUBACK 2 0");
        bench.send(pubAck(1), pubAck(2));
        assertThat(bench.payloads.bytes()).isZero();
    }
}
