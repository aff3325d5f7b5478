// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.ConfigKey;
import io.smqtt.config.ConfigSchema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the key of the schema that a property means. Properties may be written as Spring reads them: without hyphens, in
 * camel case, and in the environment with underscores for all separators.
 */
final class PropertyKeys {

    private static final String NAME = "<name>";

    /** Keys without a name that the user chooses, by their letters and dots alone. */
    private final Map<String, ConfigKey> plain = new HashMap<>();

    /** The part behind the name, by the part before it and then as above. */
    private final Map<String, Map<String, ConfigKey>> named = new HashMap<>();

    PropertyKeys(ConfigSchema schema) {
        for (ConfigKey key : schema.describe()) {
            int name = key.name().indexOf('.' + NAME + '.');
            if (name < 0) {
                plain.put(uniform(key.name()), key);
            } else {
                named.computeIfAbsent(uniform(key.name().substring(0, name)), before -> new HashMap<>())
                        .put(uniform(key.name().substring(name + NAME.length() + 2)), key);
            }
        }
    }

    /**
     * A key that was meant.
     *
     * @param name the key, with the name that the user chose
     * @param key what the schema says of it
     */
    record Match(String name, ConfigKey key) {}

    /**
     * Finds a key.
     *
     * @param elements the names between the dots, without the leading smqtt
     * @return null if there is none
     */
    @Nullable
    Match find(List<String> elements) {
        ConfigKey key = plain.get(uniform(String.join(".", elements)));
        if (key != null) {
            return new Match(key.name(), key);
        }
        for (int name = 1; name < elements.size() - 1; name++) {
            Map<String, ConfigKey> behind = named.get(uniform(String.join(".", elements.subList(0, name))));
            if (behind != null) {
                String rest = String.join(".", elements.subList(name + 1, elements.size()));
                return match(elements.get(name), behind.get(uniform(rest)));
            }
        }
        return null;
    }

    private static @Nullable Match match(String name, @Nullable ConfigKey key) {
        return key == null ? null : new Match(key.name().replace(NAME, name), key);
    }

    /**
     * Finds the key of an environment variable. Where names are a level each, {@code A__B_C}, one underscore is a hyphen;
     * otherwise, as Spring has it, each underscore is any separator or none.
     *
     * @param body the variable without its prefix
     * @return null if there is none
     */
    @Nullable
    Match findVariable(String body) {
        String lower = body.toLowerCase(Locale.ROOT);
        if (lower.contains("__")) {
            List<String> levels = new ArrayList<>();
            for (String level : lower.split("__", -1)) {
                levels.add(level.replace('_', '-'));
            }
            return find(levels);
        }
        String letters = lower.replace("_", "");
        for (Map.Entry<String, ConfigKey> entry : plain.entrySet()) {
            if (entry.getKey().replace(".", "").equals(letters)) {
                return new Match(entry.getValue().name(), entry.getValue());
            }
        }
        return findNamed(List.of(lower.split("_", -1)));
    }

    private @Nullable Match findNamed(List<String> parts) {
        for (Map.Entry<String, Map<String, ConfigKey>> block : named.entrySet()) {
            String before = block.getKey().replace(".", "");
            for (int name = 1; name < parts.size() - 1; name++) {
                if (String.join("", parts.subList(0, name)).equals(before)) {
                    String rest = String.join("", parts.subList(name + 1, parts.size()));
                    for (Map.Entry<String, ConfigKey> entry : block.getValue().entrySet()) {
                        if (entry.getKey().replace(".", "").equals(rest)) {
                            return match(parts.get(name), entry.getValue());
                        }
                    }
                }
            }
        }
        return null;
    }

    private static String uniform(String name) {
        StringBuilder uniform = new StringBuilder(name.length());
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c != '-' && c != '_') {
                uniform.append(Character.toLowerCase(c));
            }
        }
        return uniform.toString();
    }
}
