// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.Broker;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What clients see of a limit on disk. */
class DiskQuotaTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int QUOTA_BYTES = 6 << 20;

    @TempDir
    Path directory;

    private final byte[] payload = new byte[20_000];
    private Broker broker;

    @BeforeEach
    void start() {
        new Random(1).nextBytes(payload);
        ListenerConfig listener =
                ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        StoreSettings settings =
                StoreSettings.defaults().withMemory(1 << 20, 1 << 20).withMaxBytes(QUOTA_BYTES);
        broker = Objects.requireNonNull(Broker.builder()
                .config(BrokerConfig.builder()
                        .listeners(Map.of("tcp", listener))
                        .limits(LimitsConfig.builder()
                                .maxQueuedMessages(100_000)
                                .maxQueuedBytes(1 << 30)
                                .build())
                        .build())
                .store(RocksBrokerStore.open(directory.resolve("store"), settings))
                .start()
                .block(PATIENCE));
    }

    @AfterEach
    void stop() {
        broker.close(Duration.ZERO).block(PATIENCE);
    }

    private RawClient open() {
        InetSocketAddress address = Objects.requireNonNull(broker.listeners().get("tcp"));
        return RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE);
    }

    /** The reason code of the acknowledgement. */
    private int publish(RawClient publisher) {
        int id = publisher.nextPacketId();
        publisher.send(PublishBytes.to("t").payload(payload).qos(1, id));
        ReceivedPacket answer = publisher.expect(MqttMessageType.PUBACK);
        assertThat(answer.packetId()).isEqualTo(id);
        return answer.reasonCode();
    }

    @Tag("slow")
    @Test
    void pastTheLimitPublishersAreToldAndOthersGoOnUntilThereIsRoom() {
        try (RawClient absent = open();
                RawClient publisher = open();
                RawClient listening = open()) {
            absent.connect(ConnectBytes.of("absent").persistent(1_000));
            absent.subscribe("t", 1);
            absent.disconnect();
            publisher.connect("publisher");
            listening.connect("listening");
            listening.subscribe("live", 0);

            int kept = 0;
            int code = publish(publisher);
            while (code == 0) {
                kept++;
                code = publish(publisher);
            }
            assertThat(code).isEqualTo(ReasonCode.QUOTA_EXCEEDED.value());
            assertThat(kept).isBetween(100, 500); // 2 to 10 MB

            publisher.send(PublishBytes.to("live").payload("goes on"));
            listening.expectPublish("live", "goes on");

            try (RawClient resumed = open()) { // what was acknowledged is there, and gives its room back
                assertThat(resumed.connect(ConnectBytes.of("absent")
                                        .cleanStart(false)
                                        .persistent(1_000))
                                .sessionPresent())
                        .isTrue();
                for (int i = 0; i < kept; i++) {
                    ReceivedPacket message = resumed.expect(MqttMessageType.PUBLISH);
                    assertThat(message.payload()).isEqualTo(payload);
                    resumed.acknowledge(0x40, message.packetId());
                }
                resumed.ping();
                resumed.disconnect();
            }
            await().atMost(PATIENCE).until(() -> publish(publisher) == 0);
        }
    }
}
