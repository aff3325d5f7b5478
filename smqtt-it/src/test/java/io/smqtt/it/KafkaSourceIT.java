// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The source {@code kafka} of the real program: records of a cluster, while it and the broker are killed, as rows in a file. */
@Tag("long")
class KafkaSourceIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int SECONDS = Integer.getInteger("smqtt.source.seconds", 6);
    private static final int RATE = Integer.getInteger("smqtt.source.rate", 1_000);
    private static final List<String> KILLS = List.of(
            System.getProperty("smqtt.source.kills", "broker,kafka,broker").split(","));
    private static final int INFLIGHT = 1_000;
    private static final int PARTITIONS = 4;
    private static final int KEYS = 20;

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileClusterAndBrokerAreKilled() throws Exception {
        try (KafkaServer kafka = KafkaServer.lasting(Files.createDirectory(directory.resolve("kafka")))) {
            kafka.createTopic("orders", PARTITIONS, Map.of());
            Path configuration = configuration(kafka.address());
            BrokerProcess broker = start(configuration);
            try {
                try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", kafka.address()), new StringSerializer(), new StringSerializer())) {
                    for (int step = 0; step < KILLS.size(); step++) {
                        produce(producer, step);
                        if (KILLS.get(step).equals("broker")) {
                            broker.kill9();
                            broker = start(configuration);
                        } else {
                            kafka.kill();
                            kafka.startAgain();
                        }
                    }
                    produce(producer, KILLS.size());
                    producer.flush();
                }
                int all = SECONDS * RATE;
                await().atMost(PATIENCE).pollInterval(Duration.ofSeconds(1)).until(() -> distinct(numbers()) == all);
                assertOrder(numbers(), all);
            } finally {
                broker.close();
            }
        }
    }

    private BrokerProcess start(Path configuration) {
        return BrokerProcess.start(Extensions.command("smqtt-sink-kafka", directory, configuration));
    }

    private static void produce(KafkaProducer<String, String> producer, int step) {
        int all = SECONDS * RATE;
        int steps = KILLS.size() + 1;
        int from = all / steps * step;
        int to = step == steps - 1 ? all : all / steps * (step + 1);
        long began = System.nanoTime();
        for (int i = from; i < to; i++) {
            producer.send(new ProducerRecord<>("orders", String.valueOf(i % KEYS), String.valueOf(i / KEYS)));
            long due = began + (i - from) * (1_000_000_000L / RATE);
            LockSupport.parkNanos(Math.max(0, due - System.nanoTime()));
        }
    }

    /** The numbers that have arrived, by topic. */
    private Map<String, List<Integer>> numbers() {
        Map<String, List<Integer>> numbers = new TreeMap<>();
        try {
            for (String line : Files.readAllLines(directory.resolve("rows.jsonl"))) {
                String[] parts = line.split("\"", -1); // {"topic":"in/7","payload":"3"}
                if (parts.length == 9) {
                    numbers.computeIfAbsent(parts[3], topic -> new ArrayList<>())
                            .add(Integer.valueOf(parts[7]));
                }
            }
        } catch (IOException e) {
            return Map.of(); // not yet there
        }
        return numbers;
    }

    private static int distinct(Map<String, List<Integer>> numbers) {
        return numbers.values().stream()
                .mapToInt(arrived -> new LinkedHashSet<>(arrived).size())
                .sum();
    }

    private static void assertOrder(Map<String, List<Integer>> numbers, int all) {
        int rows = 0;
        for (List<Integer> arrived : numbers.values()) {
            assertThat(new ArrayList<>(new LinkedHashSet<>(arrived)))
                    .containsExactlyElementsOf(
                            IntStream.range(0, all / KEYS).boxed().toList());
            rows += arrived.size();
        }
        System.out.printf(
                "kafka source: %d records at %d/s, killed %s: none lost, %d repeated%n", all, RATE, KILLS, rows - all);
        // in flight to the store and to the file, and what arrives between two commits
        assertThat(rows - all).isLessThanOrEqualTo(KILLS.size() * (2 * INFLIGHT + RATE));
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
                sources:
                  orders:
                    type: kafka
                    bootstrap-servers: %s
                    topics: orders
                    group-id: smqtt
                    topic: in/${key}
                    inflight: %d
                    min-delay: 50ms
                    max-delay: 500ms
                rules:
                  keep:
                    sql: SELECT topic, payload FROM "in/#"
                    actions:
                      file:
                        type: file
                        path: rows.jsonl
                        batch-size: 500
                        inflight: %d
                """.formatted(address, INFLIGHT, INFLIGHT));
    }
}
