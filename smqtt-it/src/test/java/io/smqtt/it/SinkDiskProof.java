// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sink {@code rabbitmq} of the real program, whose server has a full disk for a while. Needs root, which mounts the disk. */
class SinkDiskProof {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int DISK_MEGABYTES = 400;

    @TempDir
    Path directory;

    private final Map<String, List<Integer>> numbers = new TreeMap<>();

    @Test
    void nothingIsLostWhileTheDiskOfTheServerIsFull() throws Exception {
        try (SmallDisk disk = SmallDisk.at(directory.resolve("rabbitmq"), DISK_MEGABYTES);
                RabbitmqServer rabbitmq = RabbitmqServer.start(disk.directory())) {
            try (Connection connection = rabbitmq.connect()) {
                connection.createChannel().queueDeclare("rows", true, false, false, Map.of());
            }
            Path configuration = SinkCampaign.configuration(
                    directory, "SELECT topic, payload AS n FROM \"" + SinkCampaign.FILTER + '"', """
                    type: rabbitmq
                    url: amqp://127.0.0.1:%d
                    routing-key: rows
                    properties.type: ${topic}
                    body: ${n}
                    """.formatted(
                                    rabbitmq.port()));
            SinkCampaign.Server server = new SinkCampaign.Server() {
                @Override
                public void kill() throws IOException {
                    disk.fill();
                }

                @Override
                public void start() throws IOException {
                    disk.free();
                }
            };
            try (SinkCampaign campaign = new SinkCampaign(
                    () -> BrokerProcess.start(Extensions.command("smqtt-sink-rabbitmq", directory, configuration)),
                    server)) {
                campaign.run();
                try (Connection connection = rabbitmq.connect()) {
                    Channel channel = connection.createChannel();
                    await().atMost(PATIENCE).until(() -> read(channel) >= campaign.published());
                }
                campaign.assertArrived("rabbitmq, disk full instead of killed", numbers);
            }
        }
    }

    /** Takes what is in the queue; returns how many different messages there were so far. */
    private int read(Channel channel) throws IOException {
        for (GetResponse got = channel.basicGet("rows", true); got != null; got = channel.basicGet("rows", true)) {
            numbers.computeIfAbsent(got.getProps().getType(), topic -> new ArrayList<>())
                    .add(Integer.valueOf(new String(got.getBody(), StandardCharsets.UTF_8)));
        }
        return SinkCampaign.distinct(numbers);
    }
}
