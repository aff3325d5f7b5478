// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** InfluxDB 1 with the database {@value #DATABASE} as a child process on free loopback ports. Points that it has acknowledged are in its files. */
final class InfluxdbServer implements AutoCloseable {

    static final String DATABASE = "plant";

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration ANSWER = Duration.ofSeconds(60);
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final Path directory;
    private final int port = LoopbackPorts.one();
    private CapturedProcess process;

    private InfluxdbServer(Path directory) throws IOException {
        this.directory = directory;
        Files.writeString(directory.resolve("influxdb.conf"), """
                reporting-disabled = true
                bind-address = "127.0.0.1:%1$d"
                [meta]
                  dir = "%2$s/meta"
                [data]
                  dir = "%2$s/data"
                  wal-dir = "%2$s/wal"
                [http]
                  bind-address = "127.0.0.1:%3$d"
                  log-enabled = false
                [monitor]
                  store-enabled = false
                """.formatted(LoopbackPorts.one(), directory, port));
        process = run();
    }

    /** Starts a server; none is left if that fails. */
    static InfluxdbServer start(Path directory) throws IOException, InterruptedException {
        InfluxdbServer server = new InfluxdbServer(directory);
        try {
            server.awaitAnswers();
            server.query("CREATE DATABASE " + DATABASE);
            return server;
        } catch (IOException | InterruptedException | RuntimeException | AssertionError e) {
            server.close();
            throw e;
        }
    }

    int port() {
        return port;
    }

    /** Starts it on the same ports, and waits until it answers. */
    void startAgain() {
        process = run();
        awaitAnswers();
    }

    private CapturedProcess run() {
        return CapturedProcess.start(
                "influxd",
                new ProcessBuilder(
                                ForeignProgram.path("influxd"),
                                "run",
                                "-config",
                                directory.resolve("influxdb.conf").toString())
                        .directory(directory.toFile()));
    }

    private void awaitAnswers() {
        await().atMost(PATIENCE).ignoreExceptions().until(() -> {
            assertThat(process.process().isAlive()).as(process.report()).isTrue();
            query("SHOW DATABASES");
            return true;
        });
    }

    /** Runs a statement, and returns its result in CSV. */
    String query(String text) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + port + "/query?db=" + DATABASE + "&q="
                + URLEncoder.encode(text, StandardCharsets.UTF_8));
        HttpRequest request = HttpRequest.newBuilder(uri)
                .timeout(ANSWER)
                .POST(HttpRequest.BodyPublishers.noBody())
                .header("Accept", "application/csv")
                .build();
        HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException(answer.body());
        }
        return answer.body();
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

    /** Kills it. */
    void kill() {
        process.close();
    }

    @Override
    public void close() {
        process.close();
    }
}
