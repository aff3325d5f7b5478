// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.backend.Template;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random templates with hostile values: a value never leaves its place in a request. */
class HttpQuestionFuzzTest {

    private static final int ROUNDS = Integer.getInteger("smqtt.fuzz.rounds", 3_000);
    private static final long SEED = Long.getLong("smqtt.seed", 17);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] HOSTILE = {
        "..",
        ".",
        "/",
        "//",
        "?",
        "#",
        "&",
        "=",
        "%",
        "%2e",
        "%00",
        "\r\n",
        "\n",
        "\t",
        " ",
        "\"",
        "'",
        "\\",
        "{",
        "}",
        "${username}",
        "${password}",
        "@",
        ":",
        ";",
        "é",
        "\u2028",
        "\ud83d\ude00",
        "a",
        "b",
        "\u0001",
        "<",
        "http://other/",
        "+"
    };

    private static String value(Random random) {
        StringBuilder value = new StringBuilder();
        for (int i = random.nextInt(5); i >= 0; i--) {
            value.append(HOSTILE[random.nextInt(HOSTILE.length)]);
        }
        return value.toString();
    }

    private static BackendRequest client(Random random) {
        String clientId = value(random);
        String userName = random.nextInt(8) == 0 ? null : value(random);
        return client(clientId, userName, value(random), random.nextBoolean() ? Map.of() : Map.of("a", value(random)));
    }

    private static BackendRequest client(
            String clientId, @Nullable String userName, String password, Map<String, String> attributes) {
        return new BackendRequest(
                clientId,
                userName,
                password.getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("192.0.2.7", 4711),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                attributes);
    }

    private static HttpQuestion question(Map<String, String> keys) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        keys.forEach((key, text) -> values.put(key, new ConfigValue(text, "smqtt.yaml:1", Path.of(""))));
        BackendSettings settings = BackendSettings.of("web", new HttpBackendFactory().settings(), values);
        return HttpQuestion.emqx(settings, "", Template.Scope.USER, Map.of());
    }

    @Test
    void valuesStayInTheirPlace() throws Exception {
        HttpQuestion json = question(Map.of(
                "url", "http://h:1/u/${username}/x?c=${clientid}&a=${client_attrs.a}",
                "headers.x-user", "u ${username}",
                "body.u", "${username}",
                "body.p", "<${password}>"));
        HttpQuestion form = question(Map.of(
                "url", "http://h:1/u",
                "headers.content-type", "application/x-www-form-urlencoded",
                "body.u", "${username}",
                "body.p", "<${password}>"));
        for (int round = 0; round < ROUNDS; round++) {
            long seed = SEED + round;
            BackendRequest client = client(new Random(seed));
            String user = client.userName() == null ? "" : client.userName();
            String attribute = client.attributes().getOrDefault("a", "");
            HttpQuestion.Filled filled = json.fill(client);

            URI uri = URI.create(filled.url());
            assertThat(uri.getAuthority()).as("seed %d", seed).isEqualTo("h:1");
            assertThat(uri.getRawFragment()).as("seed %d", seed).isNull();
            String[] segments = uri.getRawPath().split("/", -1);
            assertThat(segments).as("seed %d", seed).hasSize(4);
            assertThat(URLDecoder.decode(segments[2], StandardCharsets.UTF_8)).isEqualTo(user);
            boolean leaves = Stream.of(user.replace('\\', '/').split("/", -1))
                    .anyMatch(segment -> segment.equals(".") || segment.equals(".."));
            assertThat(json.leavesPath(client)).as("seed %d", seed).isEqualTo(leaves);
            String[] query = uri.getRawQuery().split("&", -1);
            assertThat(query).as("seed %d", seed).hasSize(2);
            assertThat(URLDecoder.decode(query[0], StandardCharsets.UTF_8)).isEqualTo("c=" + client.clientId());
            assertThat(URLDecoder.decode(query[1], StandardCharsets.UTF_8)).isEqualTo("a=" + attribute);
            assertThat(filled.headers().get("x-user"))
                    .as("seed %d", seed)
                    .startsWith("u ")
                    .matches("[ -~]*");
            JsonNode body = JSON.readTree(filled.body());
            assertThat(body.size()).as("seed %d", seed).isEqualTo(2);
            assertThat(body.get("u").textValue()).isEqualTo(user);
            assertThat(body.get("p").textValue()).isEqualTo("<" + client.passwordText() + ">");

            String[] fields = String.valueOf(form.fill(client).body()).split("&", -1);
            assertThat(fields).as("seed %d", seed).hasSize(2);
            assertThat(fields)
                    .extracting(field -> URLDecoder.decode(field, StandardCharsets.UTF_8))
                    .containsExactlyInAnyOrder("u=" + user, "p=<" + client.passwordText() + ">");
        }
    }

    /** Servers that decode before they resolve answer another path for them. */
    @ParameterizedTest
    @CsvSource({
        "../health,true",
        "..\\health,true",
        "a/../../health,true",
        "a/.,true",
        "a?/..,true",
        "..,true",
        "a/b,false",
        "..a/b..,false",
        "a..b,false"
    })
    void aValueCannotChooseAnotherPath(String user, boolean leaves) {
        HttpQuestion question = question(Map.of("url", "http://h:1/acl/${username}?u=${clientid}"));

        assertThat(question.leavesPath(client("../c", user, "", Map.of()))).isEqualTo(leaves);
    }

    @Test
    void aUrlIsUsableOrRejectedWithItsLine() {
        String[] parts = {
            "http://",
            "https://",
            "h",
            ":1",
            "/",
            "?",
            "#",
            "${username}",
            "${nobody}",
            "${",
            "}",
            "@",
            "%",
            "..",
            " ",
            "[::1]",
            "x"
        };
        for (int round = 0; round < ROUNDS; round++) {
            Random random = new Random(SEED + round);
            StringBuilder url = new StringBuilder(random.nextInt(4) == 0 ? "" : "http://h");
            for (int i = random.nextInt(6); i >= 0; i--) {
                url.append(parts[random.nextInt(parts.length)]);
            }
            try {
                String filled = question(Map.of("url", url.toString()))
                        .fill(client(random))
                        .url();
                int slash = filled.indexOf('/', filled.indexOf("://") + 3);
                assertThat(filled.substring(0, slash))
                        .as("seed %d", SEED + round)
                        .doesNotContain("$", "@", "username");
            } catch (io.smqtt.config.ConfigurationException e) {
                assertThat(e)
                        .as("seed %d", SEED + round)
                        .hasMessageStartingWith("smqtt.yaml:1: access.backends.web.url ");
            }
        }
    }
}
