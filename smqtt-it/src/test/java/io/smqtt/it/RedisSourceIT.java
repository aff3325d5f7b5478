// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The source {@code redis} of the real program: a stream, while its server and the broker are killed, as rows in a file. */
class RedisSourceIT {

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int INFLIGHT = 200;
    private static final int PART = Integer.getInteger("smqtt.source.part", 1_000);
    private static final int OF_ANOTHER = 50;

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileServerAndBrokerAreKilled() throws Exception {
        try (RedisServer redis = RedisServer.stored(Files.createDirectory(directory.resolve("redis")))) {
            redis.loadAll(entries(0, OF_ANOTHER) + "XGROUP CREATE orders smqtt 0\n"
                    + "XREADGROUP GROUP smqtt dead COUNT 1000 STREAMS orders >\n");
            Path configuration = configuration(redis.port());
            BrokerProcess broker = start(configuration);
            try {
                redis.loadAll(entries(OF_ANOTHER, PART));
                await().atMost(PATIENCE).until(() -> rows().size() > PART / 4);
                broker.kill9();
                redis.loadAll(entries(PART, 2 * PART));
                broker = start(configuration);
                await().atMost(PATIENCE).until(() -> rows().size() > PART * 5 / 4);
                redis.kill();
                redis.startAgain();
                redis.loadAll(entries(2 * PART, 3 * PART));

                await().atMost(PATIENCE).until(() -> distinct().size() == 3 * PART);
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(redis.load("XPENDING orders smqtt\n")
                                        .lines()
                                        .findFirst())
                                .contains("0"));
            } finally {
                broker.close();
            }
            assertArrived();
        }
    }

    private void assertArrived() {
        assertThat(distinct())
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 3 * PART).boxed().toList());
        assertThat(distinct().stream().filter(n -> n >= OF_ANOTHER)).isSorted();
        int repeated = rows().size() - 3 * PART;
        System.out.printf(
                "redis source: %d entries, broker and server killed once each: none lost, %d repeated%n",
                3 * PART, repeated);
        assertThat(repeated).isLessThanOrEqualTo(2 * INFLIGHT + OF_ANOTHER);
    }

    private static String entries(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(n -> "XADD orders * n " + n + "\n")
                .collect(Collectors.joining());
    }

    private BrokerProcess start(Path configuration) {
        return BrokerProcess.start(Extensions.command("smqtt-sink-redis", directory, configuration));
    }

    private List<Integer> rows() {
        try {
            return Files.readAllLines(directory.resolve("rows.jsonl")).stream()
                    .filter(line -> line.endsWith("\"}")) // the last one may be half written
                    .map(line -> Integer.valueOf(line.substring(line.lastIndexOf(':') + 2, line.length() - 2)))
                    .toList();
        } catch (IOException e) {
            return List.of(); // not yet there
        }
    }

    /** The numbers, each where it arrived for the first time. */
    private Set<Integer> distinct() {
        return new LinkedHashSet<>(rows());
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
                    type: redis
                    url: redis://127.0.0.1:%d
                    stream: orders
                    group: smqtt
                    claim-after: 500ms
                    topic: in/orders
                    payload: ${fields.n}
                    inflight: %d
                    min-delay: 20ms
                    max-delay: 200ms
                rules:
                  keep:
                    sql: SELECT payload FROM "in/#"
                    actions:
                      file:
                        type: file
                        path: rows.jsonl
                        batch-size: 500
                        inflight: 1000
                """.formatted(port, INFLIGHT));
    }
}
