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
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sink {@code http} of the real program: a server in Python that is killed. */
class HttpSinkProof {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    /**
     * The server: it writes each body into a file, then answers; it does not take one with a poison. While its disk is full it answers 507 and 500 in
     * turn.
     */
    static final class Receiver implements SinkCampaign.Server, AutoCloseable {

        private static final String PROGRAM = """
                import http.server, os, sys, threading, time

                lock = threading.Lock()
                out = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

                full = 0

                def kept(lines):
                    global full
                    with lock:
                        end = os.fstat(out).st_size
                        try:
                            if os.write(out, lines) == len(lines):
                                return 204
                        except OSError:
                            pass
                        os.ftruncate(out, end)
                        full += 1
                        return 507 if full % 2 else 500

                class Handler(http.server.BaseHTTPRequestHandler):
                    protocol_version = 'HTTP/1.1'

                    def do_POST(self):
                        body = self.rfile.read(int(self.headers['Content-Length']))
                        time.sleep(float(sys.argv[3]))
                        poison = b'wrong' in body
                        status = 400 if poison else kept(body.rstrip() + b'\\n')
                        self.send_response(status)
                        self.send_header('Content-Length', '0')
                        self.end_headers()

                    def log_message(self, *text):
                        pass

                http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
                """;

        private final Path directory;
        private final Path file;
        private final double seconds;
        private final int port = LoopbackPorts.one();
        private CapturedProcess process;

        /** Starts it; each answer takes some time. */
        Receiver(Path directory, double seconds) throws IOException {
            this(directory, directory, seconds);
        }

        /** The same with its file in another folder. */
        Receiver(Path directory, Path rows, double seconds) throws IOException {
            this.directory = directory;
            this.file = rows.resolve("received.jsonl");
            this.seconds = seconds;
            Files.writeString(directory.resolve("receiver.py"), PROGRAM);
            start();
        }

        int port() {
            return port;
        }

        Path file() {
            return file;
        }

        @Override
        public void kill() {
            process.close();
        }

        @Override
        public void start() {
            process = CapturedProcess.start(
                    "receiver",
                    new ProcessBuilder(
                                    ForeignProgram.path("python3"),
                                    "receiver.py",
                                    String.valueOf(port),
                                    file().toString(),
                                    String.valueOf(seconds))
                            .directory(directory.toFile()));
            await().atMost(PATIENCE).ignoreExceptions().until(() -> {
                new Socket(InetAddress.getLoopbackAddress(), port).close();
                return true;
            });
        }

        /** Stops it from doing anything; its connections stay open. */
        void pause() {
            signal("STOP");
        }

        /** Ends {@link #pause}. */
        void resume() {
            signal("CONT");
        }

        private void signal(String name) {
            String pid = String.valueOf(process.process().pid());
            try (CapturedProcess kill = CapturedProcess.start("kill", new ProcessBuilder("kill", "-" + name, pid))) {
                assertThat(kill.awaitExit(PATIENCE)).as(kill.report()).isZero();
            }
        }

        @Override
        public void close() {
            process.close();
        }
    }

    @Test
    void nothingIsLostWhileTheServerIsKilled() throws Exception {
        try (Receiver receiver = new Receiver(directory, 0)) {
            run("http", directory, receiver.port(), receiver.file(), receiver, () -> 0);
        }
    }

    /** Writes to a server that is killed, or to which something else happens. */
    static void run(String name, Path directory, int port, Path file, SinkCampaign.Server server, IntSupplier more)
            throws Exception {
        Path configuration = SinkCampaign.configuration(
                directory, "SELECT topic, payload AS n FROM \"" + SinkCampaign.FILTER + '"', """
                type: http
                url: http://127.0.0.1:%d/rows
                batch: lines
                """.formatted(port));
        try (SinkCampaign campaign = new SinkCampaign(
                () -> BrokerProcess.start(Extensions.command("smqtt-sink-redis", directory, configuration)), server)) {
            campaign.publishPoison("wrong");
            campaign.run();
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> SinkCampaign.distinct(SinkCampaign.numbers(file)) == campaign.published());
            campaign.assertArrived(name, SinkCampaign.numbers(file), more.getAsInt());
            SinkCampaign.awaitDeadLetter(directory, "status 400");
        }
    }
}
