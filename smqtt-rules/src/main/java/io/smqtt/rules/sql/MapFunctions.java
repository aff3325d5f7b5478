// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Functions of maps. A map is never changed in place. */
final class MapFunctions {

    private MapFunctions() {}

    static List<Function> all() {
        return new FunctionFamily()
                .add(
                        "map_get(key, map[, default])",
                        "the value of a key; undefined, or the default, if there is none",
                        a -> otherwise(a, Values.get(a.map(1), a.text(0))))
                .add(
                        "map_put(key, value, map)",
                        "the map with another value for a key; dots separate keys of nested maps",
                        a -> put(a, List.of((Object[]) a.text(0).split("\\.", -1))))
                .add("map_keys(map)", "an array of the keys", a -> {
                    List<@Nullable Object> keys = Values.list(a.map(0).size(), a.meter());
                    keys.addAll(a.map(0).keySet());
                    return keys;
                })
                .add("map_values(map)", "an array of the values", a -> {
                    List<@Nullable Object> values = Values.list(a.map(0).size(), a.meter());
                    values.addAll(a.map(0).values());
                    return values;
                })
                .add("map_to_entries(map)", "an array of maps with key and value", a -> entries(a.map(0), a.meter()))
                .add("map_size(map)", "the number of keys", a -> (long) a.map(0).size())
                .add("map_new()", "a map without keys", a -> Map.of())
                .add(
                        "map_to_redis_hset_args(map)",
                        "an array of keys and values in turn, as Redis takes them; nested values are left out",
                        a -> flat(a.map(0), a.meter()))
                .add(
                        "mget(key, map[, default])",
                        "as map_get; an array of keys leads into nested maps",
                        a -> otherwise(a, deep(a)))
                .add(
                        "mput(key, value, map)",
                        "as map_put without dots; an array of keys leads into nested maps",
                        a -> put(a, keys(a)))
                .functions();
    }

    /** The map of a literal. */
    static Object map(List<String> keys, Expr[] values, Frame frame) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int index = 0; index < values.length; index++) {
            frame.meter.make(16);
            map.put(keys.get(index), Values.plain(values[index].eval(frame)));
        }
        return map;
    }

    private static @Nullable Object otherwise(Arguments a, @Nullable Object value) {
        return value == null && a.count() > 2 ? a.value(2) : value;
    }

    private static @Nullable Object put(Arguments a, List<?> keys) {
        Object map = a.value(2) == null ? Map.of() : a.map(2);
        return Paths.put(map, keys, 0, a.value(1), a.meter());
    }

    private static List<?> keys(Arguments a) {
        if (!(a.value(0) instanceof List<?> list)) {
            return List.of(a.text(0));
        }
        List<Object> keys = new ArrayList<>();
        for (Object key : list) {
            if (!(key instanceof String || key instanceof Long)) {
                throw a.wrong(0, "a key or an array of keys");
            }
            a.meter().step();
            keys.add(key);
        }
        return keys;
    }

    private static @Nullable Object deep(Arguments a) {
        Object value = a.map(1);
        for (Object key : keys(a)) {
            value = key instanceof Long index
                    ? Paths.index(value, index, a.meter())
                    : Paths.key(value, (String) key, a.meter());
        }
        return value;
    }

    private static Object entries(Map<?, ?> map, Meter meter) {
        List<@Nullable Object> entries = Values.list(map.size(), meter);
        meter.make(map.size() * 64L);
        map.forEach((key, value) -> {
            Map<String, @Nullable Object> entry = new LinkedHashMap<>();
            entry.put("key", key);
            entry.put("value", value);
            entries.add(entry);
        });
        return entries;
    }

    private static Object flat(Map<?, ?> map, Meter meter) {
        List<@Nullable Object> arguments = Values.list(map.size() * 2L, meter);
        map.forEach((key, value) -> {
            if (!(value == null || value instanceof Map || value instanceof List)) {
                arguments.add(key);
                arguments.add(value);
            }
        });
        return arguments;
    }
}
