// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sink {@code file} of the real program: a file that another program moves, and disks that become full, of the file or of the broker. */
class FileSinkProof {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int DISK_MEGABYTES = 256;

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileTheFileIsMoved() throws Exception {
        Path rows = Files.createDirectory(directory.resolve("rows")).resolve("rows.jsonl");
        List<Path> all = new ArrayList<>();
        SinkCampaign.Server logs = new SinkCampaign.Server() {
            @Override
            public void kill() throws IOException {
                Path moved = rows.resolveSibling("moved-" + all.size());
                Files.move(rows, moved);
                all.add(moved);
            }

            @Override
            public void start() {
                assertThat(all).isNotEmpty();
            }
        };
        try (SinkCampaign campaign = new SinkCampaign(() -> start(configuration(rows)), logs)) {
            campaign.run();
            all.add(rows);
            assertArrived("file, moved instead of killed", campaign, all);
        }
    }

    @Test
    void nothingIsLostWhileTheDiskOfTheFileIsFull() throws Exception {
        try (SmallDisk disk = SmallDisk.at(directory.resolve("rows"), DISK_MEGABYTES)) {
            Path rows = disk.directory().resolve("rows.jsonl");
            try (SinkCampaign campaign = new SinkCampaign(() -> start(configuration(rows)), full(disk))) {
                campaign.run();
                assertArrived("file, disk full instead of killed", campaign, List.of(rows));
            }
        }
    }

    @Test
    void nothingIsLostWhileTheDiskOfTheBrokerIsFull() throws Exception {
        Path rows = Files.createDirectory(directory.resolve("rows")).resolve("rows.jsonl");
        try (SmallDisk disk = SmallDisk.at(directory.resolve("data"), DISK_MEGABYTES);
                SinkCampaign campaign =
                        new SinkCampaign(() -> start(configuration(rows)), full(disk), JournalPublisher::oneByOne)) {
            campaign.run();
            assertArrived("file, the broker's disk full instead of killed", campaign, List.of(rows));
        }
    }

    private static SinkCampaign.Server full(SmallDisk disk) {
        return new SinkCampaign.Server() {
            @Override
            public void kill() throws IOException {
                disk.fill();
            }

            @Override
            public void start() throws IOException {
                disk.free();
            }
        };
    }

    private static void assertArrived(String name, SinkCampaign campaign, List<Path> files) throws IOException {
        Path[] all = files.toArray(Path[]::new);
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(500)).until(() -> {
            Map<String, List<Integer>> numbers = SinkCampaign.numbers(all);
            return SinkCampaign.distinct(numbers) == campaign.published();
        });
        campaign.assertArrived(name, SinkCampaign.numbers(all));
    }

    private BrokerProcess start(Path configuration) {
        return BrokerProcess.start(Extensions.command("smqtt-sink-redis", directory, configuration));
    }

    private Path configuration(Path rows) {
        try {
            return SinkCampaign.configuration(
                    directory, "SELECT topic, payload AS n FROM \"" + SinkCampaign.FILTER + '"', """
                    type: file
                    path: %s
                    """.formatted(rows));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
