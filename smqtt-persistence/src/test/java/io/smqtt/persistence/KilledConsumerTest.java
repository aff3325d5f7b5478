// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.Broker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What was published to a durable consumer in a process that is killed comes to it in the next one. */
@Tag("slow")
@Timeout(180)
class KilledConsumerTest {

    private static final int ROUNDS = Integer.getInteger("smqtt.kill.rounds", 3);
    private static final int NUMBERS = 60;

    @TempDir
    Path directory;

    private final Set<Integer> safe = new TreeSet<>();
    private final Set<Integer> taken = new ConcurrentSkipListSet<>();

    @Test
    void nothingThatWasSafeIsLost() throws Exception {
        int from = 1;
        for (int round = 0; round < ROUNDS; round++) {
            from = runAndKill(from) + 2; // the last one may be safe although nobody has said so
        }
        assertThat(safe).hasSizeGreaterThanOrEqualTo(ROUNDS * NUMBERS);
        Broker broker = ConsumerProcess.start(directory);
        broker.receive("orders", ConsumerProcess.ORDERS).subscribe(received -> {
            taken.add(Integer.valueOf(ConsumerProcess.text(received)));
            received.acknowledge();
        });
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(taken).containsAll(safe));
        broker.close(Duration.ofSeconds(5)).block(Duration.ofSeconds(60));
    }

    /** Returns the last number that was safe. */
    private int runAndKill(int from) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ConsumerProcess.class.getName(),
                        directory.toString(),
                        Integer.toString(from))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int last = from;
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (line.startsWith(ConsumerProcess.TAKEN)) {
                    taken.add(Integer.valueOf(line.substring(ConsumerProcess.TAKEN.length())));
                } else if (line.startsWith(ConsumerProcess.SAFE)) {
                    last = Integer.parseInt(line.substring(ConsumerProcess.SAFE.length()));
                    safe.add(last);
                    if (last - from >= NUMBERS) {
                        process.toHandle().destroyForcibly(); // leaves what it has said to be read
                    }
                }
            }
        }
        process.waitFor();
        return last;
    }
}
