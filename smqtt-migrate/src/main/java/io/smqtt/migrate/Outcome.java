// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

/** The result of mapping one key of another broker. */
enum Outcome {
    /** The counterpart has the same meaning; no note is needed. */
    SAME(""),
    /** There is a counterpart with a slightly different meaning. */
    DIFFERENT("differs"),
    /** There is no counterpart; clients see no relevant difference, or a feature is missing. */
    NONE("not migrated"),
    /** There is no counterpart, and a protection is lost. */
    UNGUARDED("NOT ENFORCED");

    private final String word;

    Outcome(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }
}
