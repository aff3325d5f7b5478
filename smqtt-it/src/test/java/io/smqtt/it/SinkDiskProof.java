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

    /** Less than the 50 MB at which RabbitMQ takes no more messages, and enough for those that it takes until it looks. */
    private static final long LEFT = 40_000_000;

    @TempDir
    Path directory;

    private final Map<String, List<Integer>> numbers = new TreeMap<>();

    private SmallDisk disk;
    private RabbitmqServer rabbitmq;

    /** The server looks at its disk from time to time, and then blocks its publishers until there is room. */
    @Test
    void nothingIsLostWhileTheServerIsShortOfDisk() throws Exception {
        run("rabbitmq, short of disk instead of killed", new SinkCampaign.Server() {
            @Override
            public void kill() throws IOException {
                disk.fill(LEFT);
                await().atMost(PATIENCE).until(() -> alarms().contains("disk"));
            }

            @Override
            public void start() throws IOException {
                disk.free();
                await().atMost(PATIENCE).until(() -> !alarms().contains("disk"));
            }
        });
    }

    private String alarms() {
        return rabbitmq.control("eval", "rabbit_alarm:get_alarms().");
    }

    /** The queue of the server crashes, and works again when the server is started again. */
    @Test
    void nothingIsLostWhenTheDiskOfTheServerBecomesFull() throws Exception {
        run("rabbitmq, disk full and then killed", new SinkCampaign.Server() {
            @Override
            public void kill() throws IOException {
                disk.fill();
            }

            @Override
            public void start() throws IOException {
                disk.free();
                rabbitmq.kill();
                rabbitmq.startAgain();
            }
        });
    }

    private void run(String name, SinkCampaign.Server server) throws Exception {
        try (SmallDisk small = SmallDisk.at(directory.resolve("rabbitmq"), DISK_MEGABYTES);
                RabbitmqServer started = RabbitmqServer.start(small.directory())) {
            disk = small;
            rabbitmq = started;
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
            try (SinkCampaign campaign = new SinkCampaign(
                    () -> BrokerProcess.start(Extensions.command("smqtt-sink-rabbitmq", directory, configuration)),
                    server)) {
                campaign.run();
                try (Connection connection = rabbitmq.connect()) {
                    Channel channel = connection.createChannel();
                    await().atMost(PATIENCE).until(() -> read(channel) >= campaign.published());
                }
                campaign.assertArrived(name, numbers);
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
