// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Programs open as many TLS connections as they can, and an established QoS 1 flow stays as it is. {@code -Dsmqtt.flood.rate=10000} is the number of
 * connections a second of all programs, {@code -Dsmqtt.flood.seconds=20} how long it takes.
 */
class TlsFloodProof {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PROGRAMS = 2;
    private static final int RATE = Integer.getInteger("smqtt.flood.rate", 10_000);
    private static final Duration LENGTH = Duration.ofSeconds(Integer.getInteger("smqtt.flood.seconds", 20));
    private static final double P99_AT_MOST_MILLIS = 500;

    @TempDir
    Path directory;

    /** Without a limit, with one of the listener, with one for each address, and with both. */
    @ParameterizedTest
    @CsvSource({"0, 0", "200, 0", "0, 10", "500, 10"})
    void establishedClientsGoOn(int ofListener, int ofAddress) throws Exception {
        TestCertificates certificates = TestCertificates.in(Files.createDirectories(directory.resolve("tls")));
        int management = LoopbackPorts.one();
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), """
                access:
                  log-connections: false
                storage:
                  kind: memory
                limits:
                  connect-rate-per-address: %d
                management:
                  port: %d
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                  tls:
                    type: tcp
                    host: 127.0.0.1
                    port: 0
                    max-connect-rate: %d
                    tls:
                      certificate: '%s'
                      key: '%s'
                """.formatted(
                        ofAddress, management, ofListener, certificates.serverCertificate(), certificates.serverKey()));
        List<LoadProcess> programs = new ArrayList<>();
        try (BrokerProcess broker = BrokerProcess.start(directory, List.of(), file)) {
            for (int i = 0; i < PROGRAMS; i++) {
                programs.add(LoadProcess.start(TlsFlood.class, broker.port("tls"), RATE / PROGRAMS));
            }
            try (AckFlow flow = new AckFlow("flow-1", broker.port("tcp"));
                    AckFlow other = new AckFlow("flow-2", broker.port("tcp"))) {
                await().atMost(PATIENCE).until(() -> flow.acknowledged() > 2_000 && other.acknowledged() > 2_000);
                String calm = flow.figures();
                flow.forget();
                other.forget();
                Scrape before = Scrape.of(management);
                programs.forEach(LoadProcess::begin);
                List<Long> logins = logins(broker.port("tcp"));
                Scrape after = Scrape.of(management);
                System.out.printf(
                        Locale.ROOT,
                        "max-connect-rate %d, connect-rate-per-address %d, %d s, %d connections a second wanted%n%s%n%s%n"
                                + "QoS 1 before: %s%nduring: %s; %s%nlogins at another listener: %s ms%nevent loops: %s%n%s%n",
                        ofListener,
                        ofAddress,
                        LENGTH.toSeconds(),
                        RATE,
                        figures(programs),
                        meters(before, after),
                        calm,
                        flow.figures(),
                        other.figures(),
                        logins,
                        LoopDelays.of(after).since(LoopDelays.of(before)),
                        broker.output().stream()
                                .filter(line -> line.contains("overload level"))
                                .toList());

                assertThat(sum(programs, TlsFlood.BEGUN)).isGreaterThan(LENGTH.toSeconds() * 100);
                assertThat(flow.failure()).isNull();
                assertThat(other.failure()).isNull();
                if (ofListener > 0 || ofAddress > 0) {
                    assertThat(Math.max(flow.p99Millis(), other.p99Millis())).isLessThanOrEqualTo(P99_AT_MOST_MILLIS);
                    assertThat(after.sum("smqtt_accept_pauses_total") + refused(after))
                            .isPositive();
                }
            } finally {
                programs.forEach(LoadProcess::close);
            }
        }
    }

    /** Connects a client about each second for the length of the flood, and returns how many milliseconds each took. */
    private static List<Long> logins(int port) {
        List<Long> millis = new ArrayList<>();
        long began = System.nanoTime();
        await().atMost(LENGTH.plus(PATIENCE))
                .pollInterval(Duration.ofSeconds(1))
                .until(() -> {
                    millis.add(login(port, "new-" + millis.size()));
                    return System.nanoTime() - began >= LENGTH.toNanos();
                });
        return millis;
    }

    private static long login(int port, String name) throws IOException {
        long began = System.nanoTime();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(StormClients.connectPacket(name));
            assertThat(socket.getInputStream().readNBytes(4)).isEqualTo(new byte[] {0x20, 2, 0, 0});
        }
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    }

    private static long sum(List<LoadProcess> programs, int figure) {
        return programs.stream().mapToLong(program -> program.figure(figure)).sum();
    }

    private static String figures(List<LoadProcess> programs) {
        return String.format(
                Locale.ROOT,
                "connections: %d begun, %d answered by TLS, %d closed by the broker, %d given up after 0.5 s",
                sum(programs, TlsFlood.BEGUN),
                sum(programs, TlsFlood.ANSWERED),
                sum(programs, TlsFlood.REFUSED),
                sum(programs, TlsFlood.GIVEN_UP));
    }

    private static double refused(Scrape scrape) {
        return scrape.sum("smqtt_connections_refused_total{");
    }

    private static String meters(Scrape before, Scrape after) {
        return String.format(
                Locale.ROOT,
                "meters: %.0f connections opened, %.0f pauses of listeners, %.1f s of CPU; refused: %s",
                after.sum("smqtt_connections_opened_total") - before.sum("smqtt_connections_opened_total"),
                after.sum("smqtt_accept_pauses_total") - before.sum("smqtt_accept_pauses_total"),
                after.sum("smqtt_eventloop_cpu_seconds_total") - before.sum("smqtt_eventloop_cpu_seconds_total"),
                after.of("smqtt_connections_refused_total{")
                        .map(line -> line.replaceAll(".*reason=\"([^\"]+)\".* ", "$1 "))
                        .filter(line -> !line.endsWith(" 0.0"))
                        .collect(Collectors.joining(", ", "[", "]")));
    }
}
