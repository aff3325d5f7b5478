// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

/** What is left of the {@link RuleBudget} of one evaluation. */
final class Meter {

    private final RuleBudget budget;
    private long steps;
    private long bytes;

    Meter(RuleBudget budget) {
        this.budget = budget;
        this.steps = budget.steps();
        this.bytes = budget.bytes();
    }

    /** Takes one step. */
    void step() {
        if (--steps < 0) {
            throw exhausted();
        }
    }

    /** Takes steps; not negative. */
    void steps(long count) {
        steps -= count;
        if (steps < 0) {
            throw exhausted();
        }
    }

    /** Takes the steps for text or bytes of this length that are read. */
    void read(long length) {
        steps((length >> 6) + 1);
    }

    /** Takes steps and bytes for a value of this size, before it is made. */
    void make(long size) {
        read(size);
        bytes -= size;
        if (bytes < 0) {
            throw new RuleFailure("the values of the rule exceed " + budget.bytes() + " bytes");
        }
    }

    /** Fails if a value of this size does not fit, and takes nothing. */
    void probe(long size) {
        if (size > bytes) {
            throw new RuleFailure("the values of the rule exceed " + budget.bytes() + " bytes");
        }
    }

    /** The bytes of all values that were made. */
    long made() {
        return budget.bytes() - bytes;
    }

    /** The bytes that are left. */
    long room() {
        return bytes;
    }

    private RuleFailure exhausted() {
        return new RuleFailure("the rule needs more than " + budget.steps() + " steps");
    }
}
