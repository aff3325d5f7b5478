// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes a value of this broker of one in emqx.conf. */
@FunctionalInterface
interface EmqxValue {

    /** The value, or null if the key is not written; then a problem or a note has the reason. */
    @Nullable
    String of(Draft draft, OldSetting setting);

    /** The text itself. */
    static EmqxValue text() {
        return (draft, setting) -> setting.value().strip();
    }

    /** true or false. */
    static EmqxValue flag() {
        return (draft, setting) -> String.valueOf(draft.bool(setting));
    }

    /** A number; {@code infinity} is the largest one. */
    static EmqxValue count(long min, long max) {
        return (draft, setting) -> bounded(draft, setting, EmqxValues.count(setting.value()), min, max, "a number");
    }

    /** A number; 0 and {@code infinity} are the largest one. */
    static EmqxValue countOrAll(long min, long max) {
        return (draft, setting) -> {
            long number = EmqxValues.count(setting.value());
            return number == 0 ? String.valueOf(max) : bounded(draft, setting, number, min, max, "a number");
        };
    }

    /** A size in bytes. */
    static EmqxValue bytes(long min, long max) {
        return (draft, setting) ->
                bounded(draft, setting, EmqxValues.bytes(setting.value()), min, max, "a size such as 1MB");
    }

    /** A rate per second; {@code infinity} is 0, no limit. */
    static EmqxValue rate(long max) {
        return (draft, setting) -> {
            long rate = EmqxValues.perSecond(setting.value());
            return rate == EmqxValues.INFINITE ? "0" : bounded(draft, setting, rate, 0, max, "a rate such as 1000/s");
        };
    }

    /**
     * A duration.
     *
     * @param unit milliseconds of a number without a unit
     * @param min the shortest, in milliseconds
     * @param max the longest
     */
    static EmqxValue duration(long unit, long min, long max) {
        return (draft, setting) -> {
            String millis = bounded(
                    draft, setting, EmqxValues.millis(setting.value(), unit), min, max, "a duration such as 15s");
            return millis == null ? null : EmqxValues.duration(Long.parseLong(millis));
        };
    }

    /** One of some words, each with its counterpart. */
    static EmqxValue word(Map<String, String> words) {
        return (draft, setting) -> {
            String ours = words.get(setting.value().strip().toLowerCase(Locale.ROOT));
            if (ours == null) {
                draft.note(setting, Outcome.NONE, "this value has no counterpart; the default remains");
            }
            return ours;
        };
    }

    private static @Nullable String bounded(
            Draft draft, OldSetting setting, long value, long min, long max, String form) {
        if (value == EmqxValues.INVALID) {
            draft.problem(setting, "must be " + form);
            return null;
        }
        long ours = Math.max(min, Math.min(max, value));
        if (ours != value && value != EmqxValues.INFINITE) {
            draft.note(setting, Outcome.DIFFERENT, "the nearest possible value is written");
        }
        return String.valueOf(ours);
    }
}
