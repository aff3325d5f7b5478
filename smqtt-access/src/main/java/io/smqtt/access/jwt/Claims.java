// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.access.RuleList;
import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The claims of a token whose signature is right. A claim that is wrong or cannot be read refuses the client. */
final class Claims {

    private static final int MAXIMUM_DEPTH = 16;
    private static final int MAXIMUM_NUMBER_CHARS = 64;
    private static final int MAXIMUM_ATTRIBUTES = 100;
    private static final double LAST_SECOND = 7_258_118_400d; // the year 2200; later ones are no end
    private static final Set<String> YES = Set.of("true", "1");
    private static final String LITERAL = "eq ";
    private static final ObjectMapper JSON = new ObjectMapper(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAXIMUM_DEPTH)
                            .maxNumberLength(MAXIMUM_NUMBER_CHARS)
                            .build())
                    .build())
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private final JsonNode json;

    private Claims(JsonNode json) {
        this.json = json;
    }

    /**
     * Reads claims.
     *
     * @throws IllegalArgumentException if they are no JSON object, name a claim twice, or are nested more than 16 levels deep
     */
    static Claims parse(byte[] payload) {
        try {
            JsonNode json = JSON.readTree(payload);
            if (json != null && json.isObject()) {
                return new Claims(json);
            }
        } catch (IOException e) {
            // as for JSON that is no object; the exception has parts of the token
        }
        throw new IllegalArgumentException("the claims are no JSON object");
    }

    /**
     * Checks {@code exp}, {@code nbf} and {@code iat}, each if present.
     *
     * @param leeway how much the clocks of issuer and broker may differ
     * @throws IllegalArgumentException if the token is not valid at this time
     */
    void checkTimes(Instant now, Duration leeway) {
        double seconds = now.getEpochSecond();
        Double end = seconds("exp");
        if (end != null && seconds >= end + leeway.toSeconds()) {
            throw new IllegalArgumentException("the token has expired");
        }
        Double begin = seconds("nbf");
        Double issued = seconds("iat");
        double latest = seconds + leeway.toSeconds();
        if ((begin != null && begin > latest) || (issued != null && issued > latest)) {
            throw new IllegalArgumentException("the token is not valid yet");
        }
    }

    /** When the token is no longer accepted; null if it has no {@code exp}, or one that is never reached. */
    @Nullable
    Instant end(Duration leeway) {
        Double end = seconds("exp");
        return end == null || end > LAST_SECOND
                ? null
                : Instant.ofEpochSecond((long) Math.ceil(end)).plus(leeway);
    }

    private @Nullable Double seconds(String claim) {
        JsonNode value = json.get(claim);
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isNumber() || Double.isNaN(value.doubleValue())) {
            throw new IllegalArgumentException("the claim " + claim + " is no number");
        }
        return value.doubleValue();
    }

    /** Whether a claim is a text, a number or a flag with this value; {@code aud} may be a list that contains it. */
    boolean has(String claim, String expected) {
        JsonNode value = json.get(claim);
        if (value != null && value.isArray() && claim.equals("aud")) {
            for (JsonNode one : value) {
                if (one.isTextual() && one.textValue().equals(expected)) {
                    return true;
                }
            }
            return false;
        }
        return value != null
                && value.isValueNode()
                && !value.isNull()
                && value.asText().equals(expected);
    }

    boolean isSuperuser() {
        JsonNode value = json.get("is_superuser");
        return value != null && value.isValueNode() && YES.contains(value.asText());
    }

    /** The texts in {@code client_attrs}. */
    Map<String, String> attributes() {
        Map<String, String> attributes = new HashMap<>();
        json.path("client_attrs").properties().forEach(field -> {
            if (field.getValue().isTextual()) {
                attributes.put(field.getKey(), field.getValue().textValue());
            }
        });
        if (attributes.size() > MAXIMUM_ATTRIBUTES) {
            throw new IllegalArgumentException("more than " + MAXIMUM_ATTRIBUTES + " attributes");
        }
        return attributes;
    }

    /**
     * The access rules: a list in the format of EMQX, or an object with the lists {@code pub}, {@code sub} and {@code all}.
     *
     * @return null if the token has no such claim
     * @throws IllegalArgumentException if it is neither
     */
    @Nullable
    List<AccessRule> rules(String claim) {
        JsonNode rules = json.get(claim);
        if (rules == null || rules.isNull()) {
            return null;
        }
        if (!rules.isObject()) {
            return AccessRules.parse(rules);
        }
        List<AccessRule> allowed = new ArrayList<>();
        rules.properties().forEach(field -> {
            for (JsonNode topic : topics(field.getValue())) {
                if (!topic.isTextual()) {
                    throw new IllegalArgumentException("a topic is no text");
                }
                allowed.add(rule(field.getKey(), topic.textValue()));
            }
        });
        if (allowed.size() > RuleList.MAXIMUM_RULES) {
            throw new IllegalArgumentException("more than " + RuleList.MAXIMUM_RULES + " access rules");
        }
        return allowed;
    }

    private static JsonNode topics(JsonNode list) {
        if (!list.isArray()) {
            throw new IllegalArgumentException("the topics are no list");
        }
        return list;
    }

    private static AccessRule rule(String key, String topic) {
        Actions actions = switch (key) {
            case "pub" -> Actions.PUBLISH;
            case "sub" -> Actions.SUBSCRIBE;
            case "all" -> Actions.ALL;
            default -> throw new IllegalArgumentException("access rules of an unknown kind");
        };
        boolean literal = topic.startsWith(LITERAL);
        return new AccessRule(new RuleList.Rule(
                true,
                actions,
                literal ? topic.substring(LITERAL.length()) : topic,
                literal,
                RuleList.Rule.ALL_LEVELS,
                null));
    }
}
