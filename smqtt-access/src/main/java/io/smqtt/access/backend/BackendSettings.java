// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The values of the keys that a type of backends declares. Their form and bounds have been checked. Immutable.
 */
public final class BackendSettings {

    private static final String PREFIX = "access.backends.";

    private final String backend;
    private final Map<String, BackendSetting> declared = new LinkedHashMap<>();
    private final Map<String, ConfigValue> values;

    private BackendSettings(String backend, List<BackendSetting> declarations, Map<String, ConfigValue> values) {
        this.backend = backend;
        this.values = new LinkedHashMap<>(values);
        declarations.forEach(setting -> declared.put(setting.name(), setting));
    }

    /**
     * Checks the keys of one backend.
     *
     * @param backend its name in {@code access.backends}
     * @param declarations the keys of its type
     * @param values the given values by key within the block
     * @return the values with defaults
     * @throws ConfigurationException if a key is unknown or missing or has a wrong value, with all problems and their lines
     */
    public static BackendSettings of(
            String backend, List<BackendSetting> declarations, Map<String, ConfigValue> values) {
        BackendSettings settings = new BackendSettings(backend, declarations, values);
        List<String> problems = settings.problems();
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return settings;
    }

    private List<String> problems() {
        List<String> problems = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (BackendSetting setting : declared.values()) {
            for (Map.Entry<String, ConfigValue> entry : values.entrySet()) {
                boolean entries = setting.kind() == BackendSetting.Kind.ENTRIES;
                if (entries
                        ? entry.getKey().startsWith(setting.name() + ".")
                        : entry.getKey().equals(setting.name())) {
                    known.add(entry.getKey());
                    String wrong = wrong(setting, entry.getValue());
                    if (wrong != null) {
                        problems.add(problem(entry.getKey(), wrong).getMessage());
                    }
                }
            }
            if (setting.isRequired() && !values.containsKey(setting.name())) {
                problems.add(PREFIX + backend + "." + setting.name() + " must be set");
            }
        }
        values.keySet().stream()
                .filter(key -> !known.contains(key))
                .forEach(key -> problems.add(problem(
                                key,
                                "is no key of a backend of this type; it has " + String.join(", ", declared.keySet()))
                        .getMessage()));
        return problems;
    }

    private static @Nullable String wrong(BackendSetting setting, ConfigValue value) {
        return switch (setting.kind()) {
            case NUMBER -> range(setting, value, ConfigValue::number, "a whole number");
            case DURATION -> range(setting, value, ConfigValue::duration, "a duration such as 5s");
            case FLAG -> value.flag() == null ? "must be true or false" : null;
            case FILE -> value.path() == null ? "must be a file" : null;
            case CHOICE ->
                setting.choices().contains(value.text()) ? null : "must be " + String.join(", ", setting.choices());
            case TEXT, LIST, ENTRIES -> null;
        };
    }

    private static <T extends Comparable<T>> @Nullable String range(
            BackendSetting setting, ConfigValue value, Function<ConfigValue, @Nullable T> parser, String form) {
        T given = parser.apply(value);
        T min = setting.min().isEmpty() ? null : parser.apply(bound(setting.min()));
        T max = setting.max().isEmpty() ? null : parser.apply(bound(setting.max()));
        boolean outside = given != null
                && ((min != null && given.compareTo(min) < 0) || (max != null && given.compareTo(max) > 0));
        return given != null && !outside
                ? null
                : "must be " + form + (min == null ? "" : " from " + setting.min() + " to " + setting.max());
    }

    private static ConfigValue bound(String text) {
        return new ConfigValue(text, "", Path.of(""));
    }

    /**
     * Makes a problem with the line of a key.
     *
     * @param key a key of the type; if it is absent, the problem has no line
     * @param problem the rest of a sentence that begins with the key; without secrets
     * @return an exception to be thrown
     */
    public ConfigurationException problem(String key, String problem) {
        ConfigValue value = values.get(key);
        String origin = value == null ? "" : value.origin() + ": ";
        return new ConfigurationException(
                List.of(origin + PREFIX + backend + "." + SecretMask.key(key) + " " + problem));
    }

    /**
     * Whether a key is given.
     *
     * @param key a declared key
     * @return false if it has its default
     */
    public boolean has(String key) {
        return values.containsKey(key);
    }

    /**
     * The text of a key that has a default or is required.
     *
     * @param key a declared key
     * @return its text, or its default
     */
    public String text(String key) {
        String text = textOrNull(key);
        if (text == null) {
            throw problem(key, "must be set");
        }
        return text;
    }

    /**
     * The text of a key.
     *
     * @param key a declared key
     * @return its text, its default, or null
     */
    public @Nullable String textOrNull(String key) {
        return value(key).text();
    }

    /**
     * The number of a key that has a default.
     *
     * @param key a declared key
     * @return its value
     */
    public long number(String key) {
        return present(key, value(key).number());
    }

    /**
     * The duration of a key that has a default.
     *
     * @param key a declared key
     * @return its value
     */
    public Duration duration(String key) {
        return present(key, value(key).duration());
    }

    /**
     * The flag of a key that has a default.
     *
     * @param key a declared key
     * @return its value
     */
    public boolean flag(String key) {
        return present(key, value(key).flag());
    }

    /**
     * The file of a key.
     *
     * @param key a declared key
     * @return its path, or null
     */
    public @Nullable Path file(String key) {
        return value(key).path();
    }

    /**
     * The list of a key.
     *
     * @param key a declared key
     * @return its texts
     */
    public List<String> list(String key) {
        return value(key).list();
    }

    /**
     * The entries of a key.
     *
     * @param key a declared key
     * @return texts by name, in the order of the file
     */
    public Map<String, String> entries(String key) {
        Map<String, String> entries = new LinkedHashMap<>();
        values.forEach((name, value) -> {
            String text = value.text();
            if (name.startsWith(key + ".") && text != null) {
                entries.put(name.substring(key.length() + 1), text);
            }
        });
        return entries;
    }

    /**
     * The template of a key.
     *
     * @param key a declared key
     * @param scope decides what placeholders are known
     * @return null if the key is absent
     * @throws ConfigurationException if a placeholder is unknown, with key and line
     */
    public @Nullable Template template(String key, Template.Scope scope) {
        String text = textOrNull(key);
        return text == null ? null : template(key, text, scope);
    }

    /**
     * The templates of the entries of a key.
     *
     * @param key a declared key
     * @param scope decides what placeholders are known
     * @return templates by name, in the order of the file
     * @throws ConfigurationException if a placeholder is unknown, with key and line
     */
    public Map<String, Template> templates(String key, Template.Scope scope) {
        Map<String, Template> templates = new LinkedHashMap<>();
        entries(key).forEach((name, text) -> templates.put(name, template(key + "." + name, text, scope)));
        return templates;
    }

    private Template template(String key, String text, Template.Scope scope) {
        try {
            return Template.parse(text, scope);
        } catch (IllegalArgumentException e) {
            throw problem(key, String.valueOf(e.getMessage()));
        }
    }

    private ConfigValue value(String key) {
        ConfigValue value = values.get(key);
        BackendSetting setting = declared.get(key);
        if (setting == null) {
            throw new IllegalArgumentException(key + " is not declared");
        }
        return value == null ? new ConfigValue(setting.value(), "", Path.of("")) : value;
    }

    private <T> T present(String key, @Nullable T value) {
        if (value == null) {
            throw problem(key, "must be set");
        }
        return value;
    }
}
