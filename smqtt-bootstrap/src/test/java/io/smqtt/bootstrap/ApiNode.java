// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.BrokerBuilder;
import io.smqtt.admin.AdminModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.test.TestBroker;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/** A broker of a test with its API, and requests to that. */
class ApiNode implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String TOKEN = "0123456789abcdef-secret";
    private static final ObjectMapper JSON = new ObjectMapper();

    final TestBroker broker;
    private final AdminModule admin;
    private final HttpClient http = HttpClient.newHttpClient();

    /** An answer of the API. */
    record Reply(int status, String body) {}

    /**
     * Starts a broker.
     *
     * @param directory where its token is
     * @param blocks its configuration, beside listeners and management
     * @param parts its modules and store, by the configuration
     */
    ApiNode(
            Path directory,
            UnaryOperator<BrokerConfigBuilder> blocks,
            BiFunction<BrokerConfig, BrokerBuilder, BrokerBuilder> parts)
            throws IOException {
        ManagementConfig management = ManagementConfig.builder()
                .port(0)
                .sysInterval(Duration.ZERO)
                .tokenFile(Files.writeString(directory.resolve("token"), TOKEN))
                .build();
        BrokerConfig config = blocks.apply(BrokerConfig.builder()
                        .listeners(Map.of("mqtt", ListenerConfig.tcp(0)))
                        .management(management))
                .build();
        admin = AdminModule.create(config);
        broker = TestBroker.builder()
                .config(all -> blocks.apply(all.management(management)))
                .parts(builder -> parts.apply(config, builder).module(admin))
                .start();
    }

    Reply send(String method, String path, String body) throws IOException, InterruptedException {
        int port = Objects.requireNonNull(admin.address()).getPort();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v5" + path))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .header("Authorization", "Bearer " + TOKEN)
                .header("Content-Type", "application/json")
                .timeout(PATIENCE)
                .build();
        var answer = http.send(request, BodyHandlers.ofString());
        return new Reply(answer.statusCode(), answer.body());
    }

    JsonNode get(String path) throws IOException, InterruptedException {
        return JSON.readTree(send("GET", path, "").body());
    }

    @Override
    public void close() {
        broker.close();
    }
}
