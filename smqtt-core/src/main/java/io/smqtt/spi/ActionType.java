// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A type of sinks that actions of rules can have, or of sources, with the keys that it declares, for operators and their forms. Immutable.
 *
 * @param name the value of the key {@code type}
 * @param keys the keys of this type, in the order of their declaration
 * @param commonKeys the keys that actions, or sources, of all types have, such as {@code batch-size}
 */
public record ActionType(String name, List<Key> keys, List<Key> commonKeys) {

    /** Copies the lists. */
    public ActionType {
        keys = List.copyOf(keys);
        commonKeys = List.copyOf(commonKeys);
    }

    /** The form of a value. */
    public enum Form {
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
        /** The path of a file on each node. */
        FILE,
        /** Several keys {@code name.x}, with an x that the operator chooses. */
        ENTRIES
    }

    /**
     * The declaration of a key.
     *
     * @param name the key within the action or the source
     * @param form the form of its value
     * @param value the default, or null if there is none
     * @param min the smallest number, size or duration; empty without bounds
     * @param max the largest one; empty without bounds
     * @param text what it is, in English, with code in backquotes
     * @param isRequired whether it must be set
     * @param isSecret whether its value is shown nowhere
     * @param isPlain whether its value is shown although its name suggests a secret
     * @param choices the words of a choice; empty for other forms
     */
    public record Key(
            String name,
            Form form,
            @Nullable String value,
            String min,
            String max,
            String text,
            boolean isRequired,
            boolean isSecret,
            boolean isPlain,
            List<String> choices) {

        /** Copies the words. */
        public Key {
            choices = List.copyOf(choices);
        }
    }
}
