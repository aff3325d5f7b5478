// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of a key of a type of sinks: {@code rules.<name>.actions.<name>.<key>}. Immutable; made by the static methods.
 *
 * @param name the key within the block, in kebab-case; may contain dots
 * @param kind the form of its value
 * @param value the default in the notation of the configuration file, or null if there is none
 * @param min the smallest number, duration or size; empty without bounds
 * @param max the largest one; empty without bounds
 * @param text what it is, for the documentation
 * @param isRequired whether it must be set
 * @param isSecret whether its value is shown nowhere
 * @param isPlain whether its value is shown although its name suggests a secret
 * @param choices the words of a choice; empty for other kinds
 */
public record SinkSetting(
        String name,
        Kind kind,
        @Nullable String value,
        String min,
        String max,
        String text,
        boolean isRequired,
        boolean isSecret,
        boolean isPlain,
        List<String> choices) {

    /** The form of a value. */
    public enum Kind {
        /** A text in which {@code ${column}} stands for a column of the row. */
        TEMPLATE,
        /** Any text. */
        TEXT,
        /** One of some words. */
        CHOICE,
        /** A whole number. */
        NUMBER,
        /** A number of bytes, such as {@code 10MiB}. */
        SIZE,
        /** A duration, such as {@code 5s}. */
        DURATION,
        /** true or false. */
        FLAG,
        /** A file; a relative path begins at the directory of the configuration file. */
        FILE,
        /** Several keys {@code name.x}, with an x that the user chooses and a template each, such as headers. */
        ENTRIES
    }

    /** Copies the choices. */
    public SinkSetting {
        choices = List.copyOf(choices);
    }

    private SinkSetting(String name, Kind kind, @Nullable String value, String text) {
        this(name, kind, value, "", "", text, false, false, false, List.of());
    }

    /**
     * Declares a template.
     *
     * @param name the key
     * @param value the default, or null
     * @param text what it is
     * @return a key
     */
    public static SinkSetting template(String name, @Nullable String value, String text) {
        return new SinkSetting(name, Kind.TEMPLATE, value, text);
    }

    /**
     * Declares a text.
     *
     * @param name the key
     * @param value the default, or null
     * @param text what it is
     * @return a key
     */
    public static SinkSetting text(String name, @Nullable String value, String text) {
        return new SinkSetting(name, Kind.TEXT, value, text);
    }

    /**
     * Declares a choice.
     *
     * @param name the key
     * @param value the default
     * @param choices the words
     * @param text what it is
     * @return a key
     */
    public static SinkSetting choice(String name, String value, List<String> choices, String text) {
        return new SinkSetting(name, Kind.CHOICE, value, "", "", text, false, false, false, choices);
    }

    /**
     * Declares a number.
     *
     * @param name the key
     * @param value the default
     * @param min the smallest value
     * @param max the largest value
     * @param text what it is
     * @return a key
     */
    public static SinkSetting number(String name, long value, long min, long max, String text) {
        return bounded(name, Kind.NUMBER, String.valueOf(value), String.valueOf(min), String.valueOf(max), text);
    }

    /**
     * Declares a number of bytes.
     *
     * @param name the key
     * @param value the default, such as {@code 10MiB}
     * @param min the smallest value
     * @param max the largest value
     * @param text what it is
     * @return a key
     */
    public static SinkSetting size(String name, String value, String min, String max, String text) {
        return bounded(name, Kind.SIZE, value, min, max, text);
    }

    /**
     * Declares a duration.
     *
     * @param name the key
     * @param value the default, such as {@code 5s}
     * @param min the smallest value
     * @param max the largest value
     * @param text what it is
     * @return a key
     */
    public static SinkSetting duration(String name, String value, String min, String max, String text) {
        return bounded(name, Kind.DURATION, value, min, max, text);
    }

    private static SinkSetting bounded(String name, Kind kind, String value, String min, String max, String text) {
        return new SinkSetting(name, kind, value, min, max, text, false, false, false, List.of());
    }

    /**
     * Declares a flag.
     *
     * @param name the key
     * @param value the default
     * @param text what it is
     * @return a key
     */
    public static SinkSetting flag(String name, boolean value, String text) {
        return new SinkSetting(name, Kind.FLAG, String.valueOf(value), text);
    }

    /**
     * Declares a file.
     *
     * @param name the key
     * @param text what it is
     * @return a key that may be absent
     */
    public static SinkSetting file(String name, String text) {
        return new SinkSetting(name, Kind.FILE, null, text);
    }

    /**
     * Declares keys with names that the user chooses.
     *
     * @param name the key before the dot
     * @param text what they are
     * @return a key, empty by default
     */
    public static SinkSetting entries(String name, String text) {
        return new SinkSetting(name, Kind.ENTRIES, null, text);
    }

    /**
     * The same key, which must be set.
     *
     * @return a copy
     */
    public SinkSetting required() {
        return new SinkSetting(name, kind, null, min, max, text, true, isSecret, isPlain, choices);
    }

    /**
     * The same key, whose value is shown nowhere.
     *
     * @return a copy
     */
    public SinkSetting secret() {
        return new SinkSetting(name, kind, value, min, max, text, isRequired, true, false, choices);
    }

    /**
     * The same key, whose value is shown although its name suggests a secret, such as the {@code key} of a record.
     *
     * @return a copy
     */
    public SinkSetting plain() {
        return new SinkSetting(name, kind, value, min, max, text, isRequired, false, true, choices);
    }
}
