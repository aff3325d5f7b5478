// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The source {@code rabbitmq} of the real program: a durable queue, while its server and the broker are killed, as rows in a file. */
@Tag("long")
class RabbitmqSourceIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int SECONDS = Integer.getInteger("smqtt.source.seconds", 6);
    private static final int RATE = Integer.getInteger("smqtt.source.rate", 1_000);
    private static final List<String> KILLS = List.of(
            System.getProperty("smqtt.source.kills", "broker,rabbitmq,broker").split(","));
    private static final int INFLIGHT = 1_000;
    private static final int TOPICS = 10;
    private static final int CONFIRMED = 100;

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileServerAndBrokerAreKilled() throws Exception {
        try (RabbitmqServer rabbitmq = RabbitmqServer.start(Files.createDirectory(directory.resolve("rabbitmq")))) {
            try (Connection connection = rabbitmq.connect()) {
                Channel channel = connection.createChannel();
                channel.queueDeclare("dead", true, false, false, Map.of());
                channel.queueDeclare(
                        "orders",
                        true,
                        false,
                        false,
                        Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", "dead"));
                channel.queueBind("orders", "amq.topic", "#");
            }
            Path configuration = configuration(rabbitmq.port());
            BrokerProcess broker = start(configuration);
            try {
                for (int step = 0; step < KILLS.size(); step++) {
                    produce(rabbitmq, step);
                    if (KILLS.get(step).equals("broker")) {
                        broker.kill9();
                        broker = start(configuration);
                    } else {
                        rabbitmq.kill();
                        rabbitmq.startAgain();
                    }
                }
                produce(rabbitmq, KILLS.size());
                int all = SECONDS * RATE;
                await().atMost(PATIENCE).pollInterval(Duration.ofSeconds(1)).until(() -> distinct(numbers()) == all);
                assertOrder(numbers(), all);
                try (Connection connection = rabbitmq.connect()) {
                    Channel channel = connection.createChannel();
                    await().atMost(PATIENCE).until(() -> channel.messageCount("orders") == 0);
                    assertThat(channel.messageCount("dead")).isEqualTo(KILLS.size() + 1); // one poison in each step
                }
            } finally {
                broker.close();
            }
        }
    }

    private BrokerProcess start(Path configuration) {
        return BrokerProcess.start(Extensions.command("smqtt-sink-rabbitmq", directory, configuration));
    }

    /** Publishes with confirmations, so that the server has all at the end of a step. */
    private static void produce(RabbitmqServer rabbitmq, int step) throws Exception {
        int all = SECONDS * RATE;
        int steps = KILLS.size() + 1;
        int from = all / steps * step;
        int to = step == steps - 1 ? all : all / steps * (step + 1);
        try (Connection connection = rabbitmq.connect()) {
            Channel channel = connection.createChannel();
            channel.confirmSelect();
            publish(channel, "#", "a poison: no name of a topic");
            long began = System.nanoTime();
            for (int i = from; i < to; i++) {
                publish(channel, String.valueOf(i % TOPICS), String.valueOf(i / TOPICS));
                if (i % CONFIRMED == 0) {
                    channel.waitForConfirmsOrDie();
                }
                long due = began + (i - from) * (1_000_000_000L / RATE);
                LockSupport.parkNanos(Math.max(0, due - System.nanoTime()));
            }
            channel.waitForConfirmsOrDie();
        }
    }

    private static void publish(Channel channel, String key, String body) throws IOException {
        channel.basicPublish(
                "amq.topic", key, MessageProperties.PERSISTENT_BASIC, body.getBytes(StandardCharsets.UTF_8));
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
                            IntStream.range(0, all / TOPICS).boxed().toList());
            rows += arrived.size();
        }
        System.out.printf(
                "rabbitmq source: %d messages at %d/s, killed %s: none lost, %d repeated%n",
                all, RATE, KILLS, rows - all);
        assertThat(rows - all)
                .isLessThanOrEqualTo(KILLS.size() * 2 * INFLIGHT); // in flight to the store and to the file
    }

    private Path configuration(int port) throws IOException {
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
                    type: rabbitmq
                    url: amqp://127.0.0.1:%d
                    queue: orders
                    topic: in/${routing_key}
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
                """.formatted(port, INFLIGHT, INFLIGHT));
    }
}
