// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of a key of a type of backends: {@code access.backends.<name>.<key>}. Immutable; made by the static methods.
 *
 * @param name the key within the block, in kebab-case; may contain dots
 * @param kind the form of its value
 * @param value the default in the notation of the configuration file, or null if there is none
 * @param min the smallest number, duration or size; empty without bounds
 * @param max the largest one; empty without bounds
 * @param text what it is, for the documentation
 * @param isRequired whether it must be set
 * @param isSecret whether its value is shown nowhere
 * @param choices the words of a choice; empty for other kinds
 */
public record BackendSetting(
        String name,
        Kind kind,
        @Nullable String value,
        String min,
        String max,
        String text,
        boolean isRequired,
        boolean isSecret,
        List<String> choices) {

    /** The form of a value. */
    public enum Kind {
        /** Any text, also a template. */
        TEXT,
        /** One of some words. */
        CHOICE,
        /** A whole number. */
        NUMBER,
        /** A duration, such as {@code 5s}. */
        DURATION,
        /** true or false. */
        FLAG,
        /** A file; a relative path begins at the directory of the configuration file. */
        FILE,
        /** Several texts, none of which has a comma. */
        LIST,
        /** Several keys {@code name.x}, with an x that the user chooses and a text each, such as headers. */
        ENTRIES
    }

    /** Copies the choices. */
    public BackendSetting {
        choices = List.copyOf(choices);
    }

    private BackendSetting(String name, Kind kind, @Nullable String value, String text) {
        this(name, kind, value, "", "", text, false, false, List.of());
    }

    /**
     * Declares a text without a default.
     *
     * @param name the key
     * @param text what it is
     * @return a key that may be absent
     */
    public static BackendSetting text(String name, String text) {
        return new BackendSetting(name, Kind.TEXT, null, text);
    }

    /**
     * Declares a text.
     *
     * @param name the key
     * @param value the default
     * @param text what it is
     * @return a key with a default
     */
    public static BackendSetting text(String name, String value, String text) {
        return new BackendSetting(name, Kind.TEXT, value, text);
    }

    /**
     * Declares a choice.
     *
     * @param name the key
     * @param value the default, or null
     * @param choices the words
     * @param text what it is
     * @return a key
     */
    public static BackendSetting choice(String name, @Nullable String value, List<String> choices, String text) {
        return new BackendSetting(name, Kind.CHOICE, value, "", "", text, false, false, choices);
    }

    /**
     * Declares a number.
     *
     * @param name the key
     * @param value the default
     * @param min the smallest value
     * @param max the largest value
     * @param text what it is
     * @return a key with a default
     */
    public static BackendSetting number(String name, long value, long min, long max, String text) {
        return new BackendSetting(
                name,
                Kind.NUMBER,
                String.valueOf(value),
                String.valueOf(min),
                String.valueOf(max),
                text,
                false,
                false,
                List.of());
    }

    /**
     * Declares a duration.
     *
     * @param name the key
     * @param value the default, such as {@code 5s}
     * @param min the smallest value
     * @param max the largest value
     * @param text what it is
     * @return a key with a default
     */
    public static BackendSetting duration(String name, String value, String min, String max, String text) {
        return new BackendSetting(name, Kind.DURATION, value, min, max, text, false, false, List.of());
    }

    /**
     * Declares a flag.
     *
     * @param name the key
     * @param value the default
     * @param text what it is
     * @return a key with a default
     */
    public static BackendSetting flag(String name, boolean value, String text) {
        return new BackendSetting(name, Kind.FLAG, String.valueOf(value), text);
    }

    /**
     * Declares a file.
     *
     * @param name the key
     * @param text what it is
     * @return a key that may be absent
     */
    public static BackendSetting file(String name, String text) {
        return new BackendSetting(name, Kind.FILE, null, text);
    }

    /**
     * Declares a list of texts, empty by default.
     *
     * @param name the key
     * @param text what it is
     * @return a key
     */
    public static BackendSetting list(String name, String text) {
        return new BackendSetting(name, Kind.LIST, "", text);
    }

    /**
     * Declares keys with names that the user chooses.
     *
     * @param name the key before the dot
     * @param text what they are
     * @return a key, empty by default
     */
    public static BackendSetting entries(String name, String text) {
        return new BackendSetting(name, Kind.ENTRIES, null, text);
    }

    /**
     * The same key, which must be set.
     *
     * @return a copy
     */
    public BackendSetting required() {
        return new BackendSetting(name, kind, null, min, max, text, true, isSecret, choices);
    }

    /**
     * The same key, whose value is shown nowhere.
     *
     * @return a copy
     */
    public BackendSetting secret() {
        return new BackendSetting(name, kind, value, min, max, text, isRequired, true, choices);
    }
}
