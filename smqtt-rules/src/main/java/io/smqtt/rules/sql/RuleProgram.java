// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A compiled statement. Immutable: any number of threads may evaluate it at the same time, each with its own event. */
public final class RuleProgram {

    private final String sql;
    private final List<Source> written;
    private final List<String> sources;
    private final Plan plan;

    RuleProgram(String sql, List<Source> written, Plan plan) {
        this.sql = sql;
        this.written = List.copyOf(written);
        this.sources = written.stream().map(Source::text).toList();
        this.plan = plan;
    }

    /** A topic filter or event in FROM, and its place, counted from 1. */
    record Source(String text, int line, int column) {}

    /** An expression with the text that it is written as. */
    record Clause(String name, String text, Expr expr) {

        boolean test(Frame frame, @Nullable RuleTrace trace) {
            try {
                boolean result = expr.test(frame);
                if (trace != null) {
                    trace.add(name, text, result);
                }
                return result;
            } catch (RuleFailure e) {
                if (trace != null) {
                    trace.fail(name, text, e.reason());
                }
                throw e;
            }
        }
    }

    /** A value that FOREACH names. */
    record Binding(String text, Expr expr, int slot) {}

    /**
     * How the statement is evaluated.
     *
     * @param bindings what FOREACH names, the last one being the array; empty for SELECT
     * @param where the condition
     * @param whereFirst whether the condition needs none of the names that the statement gives
     * @param incase the condition for elements
     * @param columns SELECT or DO; {@code null} for FOREACH without DO
     * @param names the names in a row of FOREACH without DO
     * @param slots the number of slots
     * @param paths the paths of the payload
     */
    record Plan(
            List<Binding> bindings,
            @Nullable Clause where,
            boolean whereFirst,
            @Nullable Clause incase,
            @Nullable Columns columns,
            Map<String, Integer> names,
            int slots,
            PulledPaths paths) {}

    /** The statement as written. */
    public String sql() {
        return sql;
    }

    /** The topic filters and the names of events ({@code $events/…}) in FROM, as written, in their order. Not checked. */
    public List<String> sources() {
        return sources;
    }

    /**
     * A mistake in FROM that the language does not know of, such as an event that is not published.
     *
     * @param source its number in {@link #sources()}, from 0
     * @param problem the mistake, in a few words
     * @return with the place of the source
     */
    public RuleSqlException mistakeIn(int source, String problem) {
        Source place = written.get(source);
        return new RuleSqlException(problem, sql, place.line(), place.column());
    }

    /**
     * The names of the columns that rows can have.
     *
     * @return the names, or {@code null} if they depend on the event: with {@code *}, and for FOREACH without DO
     */
    public @Nullable Set<String> columns() {
        Columns columns = plan.columns();
        return columns == null ? null : columns.names();
    }

    /**
     * Applies the statement to an event. Blocks only for the calculation, which the budget bounds.
     *
     * @param input the event, used by one thread at a time
     * @param budget the most work
     * @return the result; mistakes of the data and an exhausted budget are a {@link RuleOutcome.Failed}, never an exception
     */
    public RuleOutcome evaluate(RuleInput input, RuleBudget budget) {
        return evaluate(input, budget, null);
    }

    /**
     * Applies the statement to an event, and notes the result of each clause.
     *
     * @param trace gets the results, or {@code null}
     * @see #evaluate(RuleInput, RuleBudget)
     */
    public RuleOutcome evaluate(RuleInput input, RuleBudget budget, @Nullable RuleTrace trace) {
        try {
            Frame frame = new Frame(input, new Meter(budget), plan.slots(), plan.paths());
            return plan.bindings().isEmpty() ? select(frame, trace) : foreach(frame, trace);
        } catch (RuleFailure e) {
            return new RuleOutcome.Failed(String.valueOf(e.getMessage()));
        } catch (StackOverflowError e) {
            return new RuleOutcome.Failed("a value is nested too deep");
        } catch (RuntimeException e) {
            return new RuleOutcome.Failed(
                    "the rule cannot be evaluated: " + e.getClass().getSimpleName());
        }
    }

    private RuleOutcome select(Frame frame, @Nullable RuleTrace trace) {
        Columns columns = plan.columns();
        if (columns == null || plan.whereFirst() && isFiltered(frame, trace)) {
            return RuleOutcome.NoMatch.INSTANCE;
        }
        Map<String, @Nullable Object> row = columns.row(frame, trace);
        return !plan.whereFirst() && isFiltered(frame, trace)
                ? RuleOutcome.NoMatch.INSTANCE
                : new RuleOutcome.Rows(List.of(row), frame.meter.made());
    }

    private RuleOutcome foreach(Frame frame, @Nullable RuleTrace trace) {
        if (plan.whereFirst() && isFiltered(frame, trace)) {
            return RuleOutcome.NoMatch.INSTANCE;
        }
        Object array = null;
        for (Binding binding : plan.bindings()) {
            array = bind(binding, frame, trace);
        }
        if (!plan.whereFirst() && isFiltered(frame, trace)) {
            return RuleOutcome.NoMatch.INSTANCE;
        }
        if (!(frame.structure(array) instanceof List<?> elements)) {
            return RuleOutcome.NoMatch.INSTANCE;
        }
        int slot = plan.bindings().get(plan.bindings().size() - 1).slot();
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Object element : elements) {
            frame.meter.step();
            frame.slots[slot] = Values.element(element);
            Clause incase = plan.incase();
            if (incase == null || incase.test(frame, trace)) {
                rows.add(row(frame, trace));
            }
        }
        return rows.isEmpty() ? RuleOutcome.NoMatch.INSTANCE : new RuleOutcome.Rows(rows, frame.meter.made());
    }

    private static @Nullable Object bind(Binding binding, Frame frame, @Nullable RuleTrace trace) {
        try {
            Object value = binding.expr().eval(frame);
            frame.slots[binding.slot()] = value;
            if (trace != null) {
                trace.add("FOREACH", binding.text(), value);
            }
            return value;
        } catch (RuleFailure e) {
            if (trace != null) {
                trace.fail("FOREACH", binding.text(), String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    private Map<String, @Nullable Object> row(Frame frame, @Nullable RuleTrace trace) {
        Columns columns = plan.columns();
        if (columns != null) {
            return columns.row(frame, trace);
        }
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        Columns.putAll(plan.names(), frame, row);
        return row;
    }

    private boolean isFiltered(Frame frame, @Nullable RuleTrace trace) {
        Clause where = plan.where();
        return where != null && !where.test(frame, trace);
    }

    @Override
    public String toString() {
        return sql;
    }
}
