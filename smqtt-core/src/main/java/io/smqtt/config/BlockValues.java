// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Values of a {@link ConfigBlock} in the order of its components, from which a record is made. Builders and {@link ConfigBinder} get
 * the defaults and the checks of {@link Setting} here. Not thread-safe.
 */
final class BlockValues<R extends Record> {

    private static final Path NO_BASE = Path.of("");

    private final Class<R> type;
    private final @Nullable Object[] values;

    private BlockValues(Class<R> type, @Nullable Object[] values) {
        this.type = type;
        this.values = values;
    }

    /** Creates values with the defaults; a required value is null. */
    static <R extends Record> BlockValues<R> defaults(Class<R> type) {
        return new BlockValues<>(
                type,
                Arrays.stream(ConfigSchema.components(type))
                        .map(BlockValues::defaultOf)
                        .toArray());
    }

    /** Creates values from a record. */
    static <R extends Record> BlockValues<R> of(Class<R> type, R block) {
        return new BlockValues<>(type, read(block));
    }

    private static @Nullable Object[] read(Record block) {
        return Arrays.stream(ConfigSchema.components(block.getClass()))
                .map(component -> ConfigSchema.get(block, component))
                .toArray();
    }

    void set(int component, @Nullable Object value) {
        values[component] = value;
    }

    /** Adds or replaces an entry of a map. */
    void put(int component, String name, Object value) {
        Map<Object, Object> changed = new LinkedHashMap<>();
        if (values[component] instanceof Map<?, ?> before) {
            changed.putAll(before);
        }
        changed.put(name, value);
        values[component] = changed;
    }

    R build() {
        return make(type, values);
    }

    /**
     * Makes a record.
     *
     * @throws ConfigurationException if a value is missing or out of its bounds, or the constructor rejects it
     */
    static <R extends Record> R make(Class<R> type, @Nullable Object[] values) {
        check(type, values);
        Class<?>[] types = Arrays.stream(ConfigSchema.components(type))
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        try {
            Constructor<R> constructor = type.getDeclaredConstructor(types);
            constructor.setAccessible(true); // the record may be package-private
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof ConfigurationException refusal) {
                throw refusal;
            }
            throw new IllegalStateException("cannot make " + type, e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot make " + type, e);
        }
    }

    /**
     * Checks values, and the records among them.
     *
     * @throws ConfigurationException if one is missing or out of its bounds
     */
    static void check(Class<?> type, @Nullable Object... values) {
        ConfigBlock block = type.getAnnotation(ConfigBlock.class);
        String prefix = block == null || block.value().isEmpty() ? "" : block.value() + ".";
        RecordComponent[] components = ConfigSchema.components(type);
        for (int i = 0; i < components.length; i++) {
            check(prefix + ConfigSchema.kebab(components[i].getName()), components[i], values[i]);
        }
    }

    private static void check(String key, RecordComponent component, @Nullable Object value) {
        if (value == null) {
            Check.that(ConfigSchema.nullable(component), key, "must be set");
        } else if (value instanceof Record block) {
            check(block.getClass(), read(block));
        } else if (value instanceof Map<?, ?> blocks) {
            for (Object block : blocks.values()) {
                if (block instanceof Record record) {
                    check(record.getClass(), read(record));
                }
            }
        } else if (!ConfigSchema.setting(component).min().isEmpty()) {
            range(key, component, value instanceof Integer number ? (Long) number.longValue() : value);
        }
    }

    private static void range(String key, RecordComponent component, Object value) {
        Comparable<Object> min =
                bound(component, ConfigSchema.setting(component).min());
        Comparable<Object> max =
                bound(component, ConfigSchema.setting(component).max());
        if (min.compareTo(value) > 0 || max.compareTo(value) < 0) {
            String found = value instanceof Double ? value.toString() : ConfigText.format(value);
            throw new ConfigurationException(
                    key, "must be " + ConfigText.format(min) + " to " + ConfigText.format(max) + ", but is " + found);
        }
    }

    /** A bound of a number is a {@link Long}, also for an int. */
    @SuppressWarnings("unchecked")
    private static Comparable<Object> bound(RecordComponent component, String text) {
        return (Comparable<Object>) parsed(component, long.class, text);
    }

    /** The declared default of a component; null if there is none. */
    static @Nullable Object defaultOf(RecordComponent component) {
        Setting setting = ConfigSchema.setting(component);
        if (setting.required()) {
            return null;
        } else if (!setting.by().isEmpty()) {
            return computed(component.getDeclaringRecord(), setting.by());
        } else if (setting.value().isEmpty() && ConfigSchema.nullable(component)) {
            return null;
        } else if (component.getType() == Map.class) {
            return Map.of();
        } else if (component.getType().isRecord()) {
            return ConfigSchema.defaults(component.getType().asSubclass(Record.class));
        }
        Object value = parsed(component, component.getType(), setting.value());
        return setting.value().endsWith("%") ? within(component, setting, (Long) value) : value;
    }

    private static Long within(RecordComponent component, Setting setting, Long bytes) {
        Long min = (Long) parsed(component, long.class, setting.min());
        Long max = (Long) parsed(component, long.class, setting.max());
        return Math.max(min, Math.min(max, bytes));
    }

    private static Object computed(Class<?> record, String name) {
        try {
            Method method = record.getDeclaredMethod(name);
            method.setAccessible(true);
            return method.invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot compute a default by " + name + " of " + record, e);
        }
    }

    private static Object parsed(RecordComponent component, Class<?> type, String text) {
        Object value = ConfigText.parse(ConfigSchema.kind(component), type, text, NO_BASE);
        if (value == null) {
            throw new IllegalStateException("\"" + text + "\" is no value of " + component);
        }
        return value;
    }
}
