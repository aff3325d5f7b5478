// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The sink {@code influxdb} of the real program: an InfluxDB 1 that is killed. Shows that no point is lost; InfluxDB sorts points by their time, and a
 * repeated point replaces the first, so that it shows neither order nor repetitions. Needs Debian's package {@code influxdb}.
 */
class InfluxdbSinkProof {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    @Test
    void nothingIsLostWhileTheServerIsKilled() throws Exception {
        try (InfluxdbServer influxdb = InfluxdbServer.start(Files.createDirectory(directory.resolve("influxdb")))) {
            run("influxdb", directory, influxdb, new SinkCampaign.Server() {
                @Override
                public void kill() {
                    influxdb.kill();
                }

                @Override
                public void start() {
                    influxdb.startAgain();
                }
            });
        }
    }

    /** Writes points to a server that is killed, or to which something else happens. */
    static void run(String name, Path directory, InfluxdbServer influxdb, SinkCampaign.Server server) throws Exception {
        Path configuration = SinkCampaign.configuration(
                directory, "SELECT topic, payload AS n FROM \"" + SinkCampaign.FILTER + '"', """
                    type: influxdb
                    url: http://127.0.0.1:%d
                    version: v1
                    database: plant
                    measurement: rows
                    tags.topic: ${topic}
                    fields.n: ${n}
                    timestamp: ${n}
                    """.formatted(
                                influxdb.port()));
        try (SinkCampaign campaign = new SinkCampaign(
                () -> BrokerProcess.start(Extensions.command("smqtt-sink-redis", directory, configuration)), server)) {
            campaign.publishPoison("wrong");
            campaign.run();
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> count(influxdb) == campaign.published());
            campaign.assertArrived(name + ", which shows neither order nor repetitions", numbers(influxdb));
            SinkCampaign.awaitDeadLetter(directory, "the timestamp is no whole number");
        }
    }

    private static int count(InfluxdbServer influxdb) throws Exception {
        // name,tags,time,count
        String last = influxdb.query("SELECT COUNT(n) FROM rows").strip();
        return Integer.parseInt(last.substring(last.lastIndexOf(',') + 1));
    }

    private static Map<String, List<Integer>> numbers(InfluxdbServer influxdb) throws Exception {
        Map<String, List<Integer>> numbers = new TreeMap<>();
        // rows,topic=in/0,0,0
        for (String line :
                influxdb.query("SELECT n FROM rows GROUP BY topic").lines().toList()) {
            String[] parts = line.split(",", -1);
            if (parts.length == 4 && parts[1].startsWith("topic=")) {
                numbers.computeIfAbsent(parts[1].substring(6), topic -> new ArrayList<>())
                        .add(Integer.valueOf(parts[3].replace("\"", "")));
            }
        }
        return numbers;
    }
}
