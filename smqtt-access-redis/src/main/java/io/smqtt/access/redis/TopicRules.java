// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import java.util.List;
import java.util.Map;

/**
 * Reads a hash with access rules as EMQX has it: a field for each topic filter, with the action that is allowed, or with JSON that has
 * {@code action} and conditions such as {@code qos}, {@code retain} and {@code ipaddr}.
 */
final class TopicRules {

    private static final List<String> OF_THE_HASH = List.of("permission", "topic", "topics");

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
            if (value.stripLeading().startsWith("{")) {
                rule.setAll(fields(value));
            } else {
                rule.put("action", value.strip());
            }
            rule.put("permission", "allow").put("topic", topic);
        });
        try {
            return AccessRules.parse(rules);
        } catch (IllegalArgumentException e) {
            throw new RedisFailedException("rules that cannot be used: " + e.getMessage());
        }
    }

    private static ObjectNode fields(String value) {
        try {
            if (JSON.readTree(value) instanceof ObjectNode fields) {
                if (OF_THE_HASH.stream().anyMatch(fields::has)) {
                    throw new RedisFailedException("a rule whose value has a permission or a topic of its own");
                }
                return fields;
            }
        } catch (JsonProcessingException e) {
            // as for JSON that is no object; the exception has parts of the value
        }
        throw new RedisFailedException("a rule that is no JSON");
    }
}
