// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.access.PasswordText;
import io.smqtt.config.ConfigurationException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Users and API keys of files can log in, and are read-only. */
@Timeout(120)
class AccountFilesTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String BEARER = "Bearer 0123456789abcdef-secret";
    private static final String SECRET = "a secret of a script";

    private static final String HASH = "b3ee";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private Path users;
    private Path keys;

    @BeforeEach
    void write() throws Exception {
        String hash = PasswordText.hash("correct horse".getBytes(StandardCharsets.UTF_8), 10);
        users = Files.writeString(
                directory.resolve("users"), "# people\n\nalice:" + hash + ":viewer\nroot:" + hash + ":administrator\n");
        keys = Files.writeString(directory.resolve("keys"), "exporter-1:" + SECRET + ":viewer\n");
        Files.writeString(directory.resolve("token"), "0123456789abcdef-secret");
    }

    private ManagedBroker broker() {
        return new ManagedBroker(
                config -> config,
                management -> management
                        .sysInterval(Duration.ZERO)
                        .tokenFile(directory.resolve("token"))
                        .usersFile(users)
                        .apiKeysFile(keys));
    }

    private HttpResponse<String> call(
            ManagedBroker broker, String method, String path, String authorization, @Nullable String body)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                        + Objects.requireNonNull(broker.module.address()).getPort() + "/api/v5" + path))
                .header("Content-Type", "application/json")
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String basic(String key, String secret) {
        return "Basic " + Base64.getEncoder().encodeToString((key + ':' + secret).getBytes(StandardCharsets.UTF_8));
    }

    private int login(ManagedBroker broker, String name) throws Exception {
        return call(broker, "POST", "/login", "", "{\"username\":\"" + name + "\",\"password\":\"correct horse\"}")
                .statusCode();
    }

    @Test
    void theyLogInAndCannotBeChanged() throws Exception {
        try (ManagedBroker broker = broker()) {
            assertThat(login(broker, "alice")).isEqualTo(200);
            assertThat(call(broker, "GET", "/stats", basic("exporter-1", SECRET), null)
                            .statusCode())
                    .isEqualTo(200);
            JsonNode list =
                    MAPPER.readTree(call(broker, "GET", "/users", BEARER, null).body());
            assertThat(list.findValuesAsText("backend")).containsExactly("file", "file");
            assertThat(call(broker, "GET", "/api_key", BEARER, null).body())
                    .contains("\"backend\":\"file\"")
                    .doesNotContain(SECRET);
            for (String change :
                    new String[] {"PUT /users/alice", "DELETE /users/alice", "DELETE /api_key/exporter-1"}) {
                String[] words = change.split(" ");
                HttpResponse<String> answer = call(
                        broker, words[0], words[1], BEARER, words[0].equals("PUT") ? "{\"role\":\"operator\"}" : null);
                assertThat(answer.statusCode()).as(change).isEqualTo(403);
                assertThat(answer.body()).contains("READ_ONLY");
            }
            assertThat(call(broker, "POST", "/data/export", BEARER, null).body())
                    .doesNotContain("alice");
        }
    }

    @Test
    void aReloadTakesWhatIsValid() throws Exception {
        try (ManagedBroker broker = broker()) {
            Files.writeString(users, Files.readString(users).replace("alice:", "bob:"));
            assertThat(call(broker, "POST", "/reload", BEARER, null).body()).contains(users.toString());
            await().until(() -> login(broker, "bob") == 200);
            assertThat(login(broker, "alice")).isEqualTo(401);

            Files.writeString(users, "bob:nonsense:viewer\n");
            Files.writeString(keys, "");
            JsonNode failed = MAPPER.readTree(
                            call(broker, "POST", "/reload", BEARER, null).body())
                    .path("failed");
            assertThat(failed.toString())
                    .contains("users:1: ")
                    .contains("truncated")
                    .doesNotContain("nonsense");
            assertThat(login(broker, "bob")).isEqualTo(200);
            assertThat(call(broker, "GET", "/stats", basic("exporter-1", SECRET), null)
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void malformedLinesAreNamedWithoutSecrets() throws Exception {
        Files.writeString(
                keys,
                "one line\nshort-key:123:viewer\nwrong-role:" + SECRET + ":king\nwrong-hash:$sha256$" + HASH
                        + ":viewer\n");
        assertThatThrownBy(this::broker)
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        error -> assertThat(error.problems())
                                .hasSize(4)
                                .noneMatch(problem -> problem.contains(SECRET) || problem.contains(HASH)));
    }
}
