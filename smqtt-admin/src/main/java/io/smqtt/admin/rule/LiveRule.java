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
import org.jspecify.annotations.Nullable;

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
    private static final String TYPE = "type";
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

    /** The same, switched on or off. */
    LiveRule enabled(boolean on) {
        Map<String, String> changed = new LinkedHashMap<>(keys);
        if (on) {
            changed.remove(ENABLED);
        } else {
            changed.put(ENABLED, "false");
        }
        return new LiveRule(changed);
    }

    /** The names of the actions, in the order in which they were given. */
    List<String> actions() {
        return keys.keySet().stream()
                .filter(key -> key.startsWith(ACTIONS + '.') && key.endsWith('.' + TYPE))
                .map(key -> key.split("\\.", -1)[1])
                .distinct()
                .toList();
    }

    /** The type of an action. */
    String type(String action) {
        return keys.getOrDefault(ACTIONS + '.' + action + '.' + TYPE, "");
    }

    /**
     * The keys of an action as they may be shown.
     *
     * @param mask masks secrets
     */
    Map<String, String> shown(String action, ActionMask mask) {
        String prefix = ACTIONS + '.' + action + '.';
        Map<String, String> shown = new LinkedHashMap<>();
        keys.forEach((key, text) -> {
            if (key.startsWith(prefix)) {
                String name = key.substring(prefix.length());
                shown.put(name, mask.shown(type(action), name, text));
            }
        });
        return shown;
    }

    /**
     * The same with the former texts of those keys that are given as they were shown, so that a masked secret stays as it was.
     *
     * @throws InvalidFieldException if a masked text has no former one
     */
    LiveRule keeping(@Nullable LiveRule former, ActionMask mask) {
        Map<String, String> kept = new LinkedHashMap<>(keys);
        if (former != null) {
            for (String action : former.actions()) {
                former.shown(action, mask).forEach((name, shown) -> {
                    String key = ACTIONS + '.' + action + '.' + name;
                    ActionMask.keep(kept, key, shown, former.keys.get(key));
                });
            }
        }
        ActionMask.requireSecrets(kept);
        return new LiveRule(kept);
    }

    /**
     * Reads the keys of one action that is tried out.
     *
     * @param body its keys, and its name if it is an action of a rule
     * @param former the rule that has an action of this name, whose texts stand for masked ones; null for a new action
     * @param mask masks secrets
     * @throws InvalidFieldException if a masked text has no former one
     */
    static Map<String, String> action(JsonFields body, @Nullable LiveRule former, ActionMask mask) {
        String name = body.textOrNull(NAME);
        String prefix = ACTIONS + '.' + (name == null ? "" : name) + '.';
        Map<String, String> given = new LinkedHashMap<>();
        body.node().properties().forEach(member -> flatten(prefix + member.getKey(), member.getValue(), given));
        given.remove(prefix + NAME);
        Map<String, String> keys = new LinkedHashMap<>();
        new LiveRule(given)
                .keeping(former, mask)
                .keys()
                .forEach((key, text) -> keys.put(key.substring(prefix.length()), text));
        return keys;
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

    /** Adds a member of a body as keys: an object as several of them, an array with commas between its elements. */
    static void flatten(String key, JsonNode node, Map<String, String> keys) {
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
