// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.Broker;
import io.smqtt.message.ApplicationMessage;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Loads with and without a rule, for which a consumer of this process stands. */
class RulesCommandTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final BenchRun bench = new BenchRun();
    private Broker broker;

    @BeforeEach
    void start() {
        broker = BenchRun.startBroker(Map.of("tcp", BenchRun.tcp()));
    }

    @AfterEach
    void stop() {
        broker.close(Duration.ofSeconds(1)).block(PATIENCE);
    }

    private int run(String line) {
        int port = Objects.requireNonNull(broker.listeners().get("tcp")).getPort();
        return bench.execute(("rules --quiet -p " + port + " " + line).split(" "));
    }

    @Test
    void theDifferenceBetweenBothLoadsIsReported() {
        broker.subscribe("bench/rules/#")
                .filter(message -> message.payload().asString().contains("\"t\":7,"))
                .concatMap(message -> broker.publish(
                        ApplicationMessage.builder("out/" + message.topic().value())
                                .payload(message.payload())
                                .qos(message.qos())
                                .build()))
                .subscribe();

        int code = run("--pairs 2 -L 60 --rounds 1 --value 7 --duration 30s --max-loss 0 --max-duplicates 0 --pid "
                + ProcessHandle.current().pid());

        assertThat(bench.err()).isEmpty();
        assertThat(code).isZero();
        assertThat(bench.out())
                .contains("run", "rules at mqtt://127.0.0.1:", "4 asked for, 4 connected")
                .containsPattern("delivered +60")
                .containsPattern("lost / duplicated / out of order +0 / 0 / 0")
                .contains("without the rule delivered/s", "without the rule us/message", "the rule us/message");
    }

    @Test
    void withoutARuleNothingArrives() {
        assertThat(run("--pairs 1 -L 4 --rounds 1 --duration 2s")).isEqualTo(1);
        assertThat(bench.err())
                .contains("no message has arrived: does a rule of mqtt://127.0.0.1:")
                .contains("select bench/rules/# and republish to out/bench/rules/…?");
    }

    @Test
    void wrongValuesAreRefused() {
        assertThat(run("-s 61")).isEqualTo(2);
        assertThat(run("--rounds 0")).isEqualTo(2);
        assertThat(run("-t a/#")).isEqualTo(2);
        assertThat(bench.err()).contains("-s 61: payloads in JSON with a stamp are larger", "--rounds: at least 1");
    }
}
