// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The result of a rule for one message or event. */
public sealed interface RuleOutcome {

    /** The rule does not apply: WHERE is not true, or FOREACH has no element that fulfils INCASE. */
    record NoMatch() implements RuleOutcome {

        static final NoMatch INSTANCE = new NoMatch();
    }

    /**
     * The rule applies.
     *
     * @param rows one map for SELECT, one for each element for FOREACH; never empty. Values are {@code String}, {@code Long},
     *     {@code BigInteger}, {@code Double}, {@code Boolean}, {@code byte[]} (bytes that are not UTF-8), {@code List} and {@code Map} of
     *     these, and {@code null} for JSON's null. A column whose value is undefined is absent. Lists and maps below the rows are shared
     *     between rules and must not be changed
     * @param bytes approximate size of the values that were made for the rows
     */
    record Rows(List<Map<String, @Nullable Object>> rows, long bytes) implements RuleOutcome {

        /** Makes the list unmodifiable. */
        public Rows {
            rows = Collections.unmodifiableList(rows);
        }
    }

    /**
     * The rule could not be evaluated.
     *
     * @param reason a sentence for operators, without parts of the payload
     */
    record Failed(String reason) implements RuleOutcome {}
}
