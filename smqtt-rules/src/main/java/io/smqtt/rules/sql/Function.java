// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import org.jspecify.annotations.Nullable;

/**
 * A function of the language.
 *
 * @param name its name
 * @param least how many arguments it has at least
 * @param most how many it has at most
 * @param signature the name with its parameters, optional ones in brackets
 * @param text what it returns, a line of the reference
 * @param fixed whether the result depends on nothing but the arguments, so that it is calculated once if these are constant
 * @param binding makes the body for one place in a statement
 */
record Function(String name, int least, int most, String signature, String text, boolean fixed, Binding binding) {

    /** Calculates the result. */
    @FunctionalInterface
    interface Body {

        /**
         * The result, {@code null} for undefined.
         *
         * @throws RuleFailure if an argument is not valid
         */
        @Nullable
        Object call(Arguments arguments);
    }

    /** Prepares what depends on constant arguments only, for example a regular expression. */
    @FunctionalInterface
    interface Binding {

        /**
         * The body for one place in a statement.
         *
         * @param constants the arguments; {@code null} where they are not constant
         */
        Body bind(@Nullable Object[] constants);
    }
}
