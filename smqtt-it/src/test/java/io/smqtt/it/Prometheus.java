// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Debian's Prometheus as a child process on a free loopback port; it scrapes every second. */
final class Prometheus implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final CapturedProcess process;
    private final int port;

    private Prometheus(CapturedProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts one that scrapes ports of this machine as the job smqtt, with the rules of some files. */
    static Prometheus start(Path directory, List<Integer> targets, List<Path> rules) throws IOException {
        String hosts = targets.stream().map(port -> "'127.0.0.1:" + port + "'").collect(Collectors.joining(", "));
        String files = rules.stream().map(file -> "'" + file + "'").collect(Collectors.joining(", "));
        Path config = Files.writeString(directory.resolve("prometheus.yml"), """
                global: {scrape_interval: 1s, evaluation_interval: 1s}
                rule_files: [%s]
                scrape_configs:
                  - job_name: smqtt
                    static_configs: [{targets: [%s]}]
                """.formatted(files, hosts));
        int port = LoopbackPorts.one();
        CapturedProcess process = CapturedProcess.start(
                "prometheus",
                new ProcessBuilder(
                        ForeignProgram.path("prometheus"),
                        "--config.file=" + config,
                        "--storage.tsdb.path=" + directory.resolve("prometheus"),
                        "--web.listen-address=127.0.0.1:" + port));
        process.awaitLine("being ready", line -> line.contains("Server is ready to receive web requests"), PATIENCE);
        return new Prometheus(process, port);
    }

    /** Runs promtool and returns its exit code; what it says is in the report of the given process. */
    static CapturedProcess promtool(String... arguments) {
        List<String> command = Stream.concat(Stream.of(ForeignProgram.path("promtool")), Stream.of(arguments))
                .toList();
        return CapturedProcess.start("promtool", new ProcessBuilder(command));
    }

    /** The finite values that a query gives now; an error of the query is an error here. */
    List<Double> query(String expression) {
        JsonNode result = get("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
                .path("data")
                .path("result");
        return Stream.iterate(0, i -> i < result.size(), i -> i + 1)
                .map(i -> result.path(i).path("value").path(1).asText())
                .map(text -> text.endsWith("Inf") ? Double.NaN : Double.parseDouble(text))
                .filter(Double::isFinite)
                .toList();
    }

    /** All rules, as Prometheus sees them. */
    List<JsonNode> rules() {
        return get("/api/v1/rules").path("data").path("groups").findValues("rules").stream()
                .flatMap(rules ->
                        Stream.iterate(0, i -> i < rules.size(), i -> i + 1).map(rules::path))
                .toList();
    }

    private JsonNode get(String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(PATIENCE)
                .build();
        try {
            JsonNode answer = JSON.readTree(
                    http.send(request, HttpResponse.BodyHandlers.ofString()).body());
            if (!answer.path("status").asText().equals("success")) {
                throw new AssertionError(path + ": " + answer);
            }
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        process.terminate();
        process.close();
    }
}
