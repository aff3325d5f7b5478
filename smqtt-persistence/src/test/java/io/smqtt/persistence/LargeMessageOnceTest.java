// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.File;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A large message for many sessions is in the store once, also if it came to the broker in a buffer of the network. */
class LargeMessageOnceTest {

    private static final int SESSIONS = 50;
    private static final int MESSAGES = 20;
    private static final int PAYLOAD_BYTES = 20_000;

    @TempDir
    Path directory;

    @Test
    void aLargeMessageForManySessionsIsStoredOnce() {
        RocksBrokerStore store = RocksBrokerStore.open(directory.resolve("store"), StoreSettings.defaults());
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        Broker broker = Broker.builder().config(config).store(store).start().block(Duration.ofSeconds(30));
        assertThat(broker).isNotNull();
        try {
            InetSocketAddress address = broker.listeners().get("tcp");
            for (int i = 0; i < SESSIONS; i++) {
                try (RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5)) {
                    client.connect(ConnectBytes.of("c" + i).persistent(1_000));
                    client.subscribe("t", 1);
                }
            }
            long before = bytes(directory.toFile());
            byte[] payload = new byte[PAYLOAD_BYTES];
            Random random = new Random(1);
            try (RawClient publisher = RawClient.to(address, ProtocolVersion.MQTT_5)) {
                publisher.connect(ConnectBytes.of("p"));
                for (int i = 0; i < MESSAGES; i++) {
                    random.nextBytes(payload); // cannot be compressed
                    publisher.send(PublishBytes.to("t").payload(payload).qos(1, publisher.nextPacketId()));
                    publisher.expect(MqttMessageType.PUBACK);
                }
            }

            assertThat(bytes(directory.toFile()) - before)
                    .isBetween((long) MESSAGES * PAYLOAD_BYTES, 4L * MESSAGES * PAYLOAD_BYTES);
        } finally {
            broker.close(Duration.ofSeconds(1)).block(Duration.ofSeconds(30));
        }
    }

    private static long bytes(File file) {
        File[] content = file.listFiles();
        return content == null
                ? file.length()
                : Arrays.stream(content).mapToLong(LargeMessageOnceTest::bytes).sum();
    }
}
