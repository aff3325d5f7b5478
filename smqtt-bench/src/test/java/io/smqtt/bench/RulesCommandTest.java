// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.smqtt.Broker;
import io.smqtt.message.ApplicationMessage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
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

    /** Metrics in which a rule has written what two publishers send, when they are read for the third time. */
    private static HttpServer metrics(String rule) throws IOException {
        AtomicInteger reads = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/metrics", exchange -> {
            int written = reads.getAndIncrement() < 2 ? 7 : 67;
            byte[] body = ("smqtt_rule_success_total{action=\"out\",rule=\"" + rule + "\"} " + written + ".0\n"
                            + "smqtt_rule_success_total{action=\"out\",rule=\"other\"} 1.0\n")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        return server;
    }

    @Test
    void whatASinkWritesIsReported() throws IOException {
        HttpServer server = metrics("kafka");
        try {
            String address = "http://127.0.0.1:" + server.getAddress().getPort();
            int code = run("--pairs 2 -L 60 --rounds 1 --duration 30s --sink kafka --metrics " + address);

            assertThat(bench.err()).isEmpty();
            assertThat(code).isZero();
            assertThat(bench.out())
                    .containsPattern("published +60")
                    .containsPattern("written by the sink +60")
                    .contains("written by the sink/s", "until the last one s");

            assertThat(run("--pairs 1 -L 4 --rounds 1 --sink none --metrics " + address))
                    .isEqualTo(1);
            assertThat(bench.err()).contains("has no smqtt_rule_success_total of a rule none");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void sinkThatDoesNotWriteAllIsAFailure() throws IOException {
        HttpServer server = metrics("kafka");
        try {
            assertThat(run("--pairs 1 -L 61 --rounds 1 --drain 300ms --sink kafka --metrics http://127.0.0.1:"
                            + server.getAddress().getPort()))
                    .isEqualTo(1);
            assertThat(bench.err()).contains("of 61 messages the rule kafka has written 60 within");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void wrongValuesAreRefused() {
        assertThat(run("--sink kafka")).isEqualTo(2);
        assertThat(run("--sink kafka -L 1 --metrics 127.0.0.1:18083")).isEqualTo(2);
        assertThat(bench.err()).contains("--sink: needs -L", "must be http://HOST:PORT");
        assertThat(run("-s 61")).isEqualTo(2);
        assertThat(run("--rounds 0")).isEqualTo(2);
        assertThat(run("-t a/#")).isEqualTo(2);
        assertThat(bench.err()).contains("-s 61: payloads in JSON with a stamp are larger", "--rounds: at least 1");
    }
}
