// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.Broker;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.TlsConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Small loads on a broker in this process. */
@Tag("slow")
class BenchCommandTest {

    @TempDir
    static Path directory;

    private static Broker broker;

    private final BenchRun bench = new BenchRun();

    @BeforeAll
    static void startBroker() throws Exception {
        X509Bundle certificate = new CertificateBuilder()
                .ecp256()
                .subject("CN=localhost")
                .addSanDnsName("localhost")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Path chain = Files.writeString(directory.resolve("server.pem"), certificate.getCertificatePEM());
        Path key = Files.writeString(directory.resolve("server.key"), certificate.getPrivateKeyPEM());
        ListenerConfig tcp = BenchRun.tcp();
        ListenerConfig tls =
                tcp.toBuilder().tls(TlsConfig.builder(chain, key).build()).build();
        ListenerConfig ws = ListenerConfig.ws(0).toBuilder().host("127.0.0.1").build();
        broker = BenchRun.startBroker(Map.of("tcp", tcp, "tls", tls, "ws", ws));
    }

    @AfterAll
    static void stopBroker() {
        broker.close(Duration.ofSeconds(1)).block();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "symmetric --pubs 4 --qos 0",
                "symmetric --pubs 4 --qos 1 -V 3",
                "symmetric --pubs 4 --qos 2 -V 4 --threads 2",
                "symmetric --pubs 4 --qos 1 --topic-aliases 2 --property a=b --property c=d",
                "symmetric --pubs 2 --qos 1 -s 100000 --window 2",
                "fanin --pubs 8 --subs 4 --group 2 --qos 1",
                "fanout --pubs 2 --subs 6 --qos 2 --threads 2",
                "single-topic --pubs 3 --subs 5 --qos 1",
                "single-topic --pubs 3 --subs 5 --qos 0 --slow 2",
                "wildcard --pubs 3 --filters 250 --holders 2 --qos 1",
            })
    void scenarioDeliversEveryMessageOnce(String line) {
        int code = run("scenario " + line + " -L 2000 --duration 30s --max-loss 0 --max-duplicates 0");

        assertThat(bench.err()).isEmpty();
        assertThat(code).isZero();
        assertThat(bench.out())
                .containsPattern("published +2000")
                .containsPattern("out of order +0 / 0 / 0")
                .doesNotContain("misrouted", "unexpected", "refused", "connections lost");
    }

    @ParameterizedTest
    @CsvSource({
        "retained --messages 300 --qos 1, stored/s",
        "retained --messages 300 --pubs 3 --qos 1 -V 4, stored/s",
        "offline --pubs 5 --messages 20 --qos 1, queued/s",
        "offline --pubs 5 --messages 20 --qos 2 -V 4, queued/s",
    })
    void storeScenarioGetsEverythingBack(String line, String figure) {
        int code = run("scenario " + line + " --duration 30s --max-loss 0 --max-duplicates 0");

        assertThat(bench.err()).isEmpty();
        assertThat(code).isZero();
        assertThat(bench.out()).contains(figure).containsPattern("out of order +0 / 0 / 0");
    }

    @Test
    void openLoopKeepsItsRateAndWritesReports() throws IOException {
        int code = run("scenario symmetric --pubs 5 --rate 200 --warm-up 100ms --duration 1200ms --json "
                + directory.resolve("r.json") + " --csv " + directory.resolve("r.csv") + " --html "
                + directory.resolve("r.html"));

        assertThat(code).isZero();
        assertThat(bench.out()).contains("open loop at 200.0/s").containsPattern("published +2[56]\\d, ");
        assertThat(directory.resolve("r.json")).content().contains("\"run\":\"symmetric\"");
        assertThat(directory.resolve("r.csv")).content().startsWith("seconds,");
        assertThat(directory.resolve("r.html")).content().contains("<svg");
    }

    @Test
    void brokenLimitIsExitOneAndNamed() {
        assertThat(run("scenario symmetric --pubs 2 -L 50 --duration 30s --max-p99 1us"))
                .isEqualTo(1);
        assertThat(bench.err()).startsWith("limit broken: --max-p99 1us: the latency is ");
    }

    @Test
    void connectionsAreHeldAndCounted() {
        assertThat(run("conn -c 25 -i 1 -n 100 --ifaddr 127.0.0.2,127.0.0.3 --duration 200ms"))
                .isZero();
        assertThat(bench.out()).contains("25 asked for, 25 connected");
    }

    @Test
    void subscribersMeasureWhatPublishersOfAnotherCommandSend() {
        BenchRun subscribers = new BenchRun();
        CompletableFuture<Integer> subscribing = CompletableFuture.supplyAsync(
                () -> execute("sub -c 3 -t two/%i -t two/+/x -q 1 -L 20 --duration 30s --prefix s", "tcp", subscribers),
                THREADS);
        Awaitility.await()
                .until(() -> broker.clients()
                        .filter(client -> client.subscriptions() == 2)
                        .count()
                        .block()
                        .equals(3L));
        assertThat(run("pub -c 2 -n 1 -t two/%i -q 1 -I 10 -L 20 --duration 30s"))
                .isZero();

        assertThat(subscribing.join()).isZero();
        assertThat(subscribers.out()).containsPattern("delivered +20, ").containsPattern("out of order +0 / 0 / 0");
    }

    @Test
    void closedLoopOfPublishersGoesAsFastAsItCan() {
        assertThat(run("pub -c 2 -t fast/%c -q 0 -I 0 -L 5000 --duration 30s")).isZero();
        assertThat(bench.out()).containsPattern("published +5000, ");
    }

    @Test
    void tlsAndWebSocketCarryTheSameLoad() {
        String load = "scenario symmetric --pubs 2 -s 5000 --qos 1 -L 200 --duration 30s --max-loss 0 ";
        assertThat(execute(load + "-h localhost --cacertfile " + directory.resolve("server.pem"), "tls", bench))
                .as(bench.err())
                .isZero();
        assertThat(execute(load + "--ws", "ws", bench)).as(bench.err()).isZero();
        assertThat(bench.out()).contains("mqtts://localhost:", "ws://127.0.0.1:");
        assertThat(execute("conn -c 1 -S -h localhost --duration 1s", "tls", bench))
                .as("an authority nobody knows")
                .isEqualTo(1);
    }

    @Test
    void sizingPrintsItsPlanAndRunsAPartOfIt() {
        assertThat(run("size --devices 40000 --actions-per-hour 90")).isZero();
        assertThat(bench.out())
                .contains("1000.0/s on the mean, 3000.0/s at peak")
                .contains("Add --run");
        bench.forgetOut();

        assertThat(run("size --devices 40000 --actions-per-hour 90 --scale 0.001 --run --duration 1s --max-loss 0"))
                .as(bench.err())
                .isZero();
        assertThat(bench.out()).contains("41 asked for, 41 connected").containsPattern("open loop at 3\\.0/s");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void sizingSendsCommandsToEveryDeviceBesideTheirReports(int threads) {
        int code = run("size --devices 50 --actions-per-hour 3600 --commands-per-hour 7200 --consumers 4"
                + " --peak-factor 1 --run --duration 2s --max-loss 0 --max-duplicates 0 --threads " + threads);

        assertThat(code).as(bench.err()).isZero();
        assertThat(bench.out())
                .contains("50.0/s on the mean", "100.0/s on the mean", "54 connected")
                .containsPattern("open loop at 150\\.0/s")
                .containsPattern("published +300, ")
                .containsPattern("delivered +300, ")
                .containsPattern("reports published +100\n")
                .containsPattern("commands published +200\n")
                .containsPattern("out of order +0 / 0 / 0")
                .doesNotContain("misrouted", "messages of others");
    }

    @Test
    void sizingThatDoesNotFitIsScaledDownAndSaysSo() {
        int code = run("size --devices 4000 --actions-per-hour 90 --max-clients 100 --run --duration 1s --max-loss 0");

        assertThat(code).as(bench.err()).isZero();
        assertThat(bench.out())
                .contains("Scaled down to 0.0248: 4010 connections are too many, --max-clients 100.")
                .contains("At scale 0.0248:")
                .contains("99 devices + 1 consumers", "100 asked for, 100 connected");
    }

    @Test
    void sizingThatIsToBeRunAtAScaleIsNotScaledFurther() {
        assertThat(run("size --devices 4000 --actions-per-hour 90 --max-clients 100 --scale 0.5 --run"))
                .isEqualTo(2);
        assertThat(bench.err()).contains("2005 clients are more than 100");
    }

    @Test
    void refusedConnectionIsExitOneWithAMessage() throws IOException {
        try (Socket silent = new Socket()) {
            silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)); // does not listen
            int port = silent.getLocalPort();

            int code = bench.execute("conn", "-c", "5", "-p", "" + port);

            assertThat(code).isEqualTo(1);
            assertThat(bench.err())
                    .isEqualToNormalizingNewlines(
                            "smqtt bench: cannot connect to mqtt://127.0.0.1:" + port + ": connection refused\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'', missing load",
        "conn -c 0, at least one client",
        "conn -c 10001, --max-clients 10001",
        "conn -c x, not an int",
        "conn -V 6, MQTT versions",
        "conn -p 70000, ports are",
        "conn --cacertfile nowhere.pem, cannot be read",
        "conn --certfile a.pem, belong together",
        "conn --duration 5parsecs, is no duration",
        "pub -c 1, Missing required option",
        "pub -t a/#, wildcards",
        "pub -t a -q 3, QoS is",
        "pub -t a -s 4, payloads are",
        "pub -t a --property b, NAME=VALUE",
        "pub -t a -V 4 --property b=c, needs -V 5",
        "conn -V 4 --topic-aliases 1, needs -V 5",
        "scenario symmetric --slow 1, single-topic",
        "sub -t a#, level of its own",
        "sub -t a -n -1, numbered",
        "scenario, Missing required parameter",
        "scenario everything, there are symmetric",
        "scenario fanin --pubs 7, the same number",
        "scenario fanout --pubs 3 --subs 4, the same number",
        "size --devices 0 --actions-per-hour 1, --devices",
        "size --devices 5 --actions-per-hour 1 --scale 2, --scale",
        "nothing, Unmatched argument",
    })
    void wrongUsageIsExitTwoWithAReason(String line, String reason) {
        List<String> args = new ArrayList<>(List.of(line.split(" ")));
        args.removeIf(String::isEmpty);
        int code = bench.execute(args.toArray(new String[0]));

        assertThat(code).isEqualTo(2);
        assertThat(bench.err()).contains(reason);
    }

    private int run(String line) {
        return execute(line, "tcp", bench);
    }

    private static int execute(String line, String listener, BenchRun on) {
        int port = broker.listeners().get(listener).getPort();
        return on.execute((line + " --quiet -p " + port).split(" "));
    }
}
