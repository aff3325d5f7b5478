// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.function.BiConsumer;

/**
 * The mapping of one key, or of all keys with the same prefix.
 *
 * @param key the key of the other broker; with {@code *} at its end a prefix
 * @param outcome how it maps
 * @param target this broker's keys, for display; empty if there is none
 * @param advice the difference and what to do; may be empty, and is used in the table only if the outcome is the same
 * @param action migrates the value
 * @param <M> the mapper
 */
record Rule<M>(String key, Outcome outcome, String target, String advice, BiConsumer<M, OldSetting> action) {

    static <M> Rule<M> same(String key, String target, BiConsumer<M, OldSetting> action) {
        return new Rule<>(key, Outcome.SAME, target, "", action);
    }

    static <M> Rule<M> differs(String key, String target, String advice, BiConsumer<M, OldSetting> action) {
        return new Rule<>(key, Outcome.DIFFERENT, target, advice, action);
    }

    static <M> Rule<M> none(String key, String advice) {
        return new Rule<>(key, Outcome.NONE, "", advice, (mapper, setting) -> {});
    }

    static <M> Rule<M> unguarded(String key, String advice) {
        return new Rule<>(key, Outcome.UNGUARDED, "", advice, (mapper, setting) -> {});
    }
}
