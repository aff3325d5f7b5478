// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectFormat;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The rules of one kind in their order: those of the configuration file, which are read-only, and behind them those of operators, which are one live object,
 * because their order decides.
 *
 * @param <T> the configuration of one rule
 */
@AnyThread
final class RuleList<T> {

    /** Maximum number of rules, those of the file included. */
    static final int MAX_RULES = 100;

    /** Maximum bytes of the rules of operators, as JSON. */
    static final int MAX_BYTES = 256 << 10;

    private static final String ID = "all";
    private static final String RULES = "rules";
    private static final String NAME = "name";
    private static final String READ_ONLY = "read_only";

    private final ObjectKind<List<T>> kind;
    private final RuleFields<T> fields;
    private volatile Map<String, T> fixed = Map.of();

    RuleList(LiveObjects objects, String name, RuleFields<T> fields) {
        this.fields = fields;
        kind = objects.kind(name, format(fields), new ObjectLimits(1, MAX_BYTES, MAX_BYTES));
    }

    private static <T> ObjectFormat<List<T>> format(RuleFields<T> fields) {
        return new ObjectFormat<>() {

            @Override
            public List<T> read(String id, JsonFields object) {
                List<T> all = new ArrayList<>();
                for (JsonNode element : object.elements(RULES)) {
                    all.add(numbered(fields, all.size() + 1, new JsonFields(element), false));
                }
                requireDistinct(fields, all);
                if (!id.equals(ID) || all.size() > MAX_RULES) {
                    throw new IllegalArgumentException(
                            "there is one list, named " + ID + ", of at most " + MAX_RULES + " rules");
                }
                return List.copyOf(all);
            }

            @Override
            public Map<String, Object> write(List<T> value) {
                return Map.of(RULES, value.stream().map(fields::write).toList());
            }
        };
    }

    private static <T> T numbered(RuleFields<T> fields, int number, JsonFields rule, boolean isNew) {
        try {
            return fields.checked(rule, isNew);
        } catch (IllegalArgumentException e) {
            throw new InvalidFieldException("rule " + number + ": " + e.getMessage());
        }
    }

    private static <T> void requireDistinct(RuleFields<T> fields, Iterable<T> rules) {
        Set<String> names = new HashSet<>();
        for (T rule : rules) {
            String name = fields.name(rule);
            if (!name.isEmpty() && !names.add(name)) {
                throw new InvalidFieldException("there are several rules with the name " + name);
            }
        }
    }

    /**
     * Begins to apply the rules of operators; those of the store are applied when this returns.
     *
     * @param configured the rules of the configuration file, by name
     * @param apply takes the rules of operators
     */
    void start(Map<String, T> configured, Consumer<List<T>> apply) {
        fixed = configured;
        apply.accept(changeable());
        kind.watch(new ObjectWatcher<>() {

            @Override
            public void changed(LiveObject<List<T>> object) {
                apply.accept(object.value());
            }

            @Override
            public void removed(String id) {
                apply.accept(List.of());
            }
        });
    }

    private List<T> changeable() {
        LiveObject<List<T>> object = kind.get(ID);
        return object == null ? List.of() : object.value();
    }

    /** All rules in their order. Those of the file have a name, and say that they are read-only. */
    List<Map<String, Object>> rows() {
        List<Map<String, Object>> all = new ArrayList<>();
        fixed.forEach((name, rule) -> {
            Map<String, Object> row = new LinkedHashMap<>(fields.write(rule));
            row.put(NAME, name);
            row.put(READ_ONLY, true);
            all.add(row);
        });
        changeable().forEach(rule -> all.add(fields.write(rule)));
        return all;
    }

    /**
     * Reads the rows of a new list. Rows of the file may be among them, as {@link #rows} has returned them. Takes time: not for event loops.
     *
     * @return the rules of operators
     * @throws InvalidFieldException if a rule is none
     */
    List<T> read(List<JsonFields> rows) {
        List<T> all = new ArrayList<>();
        int number = 0;
        for (JsonFields row : rows) {
            number++;
            T rule = numbered(fields, number, row, true);
            if (!row.has(READ_ONLY) || !row.flag(READ_ONLY)) {
                all.add(rule);
            } else if (!isFixed(row.textOrNull(NAME), rule)) {
                throw new Problem(
                                403,
                                "READ_ONLY",
                                "rule " + number + " is not as in the configuration file, and cannot be changed here")
                        .exception();
            }
        }
        if (fixed.size() + all.size() > MAX_RULES) {
            throw new Problem(409, "EXCEED_LIMIT", "there are at most " + MAX_RULES + " rules").exception();
        }
        List<T> together = new ArrayList<>(fixed.values());
        together.addAll(all);
        requireDistinct(fields, together);
        return List.copyOf(all);
    }

    /** Whether a rule is as in the file. What the form does not have, such as a folder, cannot differ. */
    private boolean isFixed(@Nullable String name, T rule) {
        T configured = name == null ? null : fixed.get(name);
        return configured != null && fields.write(rule).equals(fields.write(configured));
    }

    /** Replaces the rules of operators, on all nodes. */
    Mono<Void> replace(List<T> rules, String origin) {
        return kind.put(ID, rules, Expected.ANYTHING, origin).then();
    }
}
