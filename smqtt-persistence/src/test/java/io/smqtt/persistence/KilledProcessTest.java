// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a process said to be safe is there after it was killed, and nothing is half there. */
@Tag("slow")
class KilledProcessTest {

    private static final int ROUNDS = Integer.getInteger("smqtt.kill.rounds", 6);

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"sync", "async"})
    void whatWasSafeIsThereAfterAKill(String mode) throws Exception {
        Random random = new Random(mode.hashCode());
        long safe = 0;
        for (int round = 0; round < ROUNDS; round++) {
            safe = Math.max(safe, runAndKill(mode, 200 + random.nextInt(4_000), random.nextInt(3_000)));

            try (RocksBrokerStore store = RocksBrokerStore.open(directory, StoreSettings.defaults())) {
                assertThat(CommitJournal.requireWhole(store)).isGreaterThanOrEqualTo(safe);
            }
        }
        assertThat(safe).isGreaterThan(1_000L);
    }

    /** Lets the process say some numbers, kills it, and takes all that it has said. */
    private long runAndKill(String mode, int numbers, int payloadBytes) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CommitJournal.class.getName(),
                        directory.toString(),
                        Integer.toString(payloadBytes),
                        mode)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        long first = -1;
        long last = 0;
        boolean killed = false;
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (!line.startsWith(CommitJournal.SAFE)) {
                    continue;
                }
                last = Long.parseLong(line.substring(CommitJournal.SAFE.length()));
                first = first < 0 ? last : first;
                if (!killed && last - first >= numbers) {
                    process.toHandle().destroyForcibly(); // leaves what it has said to be read
                    killed = true;
                }
            }
        }
        process.waitFor();
        assertThat(killed).isTrue();
        return last;
    }
}
