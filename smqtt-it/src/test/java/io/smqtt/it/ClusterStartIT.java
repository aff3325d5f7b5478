// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three nodes start at the same moment, one of them with another secret or with none. The others form a cluster without it, and both
 * sides log why. Prints its figures. System properties: {@code smqtt.starts} for the number of starts of each kind, {@code
 * smqtt.together.seconds} for the time in which the others must be together.
 */
class ClusterStartIT {

    private static final String SECRET = "the-secret-of-this-cluster";
    private static final int NODES = 3;
    private static final int STARTS = Integer.getInteger("smqtt.starts", 1);
    private static final Duration POLL = Duration.ofMillis(20);

    /** 5 s do on an idle machine; a busy one may need as long as all else. */
    private static final double LONGEST =
            Integer.getInteger("smqtt.together.seconds", (int) LoopbackCluster.PATIENCE.toSeconds() + 1);

    @TempDir
    Path directory;

    private static double secondsSince(long nanos) {
        return (System.nanoTime() - nanos) / 1e9;
    }

    @ParameterizedTest
    @ValueSource(strings = {"the-secret-of-another-one", ""})
    void oneWithoutTheSecretDelaysNobody(String secret) {
        String kind = secret.isEmpty() ? "no secret" : "another secret";
        List<Double> times = new ArrayList<>();
        for (int i = 0; i < STARTS; i++) {
            int odd = i % NODES;
            List<String> secrets = new ArrayList<>(List.of(SECRET, SECRET, SECRET));
            secrets.set(odd, secret);
            try (LoopbackCluster nodes = LoopbackCluster.startTogether(directory.resolve("start-" + i), secrets)) {
                long started = System.nanoTime();
                int one = (odd + 1) % NODES;
                int other = (odd + 2) % NODES;
                await().atMost(LoopbackCluster.PATIENCE)
                        .pollInterval(POLL)
                        .until(() -> nodes.reaches(one, other) && nodes.reaches(other, one));
                times.add(Math.round(secondsSince(started) * 10) / 10.0);
                assertThat(nodes.reaches(odd, one) || nodes.reaches(odd, other)).isFalse();
                assertThat(nodes.reaches(one, odd) || nodes.reaches(other, odd)).isFalse();
                nodes.broker(odd).awaitLine(secret.isEmpty() ? "this one has none" : "different cluster.secret?");
            }
        }
        System.out.println("[start] "
                + String.format(
                        Locale.ROOT,
                        "one of three with %s: the others together %s s after the last start",
                        kind,
                        times));
        assertThat(times).allSatisfy(time -> assertThat(time).isLessThan(LONGEST));
    }
}
