// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.smqtt.admin.ApiBroker.Reply;
import io.smqtt.admin.api.Api;
import io.smqtt.admin.api.Route;
import io.smqtt.config.BrokerConfig;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code openapi.yaml} has the routes of the broker, and a running broker answers its examples as it says. */
class OpenApiTest {

    private static final List<String> METHODS = List.of("get", "post", "put", "delete");

    @TempDir
    Path directory;

    private JsonNode description;

    @BeforeEach
    void read() throws IOException {
        description = new YAMLMapper()
                .readTree(io.smqtt.admin.broker.OpenApiRoutes.class.getResourceAsStream("openapi.yaml"));
    }

    private static List<Route> routes() {
        BrokerConfig config = BrokerConfig.builder().build();
        ManagementToken token = ManagementToken.of(config);
        return AdminParts.of(
                        config,
                        new BrokerView(),
                        "",
                        accounts -> AdminParts.callers(config, token, accounts),
                        List::of,
                        true)
                .mounted()
                .stream()
                .map(Api::routes)
                .flatMap(List::stream)
                .toList();
    }

    private Set<String> described() {
        Set<String> all = new TreeSet<>();
        description.path("paths").properties().forEach(path -> {
            for (String method : METHODS) {
                if (path.getValue().has(method)) {
                    all.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey());
                }
            }
        });
        return all;
    }

    @Test
    void eachDescribedPathIsARoute() {
        Set<String> routes = new TreeSet<>();
        routes().forEach(route -> routes.add(route.method() + " " + route.template()));

        assertThat(routes).containsAll(described());
    }

    @Test
    void eachRouteOfTheBrokerIsDescribed() {
        Set<String> routes = new TreeSet<>();
        routes().forEach(route -> routes.add(route.method() + " " + route.template()));

        assertThat(routes).hasSizeGreaterThan(30);
        assertThat(described()).containsAll(routes);
    }

    @Test
    void eachOperationNamesTheRolesThatMayCallIt() throws IOException {
        Set<String> roles = new TreeSet<>();
        description
                .path("paths")
                .properties()
                .forEach(path -> METHODS.stream().filter(path.getValue()::has).forEach(method -> {
                    String words = method.toUpperCase(Locale.ROOT) + " " + path.getKey();
                    for (JsonNode role : path.getValue().path(method).path("x-roles")) {
                        words += " " + role.asText();
                    }
                    roles.add(words);
                }));

        assertThat(roles)
                .isEqualTo(RolesTest.lines()
                        .map(line -> line.replaceAll(" +", " "))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void examplesAreAnsweredAsDescribed() {
        try (ApiBroker api = new ApiBroker(directory)) {
            RawClient client = api.lasting("sensor-1");
            client.subscribe("alarms/#", 1);
            api.post("/publish", "{\"topic\":\"state/1\",\"payload\":\"x\",\"retain\":true}");
            List<String> wrong = new ArrayList<>();
            for (String method : METHODS) {
                description.path("paths").properties().forEach(path -> {
                    JsonNode operation = path.getValue().path(method);
                    if (!operation.isMissingNode()) {
                        check(api, method, path.getKey(), path.getValue(), operation, wrong);
                    }
                });
            }
            assertThat(wrong).isEmpty();
        }
    }

    private void check(
            ApiBroker api, String method, String template, JsonNode path, JsonNode operation, List<String> wrong) {
        List<JsonNode> parameters = new ArrayList<>();
        path.path("parameters").forEach(one -> parameters.add(resolved(one)));
        operation.path("parameters").forEach(one -> parameters.add(resolved(one)));
        String target = template;
        String query = "";
        String needed = "";
        for (JsonNode parameter : parameters) {
            String name = parameter.path("name").asText();
            String value = URLEncoder.encode(parameter.path("example").asText(), StandardCharsets.UTF_8)
                    .replace("+", "%20");
            if (parameter.path("in").asText().equals("path")) {
                target = target.replace("{" + name + "}", value);
            } else if (parameter.has("example")) {
                query += (query.isEmpty() ? "?" : "&") + name + "=" + value;
                needed += parameter.path("required").asBoolean() ? "?" + name + "=" + value : "";
            }
        }
        JsonNode content = operation.path("requestBody").path("content").path("application/json");
        String body = content.has("example") ? content.path("example").toString() : method.equals("post") ? "" : null;
        for (String tail : query.equals(needed) ? List.of(query) : List.of(needed, query)) {
            String call = method.toUpperCase(Locale.ROOT) + " " + target + tail;
            verify(call, operation, api.send(method.toUpperCase(Locale.ROOT), target + tail, body), wrong);
        }
    }

    private void verify(String call, JsonNode operation, Reply reply, List<String> wrong) {
        JsonNode answer = resolved(operation.path("responses").path(Integer.toString(reply.status())));
        if (answer.isMissingNode() || reply.status() >= 500) {
            wrong.add(call + ": status " + reply.status() + " " + reply.text());
            return;
        }
        String type = reply.type().split(";", 2)[0];
        if (type.isEmpty() && !answer.has("content")) {
            return;
        }
        JsonNode schema = answer.path("content").path(type).path("schema");
        if (schema.isMissingNode()) {
            wrong.add(call + ": status " + reply.status() + " of type " + reply.type());
        } else if (type.endsWith("json")) {
            String problem = problem(schema, reply.json(), "");
            if (problem != null) {
                wrong.add(call + problem + ": " + reply.text());
            }
        }
    }

    private JsonNode resolved(JsonNode node) {
        return node.has("$ref") ? description.at(node.path("$ref").asText().substring(1)) : node;
    }

    /** What a value has that its schema does not allow: the part of JSON Schema that the file uses. */
    private @Nullable String problem(JsonNode given, JsonNode value, String at) {
        JsonNode schema = resolved(given);
        if (schema.has("anyOf")) {
            for (JsonNode one : schema.path("anyOf")) {
                if (problem(one, value, at) == null) {
                    return null;
                }
            }
            return at + " is none of the kinds";
        }
        JsonNode type = schema.path("type");
        boolean matches = type.isMissingNode();
        for (JsonNode one : type.isArray() ? type : List.of(type)) {
            matches |= isOf(one.asText(), value);
        }
        if (!matches) {
            return at + " is no " + type;
        }
        if (schema.has("enum") && !contains(schema.path("enum"), value)) {
            return at + " is none of " + schema.path("enum");
        }
        for (JsonNode name : schema.path("required")) {
            if (!value.has(name.asText())) {
                return at + " has no " + name;
            }
        }
        for (int i = 0; value.isArray() && schema.has("items") && i < value.size(); i++) {
            String found = problem(schema.path("items"), value.path(i), at + "[" + i + "]");
            if (found != null) {
                return found;
            }
        }
        for (var property : schema.path("properties").properties()) {
            JsonNode field = value.path(property.getKey());
            String found =
                    field.isMissingNode() ? null : problem(property.getValue(), field, at + "." + property.getKey());
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static boolean contains(JsonNode all, JsonNode value) {
        for (JsonNode one : all) {
            if (one.equals(value)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOf(String type, JsonNode value) {
        return switch (type) {
            case "object" -> value.isObject();
            case "array" -> value.isArray();
            case "string" -> value.isTextual();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            case "null" -> value.isNull();
            default -> true;
        };
    }
}
