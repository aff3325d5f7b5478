// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

/** The result of mapping one key of another broker. */
enum Outcome {
    /** It means the same here; nobody needs to be told. */
    SAME(""),
    /** There is a counterpart that does not do exactly the same. */
    DIFFERENT("differs"),
    /** There is none, and clients see no difference that matters, or a feature is missing. */
    NONE("not taken over"),
    /** There is none, and something that was protected no longer is. */
    UNGUARDED("NOT ENFORCED");

    private final String word;

    Outcome(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }
}
