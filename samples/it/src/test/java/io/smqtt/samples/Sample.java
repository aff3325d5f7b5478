// SPDX-License-Identifier: Apache-2.0
package io.smqtt.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of a sample, or of what stands in front of it. */
final class Sample implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Pattern LISTENING = Pattern.compile("listening: tcp on 127\\.0\\.0\\.1:(\\d+)");

    private final Process process;
    private final Path log;

    private Sample(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    static Path directory(String sample) {
        return Path.of(System.getProperty("samples")).resolve(sample);
    }

    /** Starts the jar of a sample. */
    static Sample java(String sample, Path directory, Map<String, String> environment, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-jar",
                directory(sample).resolve("target/app.jar").toAbsolutePath().toString()));
        command.addAll(List.of(arguments));
        return start(command, directory, environment);
    }

    static Sample start(List<String> command, Path directory, Map<String, String> environment) throws IOException {
        Path log = Files.createTempFile(directory, "sample", ".log");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        return new Sample(builder.start(), log);
    }

    String output() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits for a line, and gives its first group. */
    String awaitOutput(String regex) {
        Pattern pattern = Pattern.compile(regex);
        await().atMost(PATIENCE)
                .until(() -> !process.isAlive() || pattern.matcher(output()).find());
        Matcher matcher = pattern.matcher(output());
        assertThat(matcher.find()).as(output()).isTrue();
        return matcher.group(1);
    }

    /** Waits until the broker of an application listens, or the application has ended. */
    boolean awaitListening() {
        await().atMost(PATIENCE)
                .until(() -> !process.isAlive() || LISTENING.matcher(output()).find());
        return LISTENING.matcher(output()).find();
    }

    int awaitMqttPort() {
        return Integer.parseInt(awaitOutput(LISTENING.pattern()));
    }

    int awaitHttpPort() {
        return Integer.parseInt(awaitOutput("started on port (\\d+)"));
    }

    boolean isAlive() {
        return process.isAlive();
    }

    boolean awaitEnd() throws InterruptedException {
        return process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    static Mqtt5BlockingClient client(int port) {
        return client(port, "");
    }

    static Mqtt5BlockingClient client(int port, String id) {
        return MqttClient.builder()
                .identifier(id)
                .useMqttVersion5()
                .serverHost("127.0.0.1")
                .serverPort(port)
                .buildBlocking();
    }

    static String get(int port, String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    static String post(int port, String path, String json) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(json))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    void stop() {
        process.destroy();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }
}
