// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectFormat;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A rule that an operator has made, as a live object that has the name as its identifier.
 *
 * @param keys the keys of {@code rules.<name>} with their texts, in the order in which they were given
 */
record LiveRule(Map<String, String> keys) {

    static final String SQL = "sql";
    static final String DESCRIPTION = "description";
    static final String ENABLED = "enabled";
    static final String ACTIONS = "actions";
    private static final String NAME = "name";
    private static final String STORED = "keys";

    /** Copies the map. */
    LiveRule {
        keys = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(keys));
    }

    /** The form in the store and in exports. */
    static final ObjectFormat<LiveRule> FORMAT = new ObjectFormat<>() {

        @Override
        public LiveRule read(String id, JsonFields fields) {
            Map<String, String> keys = new LinkedHashMap<>();
            fields.object(STORED).toMap().forEach((key, text) -> keys.put(key, String.valueOf(text)));
            return new LiveRule(keys);
        }

        @Override
        public Map<String, Object> write(LiveRule value) {
            return Map.of(STORED, value.keys());
        }
    };

    boolean isEnabled() {
        return !"false".equals(keys.get(ENABLED));
    }

    /** Reads the body of a request: {@code sql}, {@code description}, {@code enable}, and {@code actions}, each with name, type and settings. */
    static LiveRule of(JsonFields body) {
        Map<String, String> keys = new LinkedHashMap<>();
        keys.put(SQL, body.text(SQL));
        String description = body.textOrNull(DESCRIPTION);
        if (description != null) {
            keys.put(DESCRIPTION, description);
        }
        if (body.has("enable") && !body.flag("enable")) {
            keys.put(ENABLED, "false");
        }
        int number = 1;
        for (JsonNode action : body.has(ACTIONS) ? body.elements(ACTIONS) : List.<JsonNode>of()) {
            if (!action.isObject()) {
                throw new InvalidFieldException("each of the actions must be an object with name, type and settings");
            }
            String name = action.path(NAME).asText("action-" + number++);
            flatten(ACTIONS + '.' + name, action, keys);
            keys.remove(ACTIONS + '.' + name + '.' + NAME);
        }
        return new LiveRule(keys);
    }

    private static void flatten(String key, JsonNode node, Map<String, String> keys) {
        if (node.isObject()) {
            for (Map.Entry<String, JsonNode> member : node.properties()) {
                flatten(key + '.' + member.getKey(), member.getValue(), keys);
            }
        } else if (node.isArray()) {
            List<String> texts = new ArrayList<>();
            node.forEach(element -> texts.add(element.asText()));
            keys.put(key, String.join(",", texts));
        } else if (!node.isNull()) {
            keys.put(key, node.asText());
        }
    }
}
