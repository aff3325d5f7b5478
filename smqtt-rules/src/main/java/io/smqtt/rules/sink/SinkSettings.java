// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
import java.io.IOException;
import java.nio.file.Files;
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

/** The values of the keys that a type of sinks declares. Their form and bounds have been checked. Immutable. */
public final class SinkSettings {

    private static final int MOST_SECRET_BYTES = 65_536;

    private final String prefix;
    private final Map<String, SinkSetting> declared = new LinkedHashMap<>();
    private final Map<String, ConfigValue> values;

    private SinkSettings(String prefix, List<SinkSetting> declarations, Map<String, ConfigValue> values) {
        this.prefix = prefix;
        this.values = new LinkedHashMap<>(values);
        declarations.forEach(setting -> declared.put(setting.name(), setting));
    }

    /**
     * Checks the keys of one action.
     *
     * @param prefix what stands before the keys, with a dot at its end, for errors
     * @param declarations the keys of its type
     * @param values the given values by key within the block
     * @return the values with defaults
     * @throws ConfigurationException if a key is unknown or missing or has a wrong value, with all problems and their lines
     */
    public static SinkSettings of(String prefix, List<SinkSetting> declarations, Map<String, ConfigValue> values) {
        SinkSettings settings = new SinkSettings(prefix, declarations, values);
        List<String> problems = settings.problems();
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return settings;
    }

    private List<String> problems() {
        List<String> problems = new ArrayList<>();
        Set<String> known = new HashSet<>();
        for (SinkSetting setting : declared.values()) {
            values.forEach((key, value) -> {
                if (isOf(setting, key)) {
                    known.add(key);
                    String wrong = wrong(setting, value);
                    if (wrong != null) {
                        problems.add(problem(key, wrong).getMessage());
                    }
                }
            });
            if (setting.isRequired() && !values.containsKey(setting.name())) {
                problems.add(prefix + setting.name() + " must be set");
            }
        }
        values.keySet().stream()
                .filter(key -> !known.contains(key))
                .forEach(key -> problems.add(
                        problem(key, "is no key of this type, which has " + String.join(", ", declared.keySet()))
                                .getMessage()));
        return problems;
    }

    private static boolean isOf(SinkSetting setting, String key) {
        return setting.kind() == SinkSetting.Kind.ENTRIES
                ? key.startsWith(setting.name() + ".")
                : key.equals(setting.name());
    }

    private static @Nullable String wrong(SinkSetting setting, ConfigValue value) {
        return switch (setting.kind()) {
            case NUMBER -> range(setting, value, ConfigValue::number, "a whole number");
            case SIZE -> range(setting, value, ConfigValue::bytes, "a size such as 10MiB");
            case DURATION -> range(setting, value, ConfigValue::duration, "a duration such as 5s");
            case FLAG -> value.flag() == null ? "must be true or false" : null;
            case FILE -> value.path() == null ? "must be a file" : null;
            case CHOICE ->
                setting.choices().contains(value.text()) ? null : "must be " + String.join(", ", setting.choices());
            case TEMPLATE, ENTRIES -> template(String.valueOf(value.text()));
            case TEXT -> null;
        };
    }

    private static @Nullable String template(String text) {
        try {
            RowTemplate.parse(text);
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    private static <T extends Comparable<T>> @Nullable String range(
            SinkSetting setting, ConfigValue value, Function<ConfigValue, @Nullable T> parser, String form) {
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
        String origin = value == null || value.origin().isEmpty() ? "" : value.origin() + ": ";
        return new ConfigurationException(List.of(origin + prefix + SecretMask.key(key) + " " + problem));
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
        return present(key, textOrNull(key));
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
     * The number of bytes of a key that has a default.
     *
     * @param key a declared key
     * @return its value
     */
    public long bytes(String key) {
        return present(key, value(key).bytes());
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
     * The first line of the file of a key, which is a secret. Blocks.
     *
     * @param key a declared key
     * @return the line, or null if the key is absent
     * @throws ConfigurationException if the file cannot be read, or its first line is empty
     */
    public @Nullable String secret(String key) {
        Path file = file(key);
        if (file == null) {
            return null;
        }
        try {
            String line = Files.size(file) > MOST_SECRET_BYTES
                    ? ""
                    : Files.readString(file).lines().findFirst().orElse("");
            if (line.isEmpty()) {
                throw problem(key, "has no secret in its first line");
            }
            return line;
        } catch (IOException e) {
            throw problem(key, "is a file that cannot be read");
        }
    }

    /**
     * The template of a key.
     *
     * @param key a declared key
     * @return null if the key is absent and has no default
     */
    public @Nullable RowTemplate templateOrNull(String key) {
        String text = textOrNull(key);
        return text == null || text.isEmpty() ? null : RowTemplate.parse(text);
    }

    /**
     * The templates of the entries of a key.
     *
     * @param key a declared key
     * @return templates by name, in the order of the file
     */
    public Map<String, RowTemplate> templates(String key) {
        Map<String, RowTemplate> templates = new LinkedHashMap<>();
        values.forEach((name, value) -> {
            String text = value.text();
            if (name.startsWith(key + ".") && text != null) {
                templates.put(name.substring(key.length() + 1), RowTemplate.parse(text));
            }
        });
        return templates;
    }

    private ConfigValue value(String key) {
        ConfigValue value = values.get(key);
        SinkSetting setting = declared.get(key);
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
