// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads and replaces values inside of maps and lists. Indexes count from 1, negative ones from the end. Text that is asked for a key or an
 * element is read as JSON. Nothing is changed in place: a copy is made of what is on the way to a new value.
 */
final class Paths {

    /** The index in front of all elements, when a value is put. */
    static final Long FRONT = 0L;

    /** The index behind all elements, when a value is put. */
    static final Long BACK = Long.MIN_VALUE;

    private Paths() {}

    /** The value of a key, undefined if there is none. */
    static @Nullable Object key(@Nullable Object value, String key, Meter meter) {
        meter.step();
        if (value instanceof Map<?, ?> map) {
            return Values.get(map, key);
        }
        return Values.isText(value) && read(value, meter) instanceof Map<?, ?> map ? Values.get(map, key) : null;
    }

    /** An element, undefined if there is none. */
    static @Nullable Object index(@Nullable Object value, long index, Meter meter) {
        meter.step();
        Object structure = Values.isText(value) ? read(value, meter) : value;
        if (!(structure instanceof List<?> list)) {
            return null;
        }
        long at = position(index, list.size());
        return at < 0 || at >= list.size() ? null : Values.element(list.get((int) at));
    }

    /** The elements from one index to another, both included; what is outside of the list is left out. */
    static List<?> range(@Nullable Object value, long first, long last, Meter meter) {
        Object structure = Values.isText(value) ? read(value, meter) : value;
        if (!(structure instanceof List<?> list)) {
            throw new RuleFailure("a range needs an array, not " + Values.kind(value));
        }
        long from = Math.max(0, first == 0 ? 0 : position(first, list.size()));
        long to = Math.min(list.size(), position(last, list.size()) + 1);
        if (from >= to) {
            return List.of();
        }
        meter.make((to - from) * 8);
        return new ArrayList<>(list.subList((int) from, (int) to));
    }

    private static long position(long index, int size) {
        return index > 0 ? index - 1 : index == 0 ? -1 : size + index;
    }

    private static Object read(@Nullable Object text, Meter meter) {
        meter.make(
                text instanceof byte[] bytes
                        ? bytes.length
                        : Objects.requireNonNull((String) text).length());
        return Json.read(text, "the text");
    }

    /**
     * A value in which another one stands at a path.
     *
     * @param current what is there, or undefined
     * @param steps {@code String}s and {@code Long}s
     * @param from the first step that counts
     * @param value the new value, as expressions have it
     * @return the new value of the whole
     */
    static @Nullable Object put(
            @Nullable Object current, List<?> steps, int from, @Nullable Object value, Meter meter) {
        if (from == steps.size()) {
            return value;
        }
        if (from > Values.DEPTH / 2) {
            throw new RuleFailure("a path has more than " + Values.DEPTH / 2 + " steps");
        }
        return steps.get(from) instanceof Long index
                ? putAt(current, index, steps, from, value, meter)
                : putKey(current, (String) steps.get(from), steps, from, value, meter);
    }

    private static Object putKey(
            @Nullable Object current, String key, List<?> steps, int from, @Nullable Object value, Meter meter) {
        Object structure = Values.isText(current) ? readOrNothing(current, meter) : current;
        Map<String, @Nullable Object> copy = new LinkedHashMap<>();
        if (structure instanceof Map<?, ?> map) {
            charge(map.size(), meter);
            map.forEach((name, element) -> copy.put((String) name, element));
        }
        Object below = put(Values.get(copy, key), steps, from + 1, value, meter);
        if (below == null) {
            copy.remove(key);
        } else {
            copy.put(key, Values.plain(below));
        }
        return copy;
    }

    private static Object putAt(
            @Nullable Object current, long index, List<?> steps, int from, @Nullable Object value, Meter meter) {
        Object structure = Values.isText(current) ? readOrNothing(current, meter) : current;
        List<@Nullable Object> copy = new ArrayList<>();
        if (structure instanceof List<?> list) {
            charge(list.size(), meter);
            copy.addAll(list);
        }
        long at = index == 0 || index == BACK ? -1 : position(index, copy.size());
        if (at >= 0 && at < copy.size()) {
            Object below = put(Values.element(copy.get((int) at)), steps, from + 1, value, meter);
            copy.set((int) at, Values.plain(below));
        } else {
            Object below = Values.plain(put(null, steps, from + 1, value, meter));
            copy.add(index == 0 ? 0 : copy.size(), below);
        }
        return copy;
    }

    private static @Nullable Object readOrNothing(@Nullable Object text, Meter meter) {
        try {
            return read(text, meter);
        } catch (RuleFailure e) {
            return null;
        }
    }

    private static void charge(int size, Meter meter) {
        meter.steps(size);
        meter.make(size * 16L);
    }
}
