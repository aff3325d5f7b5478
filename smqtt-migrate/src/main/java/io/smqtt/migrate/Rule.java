// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.function.BiConsumer;

/**
 * The mapping of one key, or of all keys with the same prefix.
 *
 * @param key the key of the other broker; one that ends in {@code *} stands for all that begin so
 * @param outcome how it maps
 * @param target our keys, for people; empty where there is none
 * @param advice what differs and what to do; may be empty, and is for the table only, where the outcome is the same
 * @param action takes the value over
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
