// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** More connections than the operating system lets the broker have. */
class DescriptorExhaustionIT {

    private static final int DESCRIPTORS = 256;
    private static final int SOCKETS = 400;

    @TempDir
    Path directory;

    @Test
    void acceptPausesAndConnectedClientsNoticeNothing() throws IOException {
        Path file = Files.writeString(directory.resolve("few.yaml"), """
                management:
                  port: 0
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                    connect-timeout: 60s
                  ws:
                    enabled: false
                """);
        List<String> few = List.of("prlimit", "--nofile=" + DESCRIPTORS);
        List<RawClient> crowd = new ArrayList<>();
        try (BrokerProcess broker = BrokerProcess.start(directory, few, file);
                RawClient early = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            early.connect("early");
            early.subscribe("early", 0);
            for (int i = 0; i < SOCKETS; i++) {
                crowd.add(RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)
                        .send(ConnectBytes.of("crowd-" + i)));
            }

            Duration before = cpu(broker);
            long beganNanos = System.nanoTime();
            int rounds = 0;
            while (System.nanoTime() - beganNanos < 3_000_000_000L) {
                long sentNanos = System.nanoTime();
                early.send(PublishBytes.to("early").payload("round " + rounds));
                early.expectPublish("early", "round " + rounds++);
                assertThat(Duration.ofNanos(System.nanoTime() - sentNanos))
                        .as("round trip")
                        .isLessThan(Duration.ofSeconds(1));
                await().pollDelay(Duration.ofMillis(50)).until(() -> true);
            }
            assertThat(cpu(broker).minus(before))
                    .as("CPU of 3 s%s", broker.report())
                    .isLessThan(Duration.ofMillis(1_500));
            assertThat(answered(crowd)).isBetween(50L, (long) DESCRIPTORS);

            crowd.forEach(RawClient::close);
            try (RawClient late =
                    RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5).deadline(Duration.ofSeconds(20))) {
                late.connect("late");
            }
        } finally {
            crowd.forEach(RawClient::close);
        }
    }

    private static Duration cpu(BrokerProcess broker) {
        return broker.handle().info().totalCpuDuration().orElseThrow();
    }

    /** How many have their CONNACK. */
    private static long answered(List<RawClient> crowd) throws IOException {
        long answered = 0;
        for (RawClient client : crowd) {
            answered += client.socket().getInputStream().available() > 0 ? 1 : 0;
        }
        return answered;
    }
}
