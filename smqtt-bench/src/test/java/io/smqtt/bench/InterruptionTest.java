// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.Broker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs that end before their time, on a broker in this process. */
@Tag("slow")
class InterruptionTest {

    /** What the process is that gets a signal. */
    static final class Main {
        private Main() {}

        public static void main(String[] args) {
            System.exit(BenchCommand.commandLine(System.out, System.err).execute(args));
        }
    }

    private static final Duration LONG = Duration.ofSeconds(120);

    @TempDir
    Path directory;

    private static Broker broker;
    private static int port;

    private final BenchRun run = new BenchRun();

    @BeforeAll
    static void startBroker() {
        broker = BenchRun.startBroker(Map.of("tcp", BenchRun.tcp()));
        port = broker.listeners().get("tcp").getPort();
    }

    @AfterAll
    static void stopBroker() {
        broker.close(Duration.ofSeconds(1)).block();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scenario symmetric --pubs 3 --qos 1",
                "scenario symmetric --pubs 3 --rate 100",
                "pub -c 2 -t interrupted -I 10",
                "size --devices 20 --actions-per-hour 36000 --run",
            })
    void interruptedRunSumsUpWhatItMeasured(String line) throws Exception {
        CompletableFuture<Integer> running = start(line + " --duration 10m");
        awaitErr("published");
        run.interrupt();

        assertThat(running.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(130);
        assertThat(run.out())
                .containsPattern("interrupted +after \\d+\\.\\d s")
                .containsPattern("published +\\d+") // with a rate if something was measured
                .doesNotContainPattern("lost.*order +[1-9]");
        assertThat(run.err()).contains("interrupted: what was measured until then was reported");
        assertThat(directory.resolve("r.json")).content().contains("\"interrupted\":true");
        assertThat(directory.resolve("r.csv")).content().endsWith("# interrupted\n");
        assertThat(directory.resolve("r.html")).content().contains("Interrupted: this is what");
    }

    @Test
    void interruptedWhileConnectingTellsHowManyWereConnected() throws Exception {
        CompletableFuture<Integer> running = start("conn -c 1000 -i 100 --duration 10m");
        awaitErr("connected [1-9]\\d* of 1000");
        run.interrupt();

        assertThat(running.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(130);
        assertThat(run.out())
                .containsPattern("interrupted +after 0\\.0 s")
                .containsPattern("1000 asked for, [1-9]\\d* connected");
    }

    @ParameterizedTest
    @ValueSource(strings = {"retained --messages 50000000", "offline --pubs 4 --messages 10000000"})
    void interruptedStoreLeavesNothingAtTheBroker(String line) throws Exception {
        CompletableFuture<Integer> running = start("scenario " + line + " --qos 1 --duration 10m --prefix left");
        awaitErr("[1-9]\\d*/s published");
        run.interrupt();

        assertThat(running.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(130);
        assertThat(run.out()).contains("interrupted").doesNotContain("all resumed", "all fetched");
        Awaitility.await() // the broker may still be reading the last packets of the command
                .atMost(LONG)
                .untilAsserted(() -> assertThat(broker.clients().collectList().block())
                        .noneMatch(client -> client.identity().clientId().startsWith("left-s")));
        BenchRun after = new BenchRun();
        after.execute(arguments("sub -c 1 -t left/# --duration 200ms").toArray(new String[0]));
        assertThat(after.out()).contains("1 connected").doesNotContain("delivered");
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM"})
    void signalEndsTheProcessWithItsReports(String signal) throws Exception {
        List<String> command = new ArrayList<>();
        if (OS.LINUX.isCurrentOs()) { // a build in the background ignores SIGINT, and so would its children
            command.addAll(List.of("env", "--default-signal=INT,TERM"));
        }
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(arguments("scenario symmetric --pubs 2 --rate 100 --duration 10m"));
        Path output = directory.resolve("out");
        Path errors = directory.resolve("err");
        Process process = new ProcessBuilder(command)
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile())
                .start();
        try {
            Awaitility.await().atMost(LONG).until(() -> Files.readString(errors).contains("published"));
            new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .start()
                    .waitFor();

            assertThat(process.waitFor(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(130);
            assertThat(output).content().contains("interrupted", "latency p50");
            assertThat(directory.resolve("r.json")).content().contains("\"interrupted\":true");
        } finally {
            process.destroyForcibly();
        }
    }

    private CompletableFuture<Integer> start(String line) {
        return CompletableFuture.supplyAsync(() -> run.execute(arguments(line).toArray(new String[0])), THREADS);
    }

    private List<String> arguments(String line) {
        return List.of((line + " -p " + port + " --json " + directory.resolve("r.json") + " --csv "
                        + directory.resolve("r.csv") + " --html " + directory.resolve("r.html"))
                .split(" "));
    }

    private void awaitErr(String pattern) {
        Awaitility.await()
                .atMost(LONG)
                .untilAsserted(() -> assertThat(run.err()).containsPattern(pattern));
    }
}
