// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All configuration keys, read from the records, so that no key can exist without being bound, checked and documented. A component
 * {@code maxInFlight} of the block {@code limits} is the key {@code limits.max-in-flight}. A record is a block; a map of records is a
 * block of blocks with names that the user chooses.
 *
 * <p>Several roots share one name space: {@link BrokerConfig}, and the records of a program or module, such as logging.
 */
public final class ConfigSchema {

    /** Placeholder in key names for a name that the user chooses. */
    static final String NAME = "<name>";

    private static final ClassValue<RecordComponent[]> COMPONENTS = new ClassValue<>() {
        @Override
        protected RecordComponent[] computeValue(Class<?> record) {
            return record.getRecordComponents();
        }
    };

    private final List<Record> roots;

    private ConfigSchema(List<Record> roots) {
        this.roots = roots;
    }

    /**
     * Reads the schema of some records.
     *
     * @param roots the defaults; their components are the blocks and keys of the top level
     * @return the schema
     */
    public static ConfigSchema of(Record... roots) {
        return new ConfigSchema(List.of(roots));
    }

    /**
     * Creates a record with the default of each component.
     *
     * @param type the record
     * @param <R> the record
     * @return a new one
     * @throws ConfigurationException if a component has no default
     */
    public static <R extends Record> R defaults(Class<R> type) {
        return BlockValues.defaults(type).build();
    }

    /** The components of a record, read once: each reading gives new objects, whose annotations are parsed anew. Not to be changed. */
    static RecordComponent[] components(Class<?> record) {
        return COMPONENTS.get(record);
    }

    List<Record> roots() {
        return roots;
    }

    /**
     * Describes every key.
     *
     * @return in the order of the records
     */
    public List<ConfigKey> describe() {
        List<ConfigKey> keys = new ArrayList<>();
        for (Record root : roots) {
            describe(root.getClass(), root, "", keys);
        }
        return keys;
    }

    private static void describe(Class<?> type, @Nullable Record defaults, String prefix, List<ConfigKey> keys) {
        Properties texts = texts(type);
        for (RecordComponent component : components(type)) {
            String key = prefix + kebab(component.getName());
            Object value = defaults == null ? null : get(defaults, component);
            if (isOthers(component)) {
                continue; // what the type of the block declares
            }
            if (component.getType().isRecord()) {
                describe(component.getType(), (Record) value, key + ".", keys);
            } else if (component.getType() == Map.class) {
                String entry = key + "." + NAME + ".";
                keys.add(new ConfigKey(
                        entry + ENABLED,
                        "true or false",
                        "true",
                        "",
                        "false removes this entry",
                        false,
                        false,
                        List.of()));
                Class<?> element = elementType(component);
                boolean listener = element == ListenerConfig.class; // its defaults depend on the type
                describe(element, listener ? ListenerConfig.of(ListenerConfig.Type.TCP) : null, entry, keys);
            } else {
                keys.add(describe(component, value, key, defaults == null, texts.getProperty(component.getName(), "")));
            }
        }
    }

    /** The texts of a record, which the build has extracted from its Javadoc. */
    private static Properties texts(Class<?> type) {
        Properties texts = new Properties();
        String file = type.getName().substring(type.getPackageName().length() + 1) + ".properties";
        try (InputStream in = type.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("the texts of " + type + ", which the build generates, are missing");
            }
            texts.load(new InputStreamReader(in, StandardCharsets.UTF_8));
            return texts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The key, within a named block, that removes the block. */
    static final String ENABLED = "enabled";

    private static ConfigKey describe(
            RecordComponent component, @Nullable Object value, String key, boolean optional, String text) {
        Setting setting = setting(component);
        boolean declared = optional || setting.value().endsWith("%");
        String shown =
                !setting.shown().isEmpty() ? setting.shown() : declared ? setting.value() : format(component, value);
        return new ConfigKey(
                key,
                expected(component),
                shown,
                setting.min().isEmpty() ? "" : setting.min() + " to " + setting.max(),
                text,
                optional && setting.required(),
                setting.secret(),
                List.of(setting.placeholders()));
    }

    /**
     * The value of every key.
     *
     * @param records the bound records
     * @return key to text, in the order of the records; secrets are masked, keys without a value have an empty text, an
     *     absent block has no keys
     */
    public static Map<String, String> values(Record... records) {
        Map<String, String> values = new LinkedHashMap<>();
        for (Record root : records) {
            values(root, "", values);
        }
        return values;
    }

    private static void values(Record block, String prefix, Map<String, String> values) {
        for (RecordComponent component : components(block.getClass())) {
            String key = prefix + kebab(component.getName());
            Object value = get(block, component);
            if (value instanceof Record) {
                values((Record) value, key + ".", values);
            } else if (isOthers(component)) {
                ((Map<?, ?>) Objects.requireNonNull(value))
                        .forEach((name, text) -> values.put(
                                prefix + name, SecretMask.value((String) name, ((ConfigValue) text).text())));
            } else if (value instanceof Map) {
                ((Map<?, ?>) value).forEach((name, entry) -> values((Record) entry, key + "." + name + ".", values));
            } else if (!component.getType().isRecord()) {
                boolean masked = value != null && secret(component);
                values.put(key, masked ? SecretMask.MASK : shown(value, component));
            }
        }
    }

    /** Shows a value; a URL may contain a secret among its parameters. */
    private static String shown(@Nullable Object value, RecordComponent component) {
        String text = format(component, value);
        if (value instanceof Path path) {
            return SecretMask.path(path);
        }
        return component.getType() == String.class ? SecretMask.text(text) : text;
    }

    /** The declaration of a component; the defaults of the annotation if there is none. */
    static Setting setting(RecordComponent component) {
        Setting setting = component.getAnnotation(Setting.class);
        return setting == null ? NOTHING : setting;
    }

    /** Has a component that declares nothing except name and type. */
    private record Plain(@Setting String value) {}

    private static final Setting NOTHING = Plain.class.getRecordComponents()[0].getAnnotation(Setting.class);

    static ConfigText.Kind kind(RecordComponent component) {
        return ConfigText.Kind.of(component.getType(), component.getName());
    }

    /** The form of the text of a component, for the reference and for errors. */
    static String expected(RecordComponent component) {
        String zero = setting(component).zero();
        String form = kind(component).expected(component.getType());
        return zero.isEmpty() ? form : zero + " or " + form;
    }

    /**
     * Parses the text of a component.
     *
     * @param base the base of relative paths
     * @return null if the text does not have the form of {@link #expected}
     */
    static @Nullable Object parse(RecordComponent component, String text, Path base) {
        String zero = setting(component).zero();
        return !zero.isEmpty() && zero.equalsIgnoreCase(text)
                ? Duration.ZERO
                : ConfigText.parse(kind(component), component.getType(), text, base);
    }

    /** Formats the value of a component so that it can be parsed again. */
    static String format(RecordComponent component, @Nullable Object value) {
        String zero = setting(component).zero();
        return !zero.isEmpty() && Duration.ZERO.equals(value) ? zero : ConfigText.format(value, kind(component));
    }

    static boolean secret(RecordComponent component) {
        return setting(component).secret();
    }

    static boolean nullable(RecordComponent component) {
        return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
    }

    /** The record type in a map of records. */
    static Class<?> elementType(RecordComponent component) {
        return (Class<?>) ((ParameterizedType) component.getGenericType()).getActualTypeArguments()[1];
    }

    /** Whether a component holds the keys of its block that the record does not declare. */
    private static boolean isOthers(RecordComponent component) {
        return component.getType() == Map.class && elementType(component) == ConfigValue.class;
    }

    /** The names that a block has besides those of such a component. */
    static Set<String> names(Class<?> block) {
        Set<String> names = new HashSet<>();
        names.add(ENABLED);
        for (RecordComponent component : components(block)) {
            if (!isOthers(component)) {
                names.add(kebab(component.getName()));
            }
        }
        return names;
    }

    static @Nullable Object get(Record block, RecordComponent component) {
        try {
            Method accessor = component.getAccessor();
            accessor.setAccessible(true); // the record may be package-private
            return accessor.invoke(block);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot read " + component, e);
        }
    }

    static String kebab(String name) {
        StringBuilder kebab = new StringBuilder(name.length() + 4);
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (Character.isUpperCase(c)) {
                kebab.append('-').append(Character.toLowerCase(c));
            } else {
                kebab.append(c);
            }
        }
        return kebab.toString();
    }
}
