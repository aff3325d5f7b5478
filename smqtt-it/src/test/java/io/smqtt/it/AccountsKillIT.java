// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users and API keys are there after the broker was killed right after its answer. */
class AccountsKillIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String FIRST = "log in as admin with the password ";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    private HttpResponse<String> call(
            BrokerProcess broker, String method, String path, String authorization, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + broker.port("management") + "/api/v5" + path))
                .timeout(PATIENCE)
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String field(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
        assertThat(found.find()).as("%s in %s", name, json).isTrue();
        return found.group(1);
    }

    private String login(BrokerProcess broker, String name, String password) throws Exception {
        HttpResponse<String> answer =
                call(broker, "POST", "/login", "", "{\"username\":\"" + name + "\",\"password\":\"" + password + "\"}");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return "Bearer " + field(answer.body(), "token");
    }

    private static String changed(String before, String after) {
        return "{\"old_pwd\":\"" + before + "\",\"new_pwd\":\"" + after + "\"}";
    }

    @Test
    void usersAndKeysSurviveTheKillOfTheBroker() throws Exception {
        String key;
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            String line = broker.awaitLine(FIRST);
            String first = line.substring(line.indexOf(FIRST) + FIRST.length()).split(" ", 2)[0];
            String admin = login(broker, "admin", first);
            assertThat(call(broker, "POST", "/users/admin/change_pwd", admin, changed(first, "correct horse"))
                            .statusCode())
                    .isEqualTo(204);
            admin = login(broker, "admin", "correct horse");
            HttpResponse<String> made =
                    call(broker, "POST", "/api_key", admin, "{\"name\":\"ci\",\"role\":\"administrator\"}");
            key = "Basic "
                    + Base64.getEncoder()
                            .encodeToString((field(made.body(), "api_key") + ':' + field(made.body(), "api_secret"))
                                    .getBytes(StandardCharsets.UTF_8));
            call(broker, "POST", "/api_key", admin, "{\"name\":\"gone\"}");
            assertThat(call(broker, "DELETE", "/api_key/gone", admin, "").statusCode())
                    .isEqualTo(204);
            broker.kill9();
        }
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            assertThat(broker.output()).noneMatch(line -> line.contains(FIRST));
            HttpResponse<String> keys = call(broker, "GET", "/api_key", key, "");
            assertThat(keys.body())
                    .contains("\"ci\"")
                    .doesNotContain("\"gone\"")
                    .doesNotContain("secret");
            login(broker, "admin", "correct horse");
            assertThat(call(broker, "GET", "/configs", key, "").body())
                    .contains("\"key\":\"storage.kind\"")
                    .containsPattern("\"origin\":\"[^\"]*\\.yaml:\\d+\"")
                    .contains("\"origin\":\"default\"");
            assertThat(Files.readString(directory.resolve("data").resolve("audit.jsonl")))
                    .contains("/users/{username}/change_pwd")
                    .doesNotContain("correct horse");
        }
    }
}
