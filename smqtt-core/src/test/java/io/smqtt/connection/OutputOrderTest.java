// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutputOrderTest {

    private final ConnectionBench bench = new ConnectionBench();

    @AfterEach
    void close() {
        bench.close();
    }

    private void deliver(int number, int bytes) {
        bench.router.route(
                bench.loop.routing(),
                ApplicationMessage.builder("t")
                        .payload(number + "x".repeat(bytes))
                        .qos(QoS.AT_LEAST_ONCE)
                        .build(),
                RouteTicket.NONE);
    }

    /** A write may fill the socket's buffer and the flush behind it empty it again, which asks for more messages. */
    @Test
    void aSocketThatTakesAllAtOnceChangesNoOrder() { // [MQTT-4.6.0-6]
        bench.config = BrokerConfig.builder()
                .limits(LimitsConfig.builder().maxInFlight(1_000).build())
                .build();
        bench.open().connected();
        bench.send(subscribe("t", 1, 1));
        bench.received();
        bench.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(10_000, 20_000));
        ChannelOutboundBuffer socket = bench.channel.unsafe().outboundBuffer();
        socket.setUserDefinedWritability(1, false);
        bench.channel.runPendingTasks();
        for (int i = 0; i < 100; i++) {
            deliver(i, 5_000); // wait in the queue
        }
        socket.setUserDefinedWritability(1, true);

        List<Integer> numbers = bench.received().stream()
                .map(MqttPublishMessage.class::cast)
                .map(OutputOrderTest::number)
                .toList();
        assertThat(numbers).isEqualTo(IntStream.range(0, 100).boxed().toList());
    }

    private static int number(MqttPublishMessage publish) {
        String text = publish.payload().toString(StandardCharsets.UTF_8);
        publish.release();
        return Integer.parseInt(text.substring(0, text.indexOf('x')));
    }

    /** All that a client is owed before its DISCONNECT goes out, however late the socket takes it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void afterADisconnectTheSocketIsClosedWhenItHasTakenTheOutput(boolean stuck) { // [MQTT-3.14.4-2]
        bench.plain = true;
        bench.open().connected();
        bench.wire.stuck = stuck;
        bench.send(ConnectionBench.ping(), MqttMessageBuilders.disconnect().build());
        assertThat(bench.channel.isOpen()).isEqualTo(stuck);
        bench.wire.stuck = false;
        bench.channel.flush();
        assertThat(bench.receivedTypes()).containsExactly(MqttMessageType.PINGRESP);
        assertThat(bench.channel.isOpen()).isFalse();
    }
}
