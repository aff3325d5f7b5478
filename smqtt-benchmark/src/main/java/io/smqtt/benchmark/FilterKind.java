// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

/** Shapes of filters of which a broker may hold a million, each with its own cost in an index. */
public enum FilterKind {
    /** No wildcard. */
    EXACT("ml/x/%2$d/data"),
    /** A single-level wildcard at the end. */
    PLUS("ml/x/%2$d/+"),
    /** A multi-level wildcard. */
    HASH("ml/x/%2$d/#"),
    /** A wildcard in the middle, below the published topic's own beginning. */
    NEAR_MIDDLE("ml/p/%1$d/+/n%2$d"),
    /** A wildcard before the level where filters part. */
    NEAR_START("ml/+/%1$d/n%2$d");

    private static final int GROUPS = 1_000;

    private final String pattern;

    FilterKind(String pattern) {
        this.pattern = pattern;
    }

    /**
     * A filter of this kind.
     *
     * @param number which one
     * @return the text
     */
    public String filter(int number) {
        return pattern.formatted(number % GROUPS, number);
    }

    /**
     * A topic that begins like these filters; only the first three kinds match it.
     *
     * @param number which one
     * @return the text
     */
    public String relatedTopic(int number) {
        return this == NEAR_MIDDLE || this == NEAR_START
                ? "ml/p/" + number % GROUPS + "/data"
                : "ml/x/" + number + "/data";
    }
}
