// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Packets that announce too much: refused from the announcement alone, wherever the bytes are cut. */
class CutPacketsTest {

    private final ConnectionBench bench = new ConnectionBench();

    @AfterEach
    void close() {
        bench.close();
    }

    private void sendCut(int at, int... bytes) {
        ByteBuf first = Unpooled.buffer();
        ByteBuf second = Unpooled.buffer();
        for (int i = 0; i < bytes.length; i++) {
            (i < at ? first : second).writeByte(bytes[i]);
        }
        bench.channel.writeInbound(first);
        bench.channel.writeInbound(second);
        bench.channel.runPendingTasks();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void anEndlessConnectIsRefusedBeforeItArrives(int at) {
        bench.open();
        sendCut(at, 0x10, 0xFF, 0xFF, 0xFF, 0x7F);
        assertThat(bench.answers()).isEmpty();
        assertThat(bench.channel.isOpen()).isFalse();
        assertThat(bench.events).containsExactly("closed PACKET_TOO_LARGE");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aPublishAboveTheMaximumPacketSizeIsRefusedBeforeItArrives(int at) {
        bench.config = BrokerConfig.builder()
                .limits(LimitsConfig.builder().maxPacketBytes(1_000).build())
                .build();
        bench.open().connected(MqttVersion.MQTT_5);
        sendCut(at, 0x30, 0xFF, 0xFF, 0xFF, 0x7F);
        assertThat(bench.answers()).containsExactly("DISCONNECT 95");
    }
}
