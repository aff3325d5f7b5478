// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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
    private static final int PARTITIONS = 4;

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileTheClusterIsKilled() throws Exception {
        try (KafkaServer kafka = KafkaServer.lasting(Files.createDirectory(directory.resolve("kafka")))) {
            run("kafka", directory, kafka, new SinkCampaign.Server() {
                @Override
                public void kill() {
                    kafka.kill();
                }

                @Override
                public void start() throws IOException {
                    kafka.startAgain();
                }
            });
        }
    }

    /** Writes into a topic of a cluster that is killed, or to which something else happens. */
    static void run(String name, Path directory, KafkaServer kafka, SinkCampaign.Server server) throws Exception {
        kafka.createTopic("rows", PARTITIONS, Map.of());
        Path configuration = configuration(directory, kafka.address());
        try (SinkCampaign campaign = new SinkCampaign(
                () -> BrokerProcess.start(Extensions.command("smqtt-sink-kafka", directory, configuration)), server)) {
            campaign.publishPoison("x".repeat(20_000));
            campaign.run();
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> SinkCampaign.distinct(numbers(kafka)) == campaign.published());
            campaign.assertArrived(name, numbers(kafka));
            SinkCampaign.awaitDeadLetter(directory, "larger than 16384");
        }
    }

    private static Map<String, List<Integer>> numbers(KafkaServer kafka) {
        Map<String, List<Integer>> numbers = new TreeMap<>();
        kafka.records("rows", PARTITIONS)
                .forEach(record -> numbers.computeIfAbsent(record.key(), topic -> new ArrayList<>())
                        .add(Integer.valueOf(record.value())));
        return numbers;
    }

    private static Path configuration(Path directory, String address) throws IOException {
        return SinkCampaign.configuration(
                directory, "SELECT topic, payload FROM \"" + SinkCampaign.FILTER + '"', """
                type: kafka
                bootstrap-servers: %s
                topic: rows
                key: ${topic}
                value: ${payload}
                max-request-bytes: 16KiB
                """.formatted(address));
    }
}
