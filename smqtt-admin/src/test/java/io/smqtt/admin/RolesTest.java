// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.admin.account.Role;
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
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each route may be called by the roles of the table {@code roles.txt}, and by no others. */
@Timeout(300)
class RolesTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String TOKEN = "0123456789abcdef-secret";
    private static final String ANYONE = "anyone";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    /** Routes with the roles that may call them. */
    private static Map<String, List<String>> table() throws IOException {
        return lines().map(line -> Arrays.asList(line.split(" +")))
                .collect(Collectors.toMap(
                        words -> words.get(0) + " " + words.get(1),
                        words -> words.subList(2, words.size()),
                        (one, other) -> {
                            throw new IllegalStateException("a route is in the table twice");
                        },
                        TreeMap::new));
    }

    /** Lines of the table: method, path and roles, separated by spaces. */
    static Stream<String> lines() throws IOException {
        try (InputStream file = Objects.requireNonNull(RolesTest.class.getResourceAsStream("roles.txt"))) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"));
        }
    }

    @Test
    void rolesMayDoWhatTheTableSays() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        try (ManagedBroker broker = new ManagedBroker(
                config -> config,
                management -> management.sysInterval(Duration.ZERO).tokenFile(file))) {
            Map<String, List<String>> table = table();
            List<String> routes = broker.module.routes().stream()
                    .map(route -> route.method() + " " + route.template())
                    .toList();
            assertThat(table).containsKeys(routes.toArray(String[]::new));
            table.keySet().retainAll(routes);
            String base = "http://127.0.0.1:"
                    + Objects.requireNonNull(broker.module.address()).getPort() + "/api/v5";
            Map<Role, String> keys = new TreeMap<>();
            for (Role role : Role.values()) {
                keys.put(role, key(base, role));
            }
            SoftAssertions all = new SoftAssertions();
            for (Map.Entry<String, List<String>> row : table.entrySet()) {
                boolean open = row.getValue().contains(ANYONE);
                all.assertThat(call(base, row.getKey(), "").startsWith("401 TOKEN_NEEDED"))
                        .as("%s without a caller", row.getKey())
                        .isNotEqualTo(open);
                for (Role role : Role.values()) {
                    boolean may = open || row.getValue().contains(role.text());
                    all.assertThat(call(base, row.getKey(), keys.get(role)))
                            .as("%s as %s", row.getKey(), role)
                            .matches(answer -> !answer.startsWith("401 TOKEN_NEEDED")
                                    && !answer.startsWith("401 BAD")
                                    && may != answer.equals("403 UNAUTHORIZED_ROLE"));
                }
            }
            all.assertAll();
        }
    }

    private String key(String base, Role role) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + "/api_key"))
                .header("Authorization", "Bearer " + TOKEN)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"name\":\"" + role.text() + "\",\"role\":\"" + role.text() + "\"}"))
                .build();
        JsonNode key = MAPPER.readTree(
                http.send(request, HttpResponse.BodyHandlers.ofString()).body());
        String text = key.get("api_key").asText() + ':' + key.get("api_secret").asText();
        return "Basic " + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Calls a route with parameters that do not exist; returns the status, of a refusal with its code. */
    private String call(String base, String route, String authorization) throws Exception {
        String[] words = route.split(" ");
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create(base + words[1].replaceAll("\\{[^}]*}", "none")))
                .timeout(Duration.ofSeconds(60))
                .header("Content-Type", "application/json")
                .method(words[0], HttpRequest.BodyPublishers.ofString("{}"));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        HttpResponse<InputStream> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream body = answer.body()) { // of a stream nothing is read
            boolean refused = answer.statusCode() == 401 || answer.statusCode() == 403;
            return answer.statusCode()
                    + (refused ? " " + MAPPER.readTree(body).path("code").asText() : "");
        }
    }
}
