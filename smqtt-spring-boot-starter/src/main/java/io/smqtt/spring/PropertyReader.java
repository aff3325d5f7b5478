// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spring.PropertyKeys.Match;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.Resource;

/**
 * The properties below {@code smqtt.} as texts with their origin, for the binder of the one schema. Earlier sources of the
 * environment win, a list as a whole. Relative paths are relative to the working directory.
 */
final class PropertyReader {

    private static final Logger LOG = LoggerFactory.getLogger(PropertyReader.class);
    private static final String PREFIX = "smqtt.";
    private static final String VARIABLE = "SMQTT_";
    private static final String FILE = "_FILE";
    private static final Pattern OF_BACKENDS = Pattern.compile(
            "\\\\?(\\$\\{(?:" + String.join("|", AccessBackendConfig.PLACEHOLDERS) + "|client_attrs\\.[^}]+)})");
    /** The placeholders of rules: all but those with a default and those in upper case, which are Spring's. */
    private static final Pattern OF_RULES = Pattern.compile("\\\\?(\\$\\{(?![A-Z][A-Z0-9_]*})[^}:]*})");

    private static final Path HERE = Path.of("").toAbsolutePath();

    private final ConfigurableEnvironment environment;
    private final PropertyKeys keys;
    private final Map<String, ConfigValue> values = new LinkedHashMap<>();

    private PropertyReader(ConfigurableEnvironment environment, ConfigSchema schema) {
        this.environment = environment;
        keys = new PropertyKeys(schema);
    }

    /**
     * Reads all.
     *
     * @return key to text; keys that the schema does not have are there as they were written
     * @throws ConfigurationException if the file of a secret cannot be read
     */
    static Map<String, ConfigValue> read(ConfigurableEnvironment environment, ConfigSchema schema) {
        PropertyReader reader = new PropertyReader(environment, schema);
        for (PropertySource<?> source : environment.getPropertySources()) {
            if (source instanceof EnumerablePropertySource<?> enumerable) {
                reader.source(enumerable).forEach(reader.values::putIfAbsent);
            }
        }
        return reader.values;
    }

    private Map<String, ConfigValue> source(EnumerablePropertySource<?> source) {
        Map<String, ConfigValue> found = new LinkedHashMap<>();
        Map<String, NavigableMap<Integer, ConfigValue>> lists = new LinkedHashMap<>();
        boolean variables = source instanceof SystemEnvironmentPropertySource;
        for (String name : source.getPropertyNames()) {
            if (variables && name.startsWith(VARIABLE)) {
                variable(source, name, found);
            } else if (name.regionMatches(true, 0, PREFIX, 0, PREFIX.length())) {
                property(source, name, found, lists);
            }
        }
        lists.forEach((key, items) -> found.putIfAbsent(key, joined(key, items)));
        return found;
    }

    private void property(
            EnumerablePropertySource<?> source,
            String name,
            Map<String, ConfigValue> found,
            Map<String, NavigableMap<Integer, ConfigValue>> lists) {
        ConfigurationPropertyName parsed = ConfigurationPropertyName.adapt(name, '.');
        List<String> elements = new ArrayList<>();
        for (int i = 1; i < parsed.getNumberOfElements(); i++) {
            elements.add(parsed.getElement(i, Form.ORIGINAL));
        }
        int last = parsed.getNumberOfElements() - 1;
        if (last > 1 && parsed.isNumericIndex(last)) {
            Match list = keys.find(elements.subList(0, elements.size() - 1));
            String key = list == null ? String.join(".", elements.subList(0, elements.size() - 1)) : list.name();
            lists.computeIfAbsent(key, unused -> new TreeMap<>())
                    .put(
                            Integer.valueOf(elements.get(elements.size() - 1)),
                            new ConfigValue(text(source, name, list), origin(source, name), HERE));
            return;
        }
        Match match = keys.find(elements);
        found.put(match == null ? String.join(".", elements) : match.name(), value(source, name, match));
    }

    private ConfigValue joined(String key, NavigableMap<Integer, ConfigValue> items) {
        ConfigValue first = items.firstEntry().getValue();
        List<String> texts = new ArrayList<>();
        for (ConfigValue item : items.values()) {
            String text = item.text() == null ? "" : item.text();
            if (text.indexOf(',') >= 0) {
                throw new ConfigurationException(
                        List.of(item.origin() + ": " + key + " holds a comma within an item of the list"));
            }
            texts.add(text);
        }
        return new ConfigValue(String.join(",", texts), first.origin(), HERE);
    }

    private void variable(EnumerablePropertySource<?> source, String name, Map<String, ConfigValue> found) {
        String body = name.substring(VARIABLE.length());
        String origin = "environment " + name;
        if (body.endsWith(FILE)) {
            Match secret = keys.findVariable(body.substring(0, body.length() - FILE.length()));
            if (secret != null && secret.key().secret()) {
                String text = content(Path.of(text(source, name, secret)), origin);
                found.put(secret.name(), new ConfigValue(text, origin, HERE));
                return;
            }
        }
        Match match = keys.findVariable(body);
        if (match != null) {
            found.put(match.name(), new ConfigValue(text(source, name, match), origin, HERE));
        } else if (body.contains("__")) {
            String key = body.toLowerCase(Locale.ROOT).replace("__", ".").replace('_', '-');
            found.put(key, new ConfigValue(text(source, name, null), origin, HERE));
        } else if (!isServiceLink(name)) {
            LOG.warn("the environment variable {} is not a key of the broker", name);
        }
    }

    private static String content(Path file, String origin) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new ConfigurationException(List.of(origin + ": the file " + file + " cannot be read"));
        }
    }

    /** What an orchestrator sets for a service called smqtt. */
    private static boolean isServiceLink(String name) {
        return name.matches("SMQTT_([A-Z0-9_]+_)?SERVICE_(HOST|PORT)(_.*)?")
                || name.matches("SMQTT_([A-Z0-9_]+_)?PORT(_[0-9]+_(TCP|UDP)(_.*)?)?");
    }

    /** Whether a property or variable is of an access backend, whose keys the schema does not know. */
    private static boolean isOfBackend(String name) {
        return isBelow(name, "smqtt.access.backends.");
    }

    private static boolean isBelow(String name, String prefix) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[._]+", ".").startsWith(prefix);
    }

    /** Spring resolves all placeholders but those that the broker itself fills in, which are escaped from it. */
    private String text(PropertySource<?> source, String name, @Nullable Match match) {
        Object value = source.getProperty(name);
        if (value == null) {
            return "";
        }
        String text = value.toString();
        if (match != null) {
            for (String own : match.key().placeholders()) {
                text = text.replace("\\" + own, own).replace(own, "\\" + own);
            }
        }
        if (isOfBackend(name)) {
            text = OF_BACKENDS.matcher(text).replaceAll("\\\\$1");
        } else if (isBelow(name, "smqtt.rules.") || isBelow(name, "smqtt.sources.")) {
            text = OF_RULES.matcher(text).replaceAll("\\\\$1");
        }
        return environment.resolveRequiredPlaceholders(text);
    }

    /** A name without a value is an empty text for a key, and nothing for a block. */
    private ConfigValue value(PropertySource<?> source, String name, @Nullable Match match) {
        String text = text(source, name, match);
        return new ConfigValue(match != null || !text.isEmpty() ? text : null, origin(source, name), HERE);
    }

    private static String origin(PropertySource<?> source, String name) {
        Origin origin = OriginLookup.getOrigin(source, name);
        if (origin instanceof TextResourceOrigin text && text.getLocation() != null) {
            return place(text.getResource()) + ":" + (text.getLocation().getLine() + 1);
        }
        return origin == null ? name + " in " + source.getName() : origin.toString();
    }

    private static String place(@Nullable Resource resource) {
        if (resource == null) {
            return "a file";
        }
        String name = resource.getFilename();
        return name == null ? resource.getDescription() : name;
    }
}
