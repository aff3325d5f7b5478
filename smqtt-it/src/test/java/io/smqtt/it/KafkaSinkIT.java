// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sink {@code kafka} of the real program: a topic of a cluster that is killed. */
@Tag("long")
class KafkaSinkIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int INFLIGHT = 1_000;
    private static final int PARTITIONS = 4;

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileTheClusterIsKilled() throws Exception {
        try (KafkaServer kafka = KafkaServer.lasting(Files.createDirectory(directory.resolve("kafka")))) {
            kafka.createTopic("rows", PARTITIONS, Map.of());
            Path configuration = configuration(kafka.address());
            SinkCampaign.Server server = new SinkCampaign.Server() {
                @Override
                public void kill() {
                    kafka.kill();
                }

                @Override
                public void start() throws IOException {
                    kafka.startAgain();
                }
            };
            try (SinkCampaign campaign = new SinkCampaign(
                    () -> BrokerProcess.start(Extensions.command("smqtt-sink-kafka", directory, configuration)),
                    server)) {
                publishPoison(campaign.broker());
                campaign.run();
                await().atMost(PATIENCE)
                        .pollInterval(Duration.ofSeconds(1))
                        .until(() -> distinct(numbers(kafka)) == campaign.published());
                campaign.assertArrived("kafka", numbers(kafka), INFLIGHT);
                awaitDeadLetter();
            }
        }
    }

    private static void publishPoison(BrokerProcess broker) {
        try (RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("poison");
            client.publish("in/poison", "x".repeat(20_000), 1);
        }
    }

    private void awaitDeadLetter() {
        Path file = directory.resolve("data/rules/store-dead.jsonl");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(Files.readAllLines(file))
                        .singleElement()
                        .asString()
                        .contains("\"topic\":\"in/poison\"", "larger than 16384"));
    }

    private static int distinct(Map<String, List<Integer>> numbers) {
        return numbers.values().stream()
                .mapToInt(arrived -> new LinkedHashSet<>(arrived).size())
                .sum();
    }

    private static Map<String, List<Integer>> numbers(KafkaServer kafka) {
        Map<String, List<Integer>> numbers = new TreeMap<>();
        kafka.records("rows", PARTITIONS)
                .forEach(record -> numbers.computeIfAbsent(record.key(), topic -> new ArrayList<>())
                        .add(Integer.valueOf(record.value())));
        return numbers;
    }

    private Path configuration(String address) throws IOException {
        return Files.writeString(directory.resolve("test.yaml"), """
                management:
                  enabled: false
                access:
                  allow-anonymous: loopback
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                storage:
                  kind: rocksdb
                rules:
                  store:
                    sql: SELECT topic, payload FROM "%s"
                    actions:
                      records:
                        type: kafka
                        bootstrap-servers: %s
                        topic: rows
                        key: ${topic}
                        value: ${payload}
                        max-request-bytes: 16KiB
                        inflight: %d
                        batch-size: 500
                        lanes: 2
                        min-delay: 20ms
                        max-delay: 500ms
                        timeout: 5s
                """.formatted(SinkCampaign.FILTER, address, INFLIGHT));
    }
}
