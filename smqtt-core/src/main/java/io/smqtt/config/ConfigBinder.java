// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Creates records from texts. The caller reads file, environment and flags into one map with one value per key, later sources over
 * earlier ones, and binds the map once. All problems are reported at once, with the origin of their values.
 *
 * <p>One binder binds one map; it is not thread-safe.
 */
public final class ConfigBinder {

    private final ConfigSchema schema;
    private final Map<String, ConfigValue> values;
    private final Set<String> known = new HashSet<>();
    private final List<String> problems = new ArrayList<>();
    private final Set<String> refused = new HashSet<>();

    private ConfigBinder(ConfigSchema schema, Map<String, ConfigValue> values) {
        this.schema = schema;
        this.values = values;
    }

    /**
     * Binds one root record.
     *
     * @param defaults the values of absent keys
     * @param values texts by key
     * @param <R> the record
     * @return a record of the same type
     * @throws ConfigurationException if a key is unknown, or a value wrong
     */
    public static <R extends Record> R bind(R defaults, Map<String, ConfigValue> values) {
        return type(defaults).cast(bind(ConfigSchema.of(defaults), values).get(0));
    }

    @SuppressWarnings("unchecked")
    private static <R extends Record> Class<R> type(R of) {
        return (Class<R>) of.getClass();
    }

    /**
     * Binds all root records of a schema.
     *
     * @param schema the keys and their defaults
     * @param values texts by key
     * @return the records, in the order of the schema's roots
     * @throws ConfigurationException if a key is unknown, or a value wrong
     */
    public static List<Record> bind(ConfigSchema schema, Map<String, ConfigValue> values) {
        Bound bound = tryBind(schema, values);
        if (!bound.problems().isEmpty()) {
            throw new ConfigurationException(bound.problems());
        }
        return bound.records();
    }

    /**
     * A bound configuration with all problems that were found. A default takes the place of a rejected value, so that further problems can
     * be looked for. Records with problems must not be used to start anything.
     *
     * @param records the records, in the order of the schema's roots
     * @param problems one sentence each, with the origin of the value; empty if the records can be used
     * @param refused the keys whose values are not in the records
     */
    public record Bound(List<Record> records, List<String> problems, Set<String> refused) {

        /** Copies the collections. */
        public Bound {
            records = List.copyOf(records);
            problems = List.copyOf(problems);
            refused = Set.copyOf(refused);
        }
    }

    /**
     * Binds all roots of a schema as far as possible.
     *
     * @param schema the keys and their defaults
     * @param values texts by key
     * @return the records, and all problems
     */
    public static Bound tryBind(ConfigSchema schema, Map<String, ConfigValue> values) {
        return new ConfigBinder(schema, values).bind();
    }

    private Bound bind() {
        List<Record> bound = new ArrayList<>();
        for (Record root : schema.roots()) {
            Record record = block(root.getClass(), root, "");
            bound.add(record == null ? root : record);
        }
        for (Map.Entry<String, ConfigValue> entry : values.entrySet()) {
            if (!known.contains(entry.getKey())) {
                problems.add(entry.getValue().origin() + ": " + unknown(entry.getKey()));
            }
        }
        return new Bound(bound, problems, refused);
    }

    private String unknown(String key) {
        String nearest = NearestKey.of(key, schema.describe());
        return "unknown key " + SecretMask.key(key) + (nearest == null ? "" : ", did you mean " + nearest + "?");
    }

    /** Binds a record. Returns its defaults, or null, and adds to the problems if it cannot be bound. */
    private @Nullable Record block(Class<?> type, @Nullable Record defaults, String prefix) {
        RecordComponent[] components = ConfigSchema.components(type);
        @Nullable Object[] arguments = new Object[components.length];
        int before = problems.size();
        for (int i = 0; i < components.length; i++) {
            Object fallback = defaults == null ? null : ConfigSchema.get(defaults, components[i]);
            String key = prefix + ConfigSchema.kebab(components[i].getName());
            arguments[i] = component(components[i], fallback, key, defaults == null);
        }
        return defaults == null && problems.size() > before
                ? null
                : construct(type, components, arguments, defaults, prefix);
    }

    private @Nullable Object component(RecordComponent component, @Nullable Object fallback, String key, boolean bare) {
        Class<?> type = component.getType();
        if (type == Map.class && ConfigSchema.elementType(component) == ConfigValue.class) {
            return others(component, key.substring(0, key.lastIndexOf('.') + 1));
        }
        if (type == Map.class) {
            mark(key);
            return named(ConfigSchema.elementType(component), fallback == null ? Map.of() : (Map<?, ?>) fallback, key);
        }
        if (type.isRecord()) {
            mark(key);
            return fallback == null && !given(key) ? null : block(type, (Record) fallback, key + ".");
        }
        return leaf(component, fallback, key, bare);
    }

    private boolean given(String block) {
        String prefix = block + ".";
        return values.keySet().stream().anyMatch(key -> key.startsWith(prefix));
    }

    /** Handles a key that is the name of a block: it may be present, but only without a value. */
    private void mark(String block) {
        known.add(block);
        ConfigValue value = values.get(block);
        if (value != null && value.text() != null) {
            problems.add(value.origin() + ": " + block + " is a block of keys and cannot have a value");
        }
    }

    /** The keys of a block that its record does not declare, by their names within the block. */
    private Map<String, ConfigValue> others(RecordComponent component, String prefix) {
        Set<String> declared = ConfigSchema.names(component.getDeclaringRecord());
        Map<String, ConfigValue> others = new LinkedHashMap<>();
        values.forEach((key, value) -> {
            String name = key.startsWith(prefix) ? key.substring(prefix.length()) : "";
            int dot = name.indexOf('.');
            if (!name.isEmpty() && !declared.contains(dot < 0 ? name : name.substring(0, dot))) {
                known.add(key);
                if (value.text() != null) {
                    others.put(name, value);
                }
            }
        });
        return others;
    }

    private Map<String, @Nullable Object> named(Class<?> element, Map<?, ?> defaults, String key) {
        Set<String> names = new LinkedHashSet<>();
        defaults.keySet().forEach(name -> names.add((String) name));
        String prefix = key + ".";
        for (String given : values.keySet()) {
            if (given.startsWith(prefix)) {
                int dot = given.indexOf('.', prefix.length());
                names.add(given.substring(prefix.length(), dot < 0 ? given.length() : dot));
            }
        }
        Map<String, @Nullable Object> entries = new LinkedHashMap<>();
        for (String name : names) {
            entry(element, (Record) defaults.get(name), prefix + name, name, entries);
        }
        return entries;
    }

    private void entry(
            Class<?> element,
            @Nullable Record defaults,
            String key,
            String name,
            Map<String, @Nullable Object> entries) {
        mark(key);
        boolean enabled = enabled(key + "." + ConfigSchema.ENABLED);
        Record base = defaults == null && element == ListenerConfig.class ? listenerDefaults(key, enabled) : defaults;
        Record bound = block(element, base, key + ".");
        if (enabled && bound != null) {
            entries.put(name, bound);
        }
    }

    private boolean enabled(String key) {
        known.add(key);
        ConfigValue value = values.get(key);
        if (value == null || value.text() == null) {
            return true;
        }
        Object parsed = ConfigText.parse(ConfigText.Kind.BOOLEAN, boolean.class, value.text(), value.base());
        if (parsed == null) {
            refused.add(key);
            problems.add(wrong(key, value, ConfigText.Kind.BOOLEAN.expected(boolean.class), false));
        }
        return parsed == null || (Boolean) parsed;
    }

    /** The defaults of a listener with a new name; they depend on the type, which is required. */
    private Record listenerDefaults(String key, boolean enabled) {
        ConfigValue type = values.get(key + ".type");
        if (type == null || type.text() == null) {
            if (enabled) {
                problems.add(origin(key) + key + ".type must be set, to one of "
                        + String.join(", ", ConfigText.words(ListenerConfig.Type.class)));
            }
            return ListenerConfig.of(ListenerConfig.Type.TCP);
        }
        Object parsed = ConfigText.parse(ConfigText.Kind.ENUM, ListenerConfig.Type.class, type.text(), type.base());
        return ListenerConfig.of(parsed == null ? ListenerConfig.Type.TCP : (ListenerConfig.Type) parsed);
    }

    private @Nullable Object leaf(RecordComponent component, @Nullable Object fallback, String key, boolean bare) {
        known.add(key);
        ConfigValue value = values.get(key);
        String text = value == null ? null : value.text();
        if (value == null || text == null) {
            if (value != null && !ConfigSchema.nullable(component)) {
                refused.add(key);
                problems.add(value.origin() + ": " + key + " has no value: set one, or remove the key for its default");
                return fallback;
            }
            return bare ? bare(component, key) : fallback;
        }
        if (text.isEmpty() && ConfigSchema.nullable(component)) {
            return null;
        }
        Object parsed = ConfigSchema.parse(component, text, value.base());
        if (parsed == null) {
            refused.add(key);
            problems.add(wrong(key, value, ConfigSchema.expected(component), ConfigSchema.secret(component)));
            return fallback;
        }
        return parsed;
    }

    /** The value of an absent key in a block without defaults. */
    private @Nullable Object bare(RecordComponent component, String key) {
        if (ConfigSchema.setting(component).required()) {
            refused.add(key);
            problems.add(origin(key.substring(0, key.lastIndexOf('.'))) + key + " must be set");
            return null;
        }
        return BlockValues.defaultOf(component);
    }

    private static String wrong(String key, ConfigValue value, String expected, boolean secret) {
        String found = secret || SecretMask.mayBeSecret(key)
                ? ""
                : ", but is \"" + SecretMask.text(String.valueOf(value.text())) + "\"";
        return value.origin() + ": " + key + " must be " + expected + found;
    }

    /** Creates a record. A record rejects one component at a time; that component gets its default, until none is rejected. */
    private @Nullable Record construct(
            Class<?> type,
            RecordComponent[] components,
            @Nullable Object[] args,
            @Nullable Record defaults,
            String prefix) {
        for (int tries = 0; tries <= args.length; tries++) {
            try {
                return BlockValues.make(type.asSubclass(Record.class), args);
            } catch (ConfigurationException refusal) {
                if (defaults == null || !substitute(refusal, components, args, defaults, prefix)) {
                    report(refusal, prefix);
                    return defaults;
                }
            }
        }
        return defaults;
    }

    /** Replaces a rejected value by its default, and reports it; false if there is no default. */
    private boolean substitute(
            ConfigurationException refusal,
            RecordComponent[] components,
            @Nullable Object[] args,
            Record defaults,
            String prefix) {
        String[] levels = key(refusal, prefix).substring(prefix.length()).split("\\.", -1);
        for (int i = 0; i < components.length; i++) {
            Object fallback = ConfigSchema.get(defaults, components[i]);
            if (ConfigSchema.kebab(components[i].getName()).equals(levels[0]) && !Objects.equals(args[i], fallback)) {
                report(refusal, prefix);
                args[i] =
                        levels.length > 1 && args[i] instanceof Map<?, ?> named ? without(named, levels[1]) : fallback;
                return true;
            }
        }
        return false;
    }

    private static Map<?, ?> without(Map<?, ?> named, String name) {
        Map<Object, Object> rest = new LinkedHashMap<>(named);
        rest.remove(name);
        return rest;
    }

    private void report(ConfigurationException refusal, String prefix) {
        refused.add(key(refusal, prefix));
        problems.add(located(refusal, prefix));
    }

    private static String key(ConfigurationException problem, String prefix) {
        String key = problem.key() == null ? "" : problem.key();
        return prefix.isEmpty() ? key : prefix + key.substring(key.lastIndexOf('.') + 1);
    }

    /** Adds the full key and the origin to a problem; a record knows only the names of its own components. */
    private String located(ConfigurationException problem, String prefix) {
        String key = problem.key() == null ? "" : problem.key();
        String full = key(problem, prefix);
        String message = String.valueOf(problem.getMessage());
        return origin(full) + (message.startsWith(key) ? full + message.substring(key.length()) : message);
    }

    /** The origin of a key or, if it is absent, of the first key of its block. */
    private String origin(String key) {
        ConfigValue value = values.get(key);
        if (value == null) {
            value = values.entrySet().stream()
                    .filter(entry -> entry.getKey().startsWith(key + "."))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse(null);
        }
        return value == null ? "" : value.origin() + ": ";
    }
}
