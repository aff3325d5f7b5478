// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.config.ManagementConfigBuilder;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
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
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A broker, its MQTT clients, and a client of its API with the token. */
final class ApiBroker implements AutoCloseable {

    static final String TOKEN = "0123456789abcdef-secret";

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final List<RawClient> clients = new ArrayList<>();
    private final ManagedBroker broker;

    ApiBroker(Path directory) {
        this(directory, new ManagedBroker.Cluster(null));
    }

    /** A node of a cluster, as it seems. */
    ApiBroker(Path directory, ManagedBroker.Cluster cluster) {
        this(directory, cluster, management -> management);
    }

    /** The same, with further settings. */
    ApiBroker(Path directory, ManagedBroker.Cluster cluster, UnaryOperator<ManagementConfigBuilder> settings) {
        try {
            Path file = Files.writeString(directory.resolve("token"), TOKEN);
            broker = ManagedBroker.in(cluster, management -> settings.apply(management.tokenFile(file)));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * An answer.
     *
     * @param status the status
     * @param type the media type; empty if there is no content
     * @param text the content
     */
    record Reply(int status, String type, String text) {

        JsonNode json() {
            return ApiBroker.json(text);
        }
    }

    static JsonNode json(String text) {
        try {
            return MAPPER.readTree(text);
        } catch (IOException e) {
            throw new AssertionError(text, e);
        }
    }

    RawClient client(String clientId) {
        RawClient client = open();
        client.connect(clientId);
        return client;
    }

    /** A client whose session outlives its connection. */
    RawClient lasting(String clientId) {
        RawClient client = open();
        client.connect(ConnectBytes.of(clientId).persistent(3_600));
        return client;
    }

    private RawClient open() {
        RawClient client =
                RawClient.to(Objects.requireNonNull(broker.broker.listeners().get("tcp")), ProtocolVersion.MQTT_5);
        clients.add(client);
        return client;
    }

    Reply get(String path) {
        return send("GET", path, null);
    }

    Reply delete(String path) {
        return send("DELETE", path, null);
    }

    Reply post(String path, String body) {
        return send("POST", path, body);
    }

    /** The lines of a GET as they come; to be closed. */
    Stream<String> lines(String path) {
        try {
            return http.send(request("GET", path, null), HttpResponse.BodyHandlers.ofLines())
                    .body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The content of a GET as it is. */
    byte[] bytes(String path) {
        try {
            return http.send(request("GET", path, null), HttpResponse.BodyHandlers.ofByteArray())
                    .body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The status of a request with another token. */
    int status(String method, String path, String token) {
        try {
            HttpRequest request = HttpRequest.newBuilder(request(method, path, null), (name, value) -> true)
                    .setHeader("Authorization", "Bearer " + token)
                    .build();
            return http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private HttpRequest request(String method, String path, @Nullable String body) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                        + Objects.requireNonNull(broker.module.address()).getPort() + "/api/v5" + path))
                .timeout(PATIENCE)
                .header("Authorization", "Bearer " + TOKEN)
                .header("Content-Type", "application/json")
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    Reply send(String method, String path, @Nullable String body) {
        try {
            HttpResponse<String> answer = http.send(request(method, path, body), HttpResponse.BodyHandlers.ofString());
            return new Reply(
                    answer.statusCode(),
                    answer.headers().firstValue("content-type").orElse(""),
                    answer.body());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    ManagedBroker broker() {
        return broker;
    }

    @Override
    public void close() {
        clients.forEach(RawClient::close);
        broker.close();
    }
}
