// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the result of each clause of one evaluation, for people who try out a rule. Not safe for use by several threads.
 */
public final class RuleTrace {

    private static final int MOST = 1000;

    private final List<Clause> clauses = new ArrayList<>();

    /** A trace without clauses. */
    public RuleTrace() {}

    /**
     * The result of one clause.
     *
     * @param clause {@code FOREACH}, {@code WHERE}, {@code INCASE}, {@code SELECT} or {@code DO}
     * @param text the part of the statement that was evaluated, as written
     * @param value the result; {@code null} for undefined, JSON's null and if there is a failure
     * @param failure why there is no result, or {@code null}
     */
    public record Clause(
            String clause,
            String text,
            @Nullable Object value,
            @Nullable String failure) {}

    /** The clauses in the order of their evaluation, 1,000 at most. */
    public List<Clause> clauses() {
        return Collections.unmodifiableList(clauses);
    }

    void add(String clause, String text, @Nullable Object value) {
        if (clauses.size() < MOST) {
            clauses.add(new Clause(clause, text, Values.plain(value), null));
        }
    }

    void fail(String clause, String text, String failure) {
        if (clauses.size() < MOST) {
            clauses.add(new Clause(clause, text, null, failure));
        }
    }
}
