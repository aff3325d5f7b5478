// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Logins, users, API keys and the audit, as scripts and the page use them. */
@Timeout(300)
class SecurityRoutesTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String TOKEN = "0123456789abcdef-secret";
    private static final String BEARER = "Bearer " + TOKEN;
    private static final String PASSWORD = "correct horse";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private ManagedBroker broker;

    @BeforeEach
    void start() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        broker = new ManagedBroker(
                config -> config,
                management -> management
                        .sysInterval(Duration.ZERO)
                        .tokenFile(file)
                        .auditFile(directory.resolve("audit.jsonl")));
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    /** An answer with its JSON, if it has one. */
    private record Answer(int status, JsonNode json, HttpResponse<String> http) {

        String code() {
            return json.path("code").asText();
        }
    }

    private Answer call(String method, String path, @Nullable String authorization, @Nullable String body)
            throws Exception {
        URI uri = URI.create("http://127.0.0.1:"
                + Objects.requireNonNull(broker.module.address()).getPort() + "/api/v5" + path);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(100))
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        return new Answer(answer.statusCode(), MAPPER.readTree(answer.body()), answer);
    }

    private String login(String name, String password) throws Exception {
        Answer answer = call("POST", "/login", null, credentials(name, password));
        assertThat(answer.status).isEqualTo(200);
        return "Bearer " + answer.json.get("token").asText();
    }

    private static String credentials(String name, String password) {
        return "{\"username\":\"" + name + "\",\"password\":\"" + password + "\"}";
    }

    private Answer create(String name, String role) throws Exception {
        return call(
                "POST",
                "/users",
                BEARER,
                "{\"username\":\"" + name + "\",\"password\":\"" + PASSWORD + "\",\"role\":\"" + role
                        + "\",\"description\":\"d\"}");
    }

    private static String basic(JsonNode key) {
        String text = key.get("api_key").asText() + ':' + key.get("api_secret").asText();
        return "Basic " + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void usersAreCreatedChangedAndDeleted() throws Exception {
        Answer made = create("chief", "administrator");
        assertThat(made.status).isEqualTo(200);
        assertThat(made.json.get("username").asText()).isEqualTo("chief");
        assertThat(made.json.get("backend").asText()).isEqualTo("local");
        assertThat(made.http.body()).doesNotContain("password").doesNotContain("$7$");
        assertThat(create("chief", "viewer").code()).isEqualTo("ALREADY_EXISTS");
        assertThat(create("p", "publisher").status).isEqualTo(400);

        String chief = login("chief", PASSWORD);
        create("alice", "viewer");
        assertThat(call("PUT", "/users/alice", chief, "{\"role\":\"operator\"}")
                        .json
                        .get("role")
                        .asText())
                .isEqualTo("operator");
        Answer stale = call("PUT", "/users/alice", chief, "{\"role\":\"viewer\",\"version\":1}");
        assertThat(stale.status).isEqualTo(409);
        assertThat(call("PUT", "/users/chief", chief, "{\"role\":\"viewer\"}").code())
                .isEqualTo("NOT_ALLOWED");
        assertThat(call("DELETE", "/users/chief", chief, null).code()).isEqualTo("NOT_ALLOWED");
        assertThat(call("DELETE", "/users/chief", BEARER, null).status).isEqualTo(400); // the last administrator
        assertThat(call("DELETE", "/users/alice?version=1", chief, null).status).isEqualTo(409);
        assertThat(call("DELETE", "/users/alice", chief, null).status).isEqualTo(204);
        assertThat(call("DELETE", "/users/alice", chief, null).code()).isEqualTo("USER_NOT_FOUND");
        assertThat(call("GET", "/users", chief, null).json).hasSize(1);
        assertThat(call("POST", "/logout", chief, "{\"username\":\"chief\"}").status)
                .isEqualTo(204);
        assertThat(call("GET", "/users", chief, null).code()).isEqualTo("BAD_TOKEN");
    }

    @Test
    void usersChangeTheirOwnPasswordsOnly() throws Exception {
        create("chief", "administrator");
        create("alice", "viewer");
        String alice = login("alice", PASSWORD);
        String change = "{\"old_pwd\":\"" + PASSWORD + "\",\"new_pwd\":\"battery staple\"}";

        assertThat(call("POST", "/users/chief/change_pwd", alice, change).status)
                .isEqualTo(403);
        assertThat(call("POST", "/users/alice/change_pwd", alice, change.replace("correct", "wrong"))
                        .code())
                .isEqualTo("ERROR_PWD_NOT_MATCH");
        assertThat(call("POST", "/users/alice/change_pwd", alice, change).status)
                .isEqualTo(204);
        assertThat(call("POST", "/users/alice/change_pwd", alice, change).status)
                .isEqualTo(401);
        login("alice", "battery staple");
    }

    @Test
    void wrongLoginsAreRefusedAndThenHaveToWait() throws Exception {
        create("chief", "administrator");
        for (int i = 0; i < 5; i++) {
            Answer wrong = call("POST", "/login", null, credentials("chief", "wrong"));
            assertThat(wrong.status).isEqualTo(401);
            assertThat(wrong.code()).isEqualTo("BAD_USERNAME_OR_PWD");
        }
        Answer locked = call("POST", "/login", null, credentials("chief", PASSWORD));
        assertThat(locked.status).isEqualTo(429);
        assertThat(locked.code()).isEqualTo("LOGIN_LOCKED");
        assertThat(locked.http.headers().firstValueAsLong("Retry-After").orElse(0))
                .isBetween(1L, 61L);
        assertThat(call("POST", "/login", null, "{}").status).isEqualTo(400);
    }

    @Test
    void keysAreShownOnceAndCannotMakeOthers() throws Exception {
        Answer made = call("POST", "/api_key", BEARER, "{\"name\":\"ci\",\"role\":\"administrator\",\"desc\":\"d\"}");
        assertThat(made.status).isEqualTo(200);
        assertThat(made.json.get("expired_at").asText()).isEqualTo("infinity");
        String key = basic(made.json);

        assertThat(call("GET", "/api_key/ci", key, null).json.has("api_secret")).isFalse();
        assertThat(call("GET", "/api_key", key, null).json).hasSize(1);
        assertThat(call("POST", "/api_key", key, "{\"name\":\"other\"}").code()).isEqualTo("API_KEY_NOT_ALLOW");
        assertThat(call("POST", "/users", key, credentials("x", PASSWORD)).status)
                .isEqualTo(403);
        assertThat(call("GET", "/users", key + "x", null).code()).isEqualTo("BAD_API_KEY_OR_SECRET");
        Answer changed =
                call("PUT", "/api_key/ci", BEARER, "{\"expired_at\":\"2001-01-01T00:00:00+01:00\",\"enable\":true}");
        assertThat(changed.json.get("expired").asBoolean()).isTrue();
        assertThat(call("GET", "/api_key", key, null).status).isEqualTo(401);
        assertThat(call("PUT", "/api_key/ci", BEARER, "{\"expired_at\":\"soon\"}").status)
                .isEqualTo(400);
        assertThat(call("DELETE", "/api_key/ci", BEARER, null).status).isEqualTo(204);
        assertThat(call("GET", "/api_key/ci", BEARER, null).code()).isEqualTo("NOT_FOUND");
    }

    @Test
    void changesAndRefusalsAreInTheAuditWithoutSecrets() throws Exception {
        create("chief", "administrator");
        create("alice", "viewer");
        call("POST", "/login", null, credentials("alice", "wrong"));
        String alice = login("alice", PASSWORD);
        call("GET", "/users", alice, null);
        call("DELETE", "/users/alice", BEARER, null);
        call("GET", "/users", BEARER, null);

        JsonNode audit = call("GET", "/audit?limit=5", BEARER, null).json;
        JsonNode data = audit.get("data");
        assertThat(audit.get("meta").get("count").asInt()).isEqualTo(6);
        assertThat(audit.get("meta").get("hasnext").asBoolean()).isTrue();
        assertThat(data.findValuesAsText("operation_id"))
                .containsExactly("/users/{username}", "/users", "/login", "/login", "/users");
        assertThat(data.findValuesAsText("source")).containsExactly("token", "alice", "alice", "alice", "token");
        assertThat(data.findValuesAsText("http_status_code")).containsExactly("204", "403", "200", "401", "200");
        assertThat(data.findValuesAsText("source_ip")).containsOnly("127.0.0.1");
        assertThat(data.get(0)
                        .get("http_request")
                        .get("bindings")
                        .get("username")
                        .asText())
                .isEqualTo("alice");
        assertThat(data.get(1).get("failure").asText()).isEqualTo("UNAUTHORIZED_ROLE");
        assertThat(call("GET", "/audit?operation_result=failure&source=alice", BEARER, null)
                        .json
                        .get("data"))
                .hasSize(2);
        assertThat(call("GET", "/audit?gte_created_at=2999-01-01T00:00:00Z", BEARER, null)
                        .json
                        .get("data"))
                .isEmpty();
        assertThat(call("GET", "/audit?gte_created_at=soon", BEARER, null).status)
                .isEqualTo(400);
        Path file = directory.resolve("audit.jsonl");
        await().until(() -> Files.exists(file) && Files.readAllLines(file).size() == 6);
        assertThat(Files.readString(file))
                .doesNotContain("horse")
                .doesNotContain("wrong")
                .contains("\"username\"");
    }

    @Test
    void manyWrongLoginsDoNotPushOtherLinesOutOfTheAudit() throws Exception {
        create("chief", "administrator");
        for (int i = 0; i < 60; i++) {
            assertThat(call("POST", "/login", null, credentials("chief", "wrong")).status)
                    .isBetween(401, 429);
        }
        JsonNode audit = call("GET", "/audit", BEARER, null).json;
        assertThat(audit.get("meta").get("count").asInt()).isBetween(2, 41); // at most 20 a minute
    }

    @Test
    void whoMayChangeNothingDoesNotPushOtherLinesOutOfTheAudit() throws Exception {
        create("alice", "viewer");
        String key = basic(call("POST", "/api_key", BEARER, "{\"name\":\"ci\",\"role\":\"viewer\"}").json);
        for (int i = 0; i < 60; i++) {
            assertThat(call("POST", "/logout", key, "{}").status).isEqualTo(204);
        }
        JsonNode audit = call("GET", "/audit", BEARER, null).json;
        assertThat(audit.get("meta").get("count").asInt()).isBetween(3, 42); // at most 20 a minute
    }

    @Test
    void filesAreReadAgain() throws Exception {
        Answer reloaded = call("POST", "/reload", BEARER, null);
        assertThat(reloaded.status).isEqualTo(200);
        assertThat(reloaded.json.get("reloaded").toString()).contains("token");
        assertThat(reloaded.json.get("failed")).isEmpty();
        Files.writeString(directory.resolve("token"), "");
        Answer failed = call("POST", "/reload", BEARER, null);
        assertThat(failed.status).isEqualTo(200);
        assertThat(failed.json.get("reloaded")).isEmpty();
        assertThat(failed.json.get("failed").toString()).contains("token");
        assertThat(call("GET", "/users", BEARER, null).status).isEqualTo(200);
    }

    @Test
    void aReloadByASignalIsInTheAuditAsOneByARequestIs() throws Exception {
        call("POST", "/reload", BEARER, null);
        broker.module.reloadedBySignal(List.of());

        JsonNode lines =
                call("GET", "/audit?operation_type=reload", BEARER, null).json.get("data");

        assertThat(lines.findValuesAsText("from")).containsExactly("signal", "rest_api");
        assertThat(lines.findValuesAsText("source")).containsExactly("SIGHUP", "token");
        assertThat(lines.findValuesAsText("operation_id")).containsOnly("/reload");
        assertThat(lines.findValuesAsText("operation_result")).containsOnly("success");
    }

    /** Also where the answer is 200, because the other files were read. */
    @Test
    void aReloadThatFailedIsAFailureInTheAudit() throws Exception {
        Files.writeString(directory.resolve("token"), "");
        assertThat(call("POST", "/reload", BEARER, null).status).isEqualTo(200);
        broker.module.reloadedBySignal(broker.broker.reload().failed());

        JsonNode lines = call("GET", "/audit?operation_result=failure", BEARER, null)
                .json
                .get("data");

        assertThat(lines.findValuesAsText("from")).containsExactly("signal", "rest_api");
        assertThat(lines.findValuesAsText("operation_id")).containsOnly("/reload");
        assertThat(lines.findValuesAsText("failure"))
                .allSatisfy(failure ->
                        assertThat(failure).contains(directory.resolve("token").toString()));
    }

    @Test
    void theAuditSaysWhoWasBannedAndNoValueOfALogin() throws Exception {
        call("POST", "/banned", BEARER, "{\"as\":\"clientid\",\"who\":\"pump-7\",\"reason\":\"floods\"}");
        call("POST", "/login", null, credentials("hunter2", "hunter2"));
        call("POST", "/users", BEARER, "{\"username\":\"bob\",\"role\":\"viewer\",\"password\":\"" + PASSWORD + "\"}");

        JsonNode lines = call("GET", "/audit", BEARER, null).json.get("data");

        assertThat(lines.findValuesAsText("operation_id")).containsExactly("/users", "/login", "/banned");
        assertThat(lines.get(0).get("http_request").get("body").toString())
                .isEqualTo("{\"role\":\"viewer\",\"username\":\"bob\"}");
        assertThat(lines.get(1).get("http_request").get("body")).isEmpty();
        assertThat(lines.get(2).get("http_request").get("body").toString())
                .isEqualTo("{\"as\":\"clientid\",\"who\":\"pump-7\"}");
    }

    @Test
    void allObjectsAreExportedAndImported() throws Exception {
        create("chief", "administrator");
        String secret = basic(call("POST", "/api_key", BEARER, "{\"name\":\"ci\",\"role\":\"viewer\"}").json);
        String file = call("POST", "/data/export", BEARER, null).http.body();
        call("DELETE", "/api_key/ci", BEARER, null);
        create("alice", "viewer");

        for (String bad : new String[] {
            "{}",
            file.replace("\"user\"", "\"unknown\""),
            file.replace("\"administrator\"", "\"publisher\""),
            file.replace("\"administrator\"", "\"viewer\""), // the last administrator
            file.replace("$7$", "$8$")
        }) {
            assertThat(call("POST", "/data/import", BEARER, bad).status).isEqualTo(400);
        }
        assertThat(call("GET", "/api_key", BEARER, null).json).isEmpty();
        assertThat(call("POST", "/data/import", BEARER, file)
                        .json
                        .get("imported")
                        .asInt())
                .isEqualTo(2);
        assertThat(call("GET", "/users", BEARER, null).json).hasSize(2); // others stay
        assertThat(call("GET", "/audit", secret, null).code()).isEqualTo("UNAUTHORIZED_ROLE");
        login("chief", PASSWORD);
    }

    @Test
    void theConfigurationIsShown() throws Exception {
        broker.module.configuration(Map.of("cluster.secret", "***"), key -> "/etc/smqtt/smqtt.yaml:3");
        JsonNode data = call("GET", "/configs", BEARER, null).json.get("data");

        assertThat(data).hasSize(1);
        assertThat(data.get(0).get("key").asText()).isEqualTo("cluster.secret");
        assertThat(data.get(0).get("value").asText()).isEqualTo("***");
        assertThat(data.get(0).get("origin").asText()).isEqualTo("/etc/smqtt/smqtt.yaml:3");
    }

    @Test
    void aForeignPageIsRefused() throws Exception {
        assertThat(broker.get("/api/v5/status", "Origin", "http://evil.example").statusCode())
                .isEqualTo(403);
        assertThat(broker.get("/api/v5/status").statusCode()).isEqualTo(200);
    }
}
