// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import org.jspecify.annotations.Nullable;

/** A compiled expression. Immutable; all state of an evaluation is in its {@link Frame}. */
@FunctionalInterface
interface Expr {

    /**
     * The value, {@code null} for undefined.
     *
     * @throws RuleFailure if there is none, or the budget is exhausted
     */
    @Nullable
    Object eval(Frame frame);

    /** Whether a condition holds. */
    default boolean test(Frame frame) {
        return Operators.truth(eval(frame));
    }

    /** An expression of the statement itself. */
    record Constant(@Nullable Object value) implements Expr {

        @Override
        public @Nullable Object eval(Frame frame) {
            return value;
        }
    }

    /** An expression whose natural result is true or false. */
    @FunctionalInterface
    interface Condition extends Expr {

        @Override
        boolean test(Frame frame);

        @Override
        default @Nullable Object eval(Frame frame) {
            return test(frame);
        }
    }
}
