// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A bridge between two brokers over a link with a round trip of 50 ms that loses one of a hundred packets in each direction: no message is
 * lost, doubled or out of order. Prints what passes in a second. Run by {@code smqtt-it/prove bridge-slow}.
 */
class BridgeSlowProof {

    private static final int SECONDS = Integer.getInteger("smqtt.bridge.slow.seconds", 5);
    private static final int CONNECTIONS = Integer.getInteger("smqtt.bridge.slow.connections", 1);
    private static final int ROUND_TRIP_MILLIS = Integer.getInteger("smqtt.bridge.slow.rtt", 50);
    private static final int LOST_OF_THOUSAND = Integer.getInteger("smqtt.bridge.slow.lost", 10);
    private static final String CONGESTION = System.getProperty("smqtt.bridge.slow.congestion", "");
    private static final String WINDOW = System.getProperty("smqtt.bridge.slow.window", "32");
    private static final int PAIRS = 64;
    private static final Duration PATIENCE = Duration.ofSeconds(180);

    /** Receive Maximum of brokers by default: this one, others. */
    private static final List<Integer> MAXIMUMS = List.of(1_024, 20);

    @TempDir
    Path directory;

    @Test
    void nothingIsLostOverASlowLink() throws Exception {
        assumeThat(ClusterNetwork.isAllowed() && Capture.isPossible())
                .as("networks can be made here, which takes root, ip and python3")
                .isTrue();
        for (int qos = 1; qos <= 2; qos++) {
            for (int maximum : MAXIMUMS) {
                run(qos, maximum);
            }
        }
    }

    private void run(int qos, int receiveMaximum) throws Exception {
        Path folder = Files.createDirectories(directory.resolve(qos + "-" + receiveMaximum));
        try (SlowLink link = new SlowLink(folder, ROUND_TRIP_MILLIS / 2.0, LOST_OF_THOUSAND / 1_000.0, CONGESTION);
                BrokerProcess there = broker(folder.resolve("there"), link.on(1), receiveMaximum, "");
                BrokerProcess here = broker(folder.resolve("here"), link.on(0), 1_024, """
                        bridges:
                          slow:
                            addresses: ['%s:%d']
                            client-id: plant
                            connections: %d
                            max-queued-messages: 10000000
                            max-queued-bytes: 1GiB
                            topics: ["bench/bridge/# out 2"]
                        """.formatted(
                                link.far(1), there.port("tcp"), CONNECTIONS))) {
            await().atMost(PATIENCE)
                    .until(() -> here.output().stream()
                                    .filter(line -> line.matches(".*bridge slow\\S* connected to.*"))
                                    .count()
                            >= CONNECTIONS);
            List<String> command = new ArrayList<>(List.of("bench", "bridge", "-h", link.host(0)));
            command.addAll(List.of("-p", String.valueOf(here.port("tcp"))));
            command.addAll(List.of("--to", link.host(1) + ":" + there.port("tcp"), "--pairs", String.valueOf(PAIRS)));
            command.addAll(List.of("-q", String.valueOf(qos), "--window", WINDOW, "-F", WINDOW, "--quiet"));
            command.addAll(List.of("--warm-up", "5s", "--duration", SECONDS + "s", "--drain", "120s"));
            try (CapturedProcess bench = BrokerProcess.run(folder, command.toArray(new String[0]))) {
                int code = bench.awaitExit(PATIENCE.plusSeconds(SECONDS));
                System.out.printf(
                        "QoS %d, Receive Maximum %d, %d connections, round trip %d ms, %s: %s%n",
                        qos, receiveMaximum, CONNECTIONS, ROUND_TRIP_MILLIS, link.congestion(), link.end());
                bench.output().stream()
                        .filter(line -> line.matches("(published|delivered|lost|latency p50).*"))
                        .forEach(System.out::println);
                assertThat(code).as(bench.report()).isZero();
                assertThat(bench.output())
                        .anyMatch(line -> line.matches("lost / duplicated / out of order +0 / 0 / 0"));
            }
        }
    }

    private static BrokerProcess broker(Path folder, List<String> host, int receiveMaximum, String bridges)
            throws Exception {
        Files.createDirectories(folder);
        Path file = Files.writeString(folder.resolve("test.yaml"), """
                management:
                  enabled: false
                access:
                  allow-anonymous: 'true'
                storage:
                  kind: memory
                listeners:
                  tcp:
                    host: 0.0.0.0
                    port: 0
                  ws:
                    enabled: false
                limits:
                  receive-maximum: %d
                """.formatted(receiveMaximum) + bridges);
        return BrokerProcess.start(folder, host, file);
    }
}
