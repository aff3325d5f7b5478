// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import java.io.IOException;
import java.net.SocketTimeoutException;
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
                RawClient early = RawClient.connect(broker.port("tcp"), ProtocolVersion.MQTT_5, "early")) {
            assertThat(early.subscribe("early", 1)).isOne();
            for (int i = 0; i < SOCKETS; i++) {
                RawClient client = RawClient.open(broker.port("tcp"), ProtocolVersion.MQTT_5);
                client.sendConnect("crowd-" + i, 0, null, null);
                crowd.add(client);
            }

            Duration before = cpu(broker);
            long beganNanos = System.nanoTime();
            int rounds = 0;
            while (System.nanoTime() - beganNanos < 3_000_000_000L) {
                long sentNanos = System.nanoTime();
                early.publish("early", "round " + rounds);
                early.expect(RawClient.PUBLISH);
                rounds++;
                assertThat(Duration.ofNanos(System.nanoTime() - sentNanos)).as("round trip").isLessThan(Duration.ofSeconds(1));
                await().pollDelay(Duration.ofMillis(50)).until(() -> true);
            }
            assertThat(cpu(broker).minus(before)).as("CPU of 3 s%s", broker.report()).isLessThan(Duration.ofMillis(1_500));
            assertThat(answered(crowd)).isBetween(50, DESCRIPTORS);

            for (RawClient client : crowd) {
                client.close();
            }
            try (RawClient late = RawClient.connect(broker.port("tcp"), ProtocolVersion.MQTT_5, "late")) {
                assertThat(late.subscribe("late", 1)).isOne();
            }
        } finally {
            for (RawClient client : crowd) {
                client.close();
            }
        }
    }

    private static Duration cpu(BrokerProcess broker) {
        return broker.handle().info().totalCpuDuration().orElseThrow();
    }

    private static int answered(List<RawClient> crowd) throws IOException {
        int answered = 0;
        for (RawClient client : crowd) {
            client.socket().setSoTimeout(1);
            try {
                answered += client.readOrEnd() == null ? 0 : 1;
            } catch (SocketTimeoutException e) {
                // not accepted so far
            }
        }
        return answered;
    }
}
