// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** nginx with {@code deploy/nginx/tcp.conf} in front of brokers on the loopback address. */
final class NginxFront implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String FIRST = "server 10.0.0.11:1883 ";
    private static final String SECOND = "server 10.0.0.12:1883 ";

    private final InetSocketAddress address = Endpoint.loopback(LoopbackPorts.one());
    private final CapturedProcess nginx;

    /**
     * Starts nginx, and waits until it accepts connections.
     *
     * @param directory for its configuration
     * @param ports of the brokers
     */
    NginxFront(Path directory, List<Integer> ports) {
        try {
            Path file = Files.writeString(directory.resolve("nginx.conf"), configuration(ports));
            String globals = "daemon off; pid " + directory.resolve("nginx.pid") + "; error_log stderr;";
            nginx = CapturedProcess.start(
                    "nginx",
                    new ProcessBuilder(
                            ForeignProgram.path("nginx"), "-c", file.toString(), "-e", "stderr", "-g", globals));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(BrokerPair.isListening(address))
                            .as("nginx%s", nginx.report())
                            .isTrue());
        } catch (RuntimeException | AssertionError e) {
            close();
            throw e;
        }
    }

    /** The sample with one line for each broker instead of its two. */
    private String configuration(List<Integer> ports) throws IOException {
        String sample = BrokerPair.sample("nginx/tcp.conf");
        String options = sample.lines()
                .filter(line -> line.contains(FIRST))
                .map(line -> line.substring(line.indexOf(FIRST) + FIRST.length()))
                .findFirst()
                .orElseThrow();
        String servers = ports.stream()
                .map(port -> "        server 127.0.0.1:" + port + " " + options + "\n")
                .collect(Collectors.joining());
        String adapted = sample.lines()
                .filter(line -> !line.contains(SECOND))
                .map(line -> line.contains(FIRST) ? servers : line + "\n")
                .collect(Collectors.joining())
                .replace("listen 1883 ", "listen " + Endpoint.HOST + ":" + address.getPort() + " ");
        assertThat(adapted).doesNotContain("10.0.0.1").doesNotContain("1883 ");
        return adapted;
    }

    /** Where clients connect. */
    InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() {
        nginx.terminate();
        nginx.awaitExit(PATIENCE);
    }
}
