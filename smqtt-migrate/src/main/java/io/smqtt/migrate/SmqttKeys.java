// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The keys of a file of the former smqtt, under their newer names, for decisions that need more than one of them. */
final class SmqttKeys {

    /** The beginning of every key but those of the stores. */
    static final String ROOT = "smqtt.";

    private final Draft draft;
    private final Map<String, OldSetting> kept = new HashMap<>();
    private final Set<String> seen = new HashSet<>();

    /**
     * Creates an empty set of keys.
     *
     * @param draft where a value is noted that is not true or false
     */
    SmqttKeys(Draft draft) {
        this.draft = draft;
    }

    /** Converts a key of older files to that of newer ones, without the common prefix; empty for an unrelated key. */
    static String normalized(String written) {
        String key = written;
        if (key.startsWith(ROOT)) {
            key = key.substring(ROOT.length());
        } else if (!key.startsWith("db.") && !key.startsWith("redis.")) {
            return "";
        }
        if (key.equals("log.level")) {
            return "logLevel";
        }
        if (key.equals("tcp.ssl") || key.equals("http.ssl")) {
            return key + ".enable";
        }
        return key.startsWith("websocket.") ? "ws." + key.substring("websocket.".length()) : key;
    }

    /** Records a known key that is in the file. */
    void saw(String key) {
        seen.add(RuleTable.folded(key));
    }

    /** Whether the file has a known key with a prefix, in lower case. */
    boolean hasSeen(String prefix) {
        return seen.stream().anyMatch(key -> key.startsWith(prefix));
    }

    /** Keeps a setting for a later decision. */
    void keep(OldSetting setting) {
        kept.put(RuleTable.folded(normalized(setting.key())), setting);
    }

    /** A kept setting, also one without a value; null if there is none. */
    @Nullable
    OldSetting written(String key) {
        return kept.get(RuleTable.folded(key));
    }

    /** A kept setting that has a value; null if there is none. */
    @Nullable
    OldSetting kept(String key) {
        OldSetting setting = written(key);
        return setting == null || setting.value().isEmpty() ? null : setting;
    }

    /** Whether a kept setting is true. */
    boolean isOn(String key, boolean otherwise) {
        OldSetting setting = kept(key);
        return setting == null ? otherwise : draft.bool(setting);
    }
}
