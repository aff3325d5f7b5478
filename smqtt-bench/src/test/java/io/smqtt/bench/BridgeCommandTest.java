// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.Broker;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A load over two brokers in this process, between which the test forwards messages. */
class BridgeCommandTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final BenchRun bench = new BenchRun();
    private Broker near;
    private Broker far;

    @BeforeEach
    void start() {
        near = BenchRun.startBroker(Map.of("tcp", BenchRun.tcp()));
        far = BenchRun.startBroker(Map.of("tcp", BenchRun.tcp()));
    }

    @AfterEach
    void stop() {
        near.close(Duration.ofSeconds(1)).block(PATIENCE);
        far.close(Duration.ofSeconds(1)).block(PATIENCE);
    }

    private static int port(Broker broker) {
        return Objects.requireNonNull(broker.listeners().get("tcp")).getPort();
    }

    private int run(String line) {
        return bench.execute(("bridge --quiet -p " + port(near) + " " + line).split(" "));
    }

    @Test
    void messagesAreCountedAtTheOtherBroker() throws Exception {
        near.subscribe("out/#")
                .concatMap(message -> far.publish(ApplicationMessage.builder(
                                "in" + message.topic().value().substring("out".length()))
                        .payload(message.payload())
                        .qos(QoS.AT_LEAST_ONCE)
                        .build()))
                .subscribe();
        long own = ProcessHandle.current().pid();
        Path json = directory.resolve("result.json");

        int code = run("--to 127.0.0.1:" + port(far) + " -t out --arrives-as in --pairs 4 -L 200 --duration 30s"
                + " --max-loss 0 --max-duplicates 0 --pid " + own + " --to-pid " + own + " --json " + json);

        assertThat(bench.err()).isEmpty();
        assertThat(code).isZero();
        assertThat(bench.out())
                .contains("bridge at mqtt://127.0.0.1:" + port(near) + " to mqtt://127.0.0.1:" + port(far))
                .contains("8 asked for, 8 connected")
                .containsPattern("lost / duplicated / out of order +0 / 0 / 0")
                .contains("receiving broker CPU s", "receiving broker MiB", "broker CPU");
        assertThat(Files.readString(json)).contains("\"receiving broker us/message\":");
    }

    @Test
    void withoutABridgeNothingArrives() {
        assertThat(run("--to 127.0.0.1:" + port(far) + " --pairs 2 -L 10 --duration 5s"))
                .isEqualTo(1);
        assertThat(bench.err())
                .contains("no message has arrived at mqtt://127.0.0.1:" + port(far)
                        + ": does a bridge forward bench/bridge/# to bench/bridge/# there?");
    }

    @Test
    void theBrokerThatCannotBeReachedIsNamed() {
        int free = port(far);
        far.close(Duration.ofSeconds(1)).block(PATIENCE);

        assertThat(run("--to 127.0.0.1:" + free + " --pairs 2 -L 10")).isEqualTo(1);
        assertThat(bench.err()).contains("cannot connect to mqtt://127.0.0.1:" + free);
        assertThat(run("--to 127.0.0.1")).isEqualTo(2);
        assertThat(bench.err()).contains("--to 127.0.0.1: must be HOST:PORT");
    }
}
