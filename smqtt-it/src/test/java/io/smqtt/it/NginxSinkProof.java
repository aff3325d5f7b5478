// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The sink {@code http} of the real program, with nginx in front of a server in Python. In turn nginx is killed, its server is killed (502), and its
 * server is frozen (504).
 */
class NginxSinkProof {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** The rows of a batch, which a server that is frozen writes later although their answer was 504. */
    private static final int BATCH = 500;

    private static final String CONFIGURATION = """
            events {}
            http {
              log_format status '$status';
              access_log %1$s/access.log status;
              client_body_temp_path %1$s/body;
              client_body_buffer_size 1m; # its workers are another user, who may not write here
              proxy_temp_path %1$s/proxy;
              fastcgi_temp_path %1$s/fastcgi;
              uwsgi_temp_path %1$s/uwsgi;
              scgi_temp_path %1$s/scgi;
              server {
                listen 127.0.0.1:%2$d;
                location / {
                  proxy_pass http://127.0.0.1:%3$d;
                  proxy_read_timeout 1s;
                }
              }
            }
            """;

    @TempDir
    Path directory;

    private final int port = LoopbackPorts.one();
    private HttpSinkProof.Receiver receiver;
    private CapturedProcess nginx;

    private void startNginx() {
        nginx = CapturedProcess.start(
                "nginx",
                new ProcessBuilder(
                        ForeignProgram.path("nginx"),
                        "-c",
                        directory.resolve("nginx.conf").toString(),
                        "-e",
                        "stderr",
                        "-g",
                        "daemon off; pid " + directory.resolve("nginx.pid") + "; error_log stderr crit;"));
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(BrokerPair.isListening(Endpoint.loopback(port)))
                        .as("nginx%s", nginx.report())
                        .isTrue());
    }

    private void killNginx() {
        var all = nginx.process().descendants().toList();
        nginx.kill();
        all.forEach(ProcessHandle::destroyForcibly); // its workers would go on
        await().atMost(PATIENCE).until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
    }

    /** How many requests had an answer. */
    private int answers(int status) {
        try {
            return (int) Files.readAllLines(directory.resolve("access.log")).stream()
                    .filter(line -> line.equals(String.valueOf(status)))
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What happens to nginx and to the server behind it, in turn. */
    private final class Turns implements SinkCampaign.Server {

        private int turn;

        @Override
        public void kill() {
            switch (turn % 3) {
                case 0 -> killNginx();
                case 1 -> receiver.kill();
                default -> receiver.pause();
            }
        }

        @Override
        public boolean isMissed() {
            return true;
        }

        @Override
        public void start() {
            switch (turn++ % 3) {
                case 0 -> startNginx();
                case 1 -> receiver.start();
                default -> receiver.resume();
            }
        }
    }

    @Test
    void nothingIsLostWhileNginxOrItsServerIsAway() throws Exception {
        try (HttpSinkProof.Receiver server = new HttpSinkProof.Receiver(directory, 0)) {
            receiver = server;
            Files.writeString(directory.resolve("nginx.conf"), CONFIGURATION.formatted(directory, port, server.port()));
            startNginx();
            try {
                HttpSinkProof.run(
                        "http to nginx, which is killed, and answers 502 and 504",
                        directory,
                        port,
                        server.file(),
                        new Turns(),
                        () -> answers(504) * BATCH);
                System.out.printf("answers of nginx: 502 %d times, 504 %d times%n", answers(502), answers(504));
                assertThat(answers(502)).isPositive();
                assertThat(answers(504)).isPositive();
            } finally {
                killNginx();
            }
        }
    }
}
