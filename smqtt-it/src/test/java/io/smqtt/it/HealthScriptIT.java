// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The health check of the image, {@code deploy/docker/health}, against a broker. */
class HealthScriptIT {

    @TempDir
    Path directory;

    @Test
    void theScriptTellsABrokerThatIsReadyFromNone() throws IOException {
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), """
                management: {port: 0}
                listeners:
                  tcp: {host: 127.0.0.1, port: 0}
                  ws: {enabled: false}
                """);
        int port;
        try (BrokerProcess broker = BrokerProcess.start(directory, List.of(), file)) {
            port = broker.port("management");

            assertThat(health("ready", port)).isZero();
            assertThat(health("live", port)).isZero();
            assertThat(health("no-such-path", port)).isNotZero();
        }
        assertThat(health("ready", port)).isNotZero();
    }

    /** By curl where there is one, else by openssl, which is in the image. */
    @Test
    void aPortWithTlsIsAskedByWhatThereIs() throws IOException {
        TestCertificates certificates = TestCertificates.in(directory);
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), """
                management:
                  port: 0
                  tls: {certificate: '%s', key: '%s'}
                listeners:
                  tcp: {host: 127.0.0.1, port: 0}
                  ws: {enabled: false}
                """.formatted(
                        certificates.serverCertificate(), certificates.serverKey()));
        Path noCurl = Files.createDirectory(directory.resolve("bin"));
        for (String program : List.of("bash", "env", "openssl", "timeout")) {
            Files.createSymbolicLink(noCurl.resolve(program), Path.of(ForeignProgram.path(program)));
        }
        int port;
        try (BrokerProcess broker = BrokerProcess.start(directory, List.of(), file)) {
            port = broker.port("management");

            for (String path : List.of(System.getenv("PATH"), noCurl.toString())) {
                for (String tls : List.of("true", "")) { // told, or found out by itself
                    assertThat(health("ready", port, path, tls)).as(path + tls).isZero();
                    assertThat(health("no-such-path", port, path, tls))
                            .as(path + tls)
                            .isNotZero();
                }
            }
            assertThat(broker.warnings()).isEmpty();
        }
        assertThat(health("ready", port, noCurl.toString(), "true")).isNotZero();
        assertThat(health("ready", port, noCurl.toString(), "")).isNotZero();
    }

    /** Whether it closes before the request, within it or after it is up to the two systems. */
    @Test
    void aPortThatResetsTheConnectionIsAskedByTls() throws IOException {
        for (int i = 0; i < 20; i++) {
            try (ServerSocket port = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
                CompletableFuture<Void> askedTwice = CompletableFuture.runAsync(
                        () -> {
                            reset(port);
                            reset(port);
                        },
                        THREADS);

                assertThat(health("ready", port.getLocalPort())).isNotZero();
                assertThat(askedTwice).succeedsWithin(BrokerPair.PATIENCE);
            }
        }
    }

    private static void reset(ServerSocket port) {
        try (Socket client = port.accept()) {
            client.getInputStream().read();
            client.setSoLinger(true, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int health(String what, int port) {
        return run(new ProcessBuilder(script(), what, Integer.toString(port)));
    }

    private static int health(String what, int port, String path, String tls) {
        ProcessBuilder command = new ProcessBuilder(script(), what, Integer.toString(port));
        command.environment().put("SMQTT_HEALTH_TLS", tls);
        command.environment().put("PATH", path);
        return run(command);
    }

    private static String script() {
        return BrokerProcess.script()
                .resolveSibling("../deploy/docker/health")
                .normalize()
                .toString();
    }

    private static int run(ProcessBuilder command) {
        try (CapturedProcess process = CapturedProcess.start("health", command)) {
            return process.awaitExit(BrokerPair.PATIENCE);
        }
    }
}
