// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A stream ends with the login of its caller, and a caller has few. */
@Timeout(120)
class StreamLoginTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String TOKEN = "0123456789abcdef-secret";
    private static final String BEARER = "Bearer " + TOKEN;
    private static final String USER = "{\"username\":\"alice\",\"password\":\"correct horse\"%s}";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private final List<InputStream> streams = new ArrayList<>();
    private ManagedBroker broker;

    @BeforeEach
    void start() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        broker = new ManagedBroker(
                config -> config,
                management -> management.sysInterval(Duration.ZERO).tokenFile(file));
        call("POST", "/users", BEARER, USER.formatted(",\"role\":\"viewer\""));
    }

    @AfterEach
    void stop() throws IOException {
        for (InputStream stream : streams) {
            stream.close();
        }
        broker.close();
    }

    private HttpRequest request(String method, String path, String authorization, @Nullable String body) {
        String base = "http://127.0.0.1:"
                + Objects.requireNonNull(broker.module.address()).getPort() + "/api/v5";
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                .header("Content-Type", "application/json")
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        return request.build();
    }

    private JsonNode call(String method, String path, String authorization, @Nullable String body) throws Exception {
        return MAPPER.readTree(
                http.send(request(method, path, authorization, body), HttpResponse.BodyHandlers.ofString())
                        .body());
    }

    private String login() throws Exception {
        return "Bearer "
                + call("POST", "/login", "", USER.formatted("")).path("token").asText();
    }

    private HttpResponse<InputStream> stream(String authorization) throws Exception {
        HttpResponse<InputStream> answer = http.send(
                request("GET", "/stream?topics=monitor", authorization, null),
                HttpResponse.BodyHandlers.ofInputStream());
        streams.add(answer.body());
        return answer;
    }

    /** An open stream of which something was read. */
    private InputStream opened(String authorization) throws Exception {
        HttpResponse<InputStream> answer = stream(authorization);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body().read()).isPositive();
        return answer.body();
    }

    @Test
    void aStreamEndsWithTheLogin() throws Exception {
        String alice = login();
        InputStream stream = opened(alice);
        InputStream other = opened(login());
        call("POST", "/logout", alice, "{}");
        stream.readAllBytes();
        assertThat(other.read()).isPositive();
    }

    @Test
    void aStreamEndsWithTheUser() throws Exception {
        InputStream stream = opened(login());
        call("DELETE", "/users/alice", BEARER, null);
        stream.readAllBytes();
    }

    @Test
    void aStreamEndsWithTheRole() throws Exception {
        String alice = login();
        InputStream stream = opened(alice);
        call("PUT", "/users/alice", BEARER, "{\"role\":\"operator\"}");
        stream.readAllBytes();
        opened(alice);
    }

    @Test
    void aStreamEndsWithTheKey() throws Exception {
        JsonNode key = call("POST", "/api_key", BEARER, "{\"name\":\"ci\",\"role\":\"viewer\"}");
        String text =
                key.path("api_key").asText() + ':' + key.path("api_secret").asText();
        InputStream stream =
                opened("Basic " + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8)));
        call("PUT", "/api_key/ci", BEARER, "{\"enable\":false}");
        stream.readAllBytes();
    }

    @Test
    void aCallerHasFourStreamsAndLocksNobodyOut() throws Exception {
        String alice = login();
        List<InputStream> open = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            open.add(opened(i % 2 == 0 ? alice : login()));
        }
        assertThat(stream(alice).statusCode()).isEqualTo(429);
        for (int i = 0; i < 5; i++) { // several people may share the token
            opened(BEARER);
        }

        call("POST", "/logout", alice, "{}");
        open.get(0).readAllBytes();
        open.get(2).readAllBytes();
        opened(login());
    }
}
