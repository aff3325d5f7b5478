// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What SELECT or DO puts into a row. */
final class Columns {

    private final String clause;
    private final List<Column> columns;

    Columns(String clause, List<Column> columns) {
        this.clause = clause;
        this.columns = List.copyOf(columns);
    }

    /** A part of a row. */
    sealed interface Column {

        /** All fields of the event, and all names that the statement has given in front of it. */
        record Everything(Map<String, Integer> names) implements Column {}

        /**
         * One value.
         *
         * @param text the column as written
         * @param expr calculates it
         * @param name the key in the row
         * @param steps where below the key it is put; empty for the key itself
         * @param slot the slot for columns behind it and for WHERE, or -1
         * @param known whether the slot has had a value before
         */
        record Value(String text, Expr expr, String name, List<?> steps, int slot, boolean known) implements Column {}
    }

    /** The names of a row's columns; {@code null} if they depend on the event. */
    @Nullable
    Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (Column column : columns) {
            if (!(column instanceof Column.Value value)) {
                return null;
            }
            names.add(value.name());
        }
        return names;
    }

    /** The row of an evaluation. */
    Map<String, @Nullable Object> row(Frame frame, @Nullable RuleTrace trace) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>(2 * columns.size());
        for (Column column : columns) {
            if (column instanceof Column.Value value) {
                put(value, frame, row, trace);
            } else if (column instanceof Column.Everything everything) {
                putAll(everything.names(), frame, row);
                if (trace != null) {
                    trace.add(clause, "*", new LinkedHashMap<>(row));
                }
            }
        }
        return row;
    }

    private void put(Column.Value column, Frame frame, Map<String, @Nullable Object> row, @Nullable RuleTrace trace) {
        Object value;
        try {
            value = column.expr().eval(frame);
        } catch (RuleFailure e) {
            if (trace != null) {
                trace.fail(clause, column.text(), e.reason());
            }
            throw e;
        }
        if (trace != null) {
            trace.add(clause, column.text(), value);
        }
        if (column.slot() >= 0) {
            Object before = column.known() ? frame.slots[column.slot()] : frame.field(column.name());
            frame.slots[column.slot()] =
                    column.steps().isEmpty() ? value : Paths.put(before, column.steps(), 0, value, frame.meter);
        }
        Object whole = column.steps().isEmpty()
                ? value
                : Paths.put(Values.get(row, column.name()), column.steps(), 0, value, frame.meter);
        putInto(row, column.name(), whole, frame.meter);
    }

    private static void putInto(Map<String, @Nullable Object> row, String name, @Nullable Object value, Meter meter) {
        if (value == null) {
            row.remove(name);
        } else {
            meter.make(Values.size(value, meter));
            row.put(name, Values.plain(value));
        }
    }

    /** All fields and names. */
    static void putAll(Map<String, Integer> names, Frame frame, Map<String, @Nullable Object> row) {
        for (String name : frame.input.names()) {
            if (!names.containsKey(name)) {
                putInto(row, name, frame.field(name), frame.meter);
            }
        }
        names.forEach((name, slot) -> putInto(row, name, frame.slots[slot], frame.meter));
    }
}
