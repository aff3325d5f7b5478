// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Figures of several nodes as those of one. */
final class Sums {

    private static final String TIME = "time_stamp";

    /** Of these the greatest counts; the others are added. */
    private static final Set<String> GREATEST = Set.of(TIME, "interval", "node_uptime");

    private Sums() {}

    /** Adds figures by name, objects within them as well. */
    static Map<String, Object> of(Collection<? extends Map<?, ?>> all) {
        Map<String, Object> sum = new LinkedHashMap<>();
        for (Map<?, ?> one : all) {
            one.forEach((name, value) -> add(sum, String.valueOf(name), value));
        }
        return sum;
    }

    private static void add(Map<String, Object> sum, String name, @Nullable Object value) {
        if (value instanceof Map<?, ?> inner) {
            sum.merge(name, of(List.of(inner)), (before, more) -> of(List.of((Map<?, ?>) before, (Map<?, ?>) more)));
        } else if (value instanceof Number number) {
            sum.merge(name, number, (before, more) -> added(name, (Number) before, (Number) more));
        }
    }

    private static Number added(String name, Number one, Number other) {
        boolean whole = !(one instanceof Double || other instanceof Double);
        if (GREATEST.contains(name)) {
            return Math.max(one.longValue(), other.longValue());
        }
        if (whole) {
            return one.longValue() + other.longValue();
        }
        return Math.rint((one.doubleValue() + other.doubleValue()) * 1_000) / 1_000;
    }

    /**
     * Adds the histories of several nodes. Each node takes its samples at moments of its own, so samples are joined by their number,
     * counted back from the newest one of each node.
     *
     * @param histories the samples of each node, the oldest one first
     * @return the sums, the oldest one first
     */
    static List<Map<String, Object>> ofHistories(Collection<? extends List<?>> histories) {
        Map<Long, List<Map<?, ?>>> byNumber = new TreeMap<>();
        for (List<?> history : histories) {
            if (history.isEmpty() || !(history.get(history.size() - 1) instanceof Map<?, ?> newest)) {
                continue;
            }
            long last = number(newest, TIME);
            long millis = Math.max(1, 1_000 * number(newest, "interval"));
            for (Object entry : history) {
                if (entry instanceof Map<?, ?> sample) {
                    long before = Math.round((double) (last - number(sample, TIME)) / millis);
                    byNumber.computeIfAbsent(last / millis - before, key -> new ArrayList<>())
                            .add(sample);
                }
            }
        }
        return byNumber.values().stream().map(Sums::of).toList();
    }

    private static long number(Map<?, ?> sample, String name) {
        return sample.get(name) instanceof Number number ? number.longValue() : 0;
    }

    /** The same figures with whole rates, as EMQX's tools read them. */
    static Map<String, Object> whole(Map<String, ?> figures) {
        Map<String, Object> all = new LinkedHashMap<>(figures);
        all.replaceAll((name, value) ->
                name.endsWith("_rate") && value instanceof Double rate ? (Object) Math.round(rate) : value);
        return all;
    }
}
