// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.StreamMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sink {@code redis} of the real program: a stream of a server that is killed. */
class RedisSinkIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int INFLIGHT = 1_000;

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileTheServerIsKilled() throws Exception {
        try (RedisServer redis = RedisServer.stored(Files.createDirectory(directory.resolve("redis")))) {
            Path configuration = configuration(redis.port());
            SinkCampaign.Server server = new SinkCampaign.Server() {
                @Override
                public void kill() {
                    redis.kill();
                }

                @Override
                public void start() {
                    redis.startAgain();
                }
            };
            redis.loadAll("SET wrong type\n");
            try (SinkCampaign campaign = new SinkCampaign(
                            () -> BrokerProcess.start(Extensions.command("smqtt-sink-redis", directory, configuration)),
                            server);
                    RedisClient client = RedisClient.create("redis://127.0.0.1:" + redis.port())) {
                campaign.run();
                publishPoison(campaign.broker());
                await().atMost(PATIENCE)
                        .until(() -> numbers(client).values().stream()
                                        .mapToInt(arrived -> new LinkedHashSet<>(arrived).size())
                                        .sum()
                                == campaign.published());
                campaign.assertArrived("redis", numbers(client), INFLIGHT);
                awaitDeadLetter();
            }
        }
    }

    private static void publishPoison(BrokerProcess broker) {
        try (RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("poison");
            client.publish("in/poison", "wrong", 1);
        }
    }

    private void awaitDeadLetter() {
        Path file = directory.resolve("data/rules/store-dead.jsonl");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(Files.readString(file)).contains("\"reason\":\"WRONGTYPE "));
    }

    private static Map<String, List<Integer>> numbers(RedisClient client) {
        Map<String, List<Integer>> numbers = new TreeMap<>();
        try (var connection = client.connect()) {
            for (StreamMessage<String, String> entry : connection.sync().xrange("rows", Range.unbounded())) {
                numbers.computeIfAbsent(entry.getBody().get("topic"), topic -> new ArrayList<>())
                        .add(Integer.valueOf(entry.getBody().get("n")));
            }
        }
        return numbers;
    }

    private Path configuration(int port) throws Exception {
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
                    sql: SELECT topic, payload AS n, CASE WHEN payload = 'wrong' THEN 'wrong' ELSE 'rows' END AS key FROM "%s"
                    actions:
                      stream:
                        type: redis
                        url: redis://127.0.0.1:%d
                        command: XADD ${key} * topic ${topic} n ${n}
                        inflight: %d
                        batch-size: 500
                        lanes: 2
                        min-delay: 20ms
                        max-delay: 500ms
                        timeout: 5s
                """.formatted(SinkCampaign.FILTER, port, INFLIGHT));
    }
}
