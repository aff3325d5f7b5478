// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

/**
 * The work that one evaluation of a rule may cost.
 *
 * @param steps at most so many steps, at least 1: a node of an expression, an element, or 64 bytes of text is one
 * @param bytes at most so many bytes in all values that are made and in the rows of the result together, at least 1
 */
public record RuleBudget(int steps, long bytes) {

    /** 100,000 steps and 16 MiB. */
    public static final RuleBudget DEFAULT = new RuleBudget(100_000, 16 << 20);

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException if one of them is not positive
     */
    public RuleBudget {
        if (steps < 1 || bytes < 1) {
            throw new IllegalArgumentException("a budget has at least one step and one byte");
        }
    }
}
