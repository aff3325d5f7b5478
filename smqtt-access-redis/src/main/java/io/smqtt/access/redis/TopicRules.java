// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import java.util.List;
import java.util.Map;

/**
 * Reads a hash with access rules as EMQX has it: a field for each topic filter, with the action that is allowed, or with JSON that has
 * {@code action}, {@code qos} and {@code retain}.
 */
final class TopicRules {

    private static final ObjectMapper JSON = new ObjectMapper();

    private TopicRules() {}

    /**
     * Reads the rules.
     *
     * @param hash the values by topic filter
     * @return one rule for each field, all of which allow
     * @throws RedisFailedException if a value cannot be read
     */
    static List<AccessRule> read(Map<String, String> hash) {
        ArrayNode rules = JSON.createArrayNode();
        hash.forEach((topic, value) -> {
            ObjectNode rule = rules.addObject();
            rule.put("permission", "allow").put("topic", topic);
            if (value.stripLeading().startsWith("{")) {
                JsonNode fields = fields(value);
                for (String name : List.of("action", "qos", "retain")) {
                    if (fields.has(name)) {
                        rule.set(name, fields.get(name));
                    }
                }
            } else {
                rule.put("action", value.strip());
            }
        });
        try {
            return AccessRules.parse(rules);
        } catch (IllegalArgumentException e) {
            throw new RedisFailedException("rules that cannot be used: " + e.getMessage());
        }
    }

    private static JsonNode fields(String value) {
        try {
            return JSON.readTree(value);
        } catch (JsonProcessingException e) {
            throw new RedisFailedException("a rule that is no JSON");
        }
    }
}
