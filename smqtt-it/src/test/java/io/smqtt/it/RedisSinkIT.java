// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.StreamMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sink {@code redis} of the real program: a stream of a server that is killed. */
class RedisSinkIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileTheServerIsKilled() throws Exception {
        try (RedisServer redis = RedisServer.stored(Files.createDirectory(directory.resolve("redis")))) {
            run("redis", directory, redis, new SinkCampaign.Server() {
                @Override
                public void kill() {
                    redis.kill();
                }

                @Override
                public void start() {
                    redis.startAgain();
                }
            });
        }
    }

    /** Writes into a stream of a server that is killed, or to which something else happens. */
    static void run(String name, Path directory, RedisServer redis, SinkCampaign.Server server) throws Exception {
        Path configuration = configuration(directory, redis.port());
        redis.loadAll("SET wrong type\n");
        try (SinkCampaign campaign = new SinkCampaign(
                        () -> BrokerProcess.start(Extensions.command("smqtt-sink-redis", directory, configuration)),
                        server);
                RedisClient client = RedisClient.create("redis://127.0.0.1:" + redis.port())) {
            campaign.run();
            campaign.publishPoison("wrong");
            await().atMost(PATIENCE).until(() -> SinkCampaign.distinct(numbers(client)) == campaign.published());
            campaign.assertArrived(name, numbers(client));
            SinkCampaign.awaitDeadLetter(directory, "\"reason\":\"WRONGTYPE ");
        }
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

    private static Path configuration(Path directory, int port) throws IOException {
        return SinkCampaign.configuration(
                directory,
                "SELECT topic, payload AS n, CASE WHEN payload = 'wrong' THEN 'wrong' ELSE 'rows' END AS key FROM \""
                        + SinkCampaign.FILTER + '"',
                """
                type: redis
                url: redis://127.0.0.1:%d
                command: XADD ${key} * topic ${topic} n ${n}
                """.formatted(port));
    }
}
