// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectFormat;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A source that an operator has made, as a live object that has the name as its identifier.
 *
 * @param keys the keys of {@code sources.<name>} with their texts, in the order in which they were given
 */
record LiveSource(Map<String, String> keys) {

    static final String ID = "id";
    static final String ENABLE = "enable";
    private static final String TYPE = "type";
    private static final String ENABLED = "enabled";
    private static final String STORED = "keys";

    /** Copies the map. */
    LiveSource {
        keys = Collections.unmodifiableMap(new LinkedHashMap<>(keys));
    }

    /** The form in the store and in exports. */
    static final ObjectFormat<LiveSource> FORMAT = new ObjectFormat<>() {

        @Override
        public LiveSource read(String id, JsonFields fields) {
            Map<String, String> keys = new LinkedHashMap<>();
            fields.object(STORED).toMap().forEach((key, text) -> keys.put(key, String.valueOf(text)));
            return new LiveSource(keys);
        }

        @Override
        public Map<String, Object> write(LiveSource value) {
            return Map.of(STORED, value.keys());
        }
    };

    boolean isEnabled() {
        return !"false".equals(keys.get(ENABLED));
    }

    /** The same, switched on or off. */
    LiveSource enabled(boolean on) {
        Map<String, String> changed = new LinkedHashMap<>(keys);
        if (on) {
            changed.remove(ENABLED);
        } else {
            changed.put(ENABLED, "false");
        }
        return new LiveSource(changed);
    }

    String type() {
        return keys.getOrDefault(TYPE, "");
    }

    /**
     * The keys as they may be shown, without the type and whether it is switched on.
     *
     * @param mask masks secrets
     */
    Map<String, String> shown(ActionMask mask) {
        Map<String, String> shown = new LinkedHashMap<>();
        keys.forEach((key, text) -> {
            if (!key.equals(TYPE) && !key.equals(ENABLED)) {
                shown.put(key, mask.shown(type(), key, text));
            }
        });
        return shown;
    }

    /**
     * The same with the former texts of those keys that are given as they were shown, so that a masked secret stays as it was.
     *
     * @throws InvalidFieldException if a masked text has no former one
     */
    LiveSource keeping(@Nullable LiveSource former, ActionMask mask) {
        Map<String, String> kept = new LinkedHashMap<>(keys);
        if (former != null) {
            former.shown(mask).forEach((key, shown) -> ActionMask.keep(kept, key, shown, former.keys.get(key)));
        }
        ActionMask.requireSecrets(kept);
        return new LiveSource(kept);
    }

    /** Reads the body of a request: {@code type}, {@code topic}, {@code enable}, and the other keys of sources and of the type. */
    static LiveSource of(JsonFields body) {
        Map<String, String> keys = new LinkedHashMap<>();
        keys.put(TYPE, body.text(TYPE));
        body.node().properties().forEach(member -> LiveRule.flatten(member.getKey(), member.getValue(), keys));
        keys.remove(ID);
        keys.remove(ENABLE);
        LiveSource source = new LiveSource(keys);
        return body.has(ENABLE) ? source.enabled(body.flag(ENABLE)) : source;
    }
}
