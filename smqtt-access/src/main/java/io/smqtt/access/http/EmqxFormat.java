// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.spi.AccessDecision;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the answers that an HTTP server gives to EMQX 5. */
final class EmqxFormat {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int OK = 200;
    private static final int NO_CONTENT = 204;

    private EmqxFormat() {}

    /**
     * Reads the answer on a client.
     *
     * @throws HttpFailedException if it is an error, or cannot be understood
     */
    static BackendAnswer user(HttpAnswer answer, Instant now) {
        if (answer.status() == NO_CONTENT) {
            return new BackendAnswer.Allow();
        }
        if (answer.status() != OK) {
            throw new HttpFailedException("status " + answer.status());
        }
        JsonNode body = body(answer);
        return switch (body.path("result").asText("ignore")) {
            case "allow" -> allow(body, now);
            case "deny" -> BackendAnswer.DENY;
            case "ignore" -> BackendAnswer.NOT_MINE;
            default -> throw new HttpFailedException("a result that is not allow, deny or ignore");
        };
    }

    private static BackendAnswer allow(JsonNode body, Instant now) {
        Instant expiry = expiry(body.get("expire_at"));
        if (expiry != null && !expiry.isAfter(now)) {
            return BackendAnswer.DENY;
        }
        return new BackendAnswer.Allow(
                body.path("is_superuser").asBoolean(false), attributes(body.get("client_attrs")), expiry, rules(body));
    }

    private static @Nullable Instant expiry(@Nullable JsonNode seconds) {
        if (seconds == null || seconds.isNull()) {
            return null;
        }
        try {
            if (seconds.isNumber() || seconds.asText().matches("[0-9]{1,18}")) {
                return Instant.ofEpochSecond(seconds.asLong());
            }
        } catch (DateTimeException e) {
            // as for a text that is no number
        }
        throw new HttpFailedException("an expire_at that is no time in seconds");
    }

    /** Texts only, as EMQX takes them. */
    private static Map<String, String> attributes(@Nullable JsonNode json) {
        Map<String, String> attributes = new HashMap<>();
        if (json != null && json.isObject()) {
            json.properties().forEach(field -> {
                if (field.getValue().isTextual()) {
                    attributes.put(field.getKey(), field.getValue().textValue());
                }
            });
        }
        return attributes;
    }

    private static @Nullable List<AccessRule> rules(JsonNode body) {
        JsonNode rules = body.get("acl");
        try {
            return rules == null || rules.isNull() ? null : AccessRules.parse(rules);
        } catch (IllegalArgumentException e) {
            throw new HttpFailedException(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Reads the answer on a topic. A status beside 200 and 204 decides nothing, as in EMQX; but one that says that the server cannot answer is a failure here.
     *
     * @throws HttpFailedException if it is an error of the server, or cannot be understood
     */
    static AccessDecision topic(HttpAnswer answer) {
        if (answer.isFailure()) {
            throw new HttpFailedException("status " + answer.status());
        }
        if (answer.status() == NO_CONTENT) {
            return AccessDecision.ALLOW;
        }
        if (answer.status() != OK) {
            return AccessDecision.CONTINUE;
        }
        return switch (body(answer).path("result").asText("ignore")) {
            case "allow" -> AccessDecision.ALLOW;
            case "deny" -> AccessDecision.DENY;
            case "ignore" -> AccessDecision.CONTINUE;
            default -> throw new HttpFailedException("a result that is not allow, deny or ignore");
        };
    }

    private static JsonNode body(HttpAnswer answer) {
        if (answer.contentType().startsWith("application/x-www-form-urlencoded")) {
            return form(answer.body());
        }
        try {
            JsonNode body = JSON.readTree(answer.body());
            if (body != null && body.isObject()) {
                return body;
            }
        } catch (JsonProcessingException e) {
            // as for JSON that is no object; the exception has parts of the body
        }
        throw new HttpFailedException("a body that is no JSON object");
    }

    private static JsonNode form(String body) {
        ObjectNode fields = JSON.createObjectNode();
        for (String field : body.split("&", -1)) {
            int equals = field.indexOf('=');
            if (equals > 0) {
                fields.put(decode(field.substring(0, equals)), decode(field.substring(equals + 1)));
            }
        }
        return fields;
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new HttpFailedException("a body that is no form");
        }
    }
}
