// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.List;

/**
 * One key of the schema, as the reference shows it.
 *
 * @param name the key, with {@code <name>} for a name that the user chooses
 * @param type the form of its text
 * @param defaultText the default in the notation of the file; empty if there is none
 * @param range smallest to largest value; empty if there is none
 * @param doc the description
 * @param required whether the key must be set if its block is present
 * @param secret whether its value must not be shown
 * @param placeholders placeholders that the broker replaces when it uses the value
 */
public record ConfigKey(
        String name,
        String type,
        String defaultText,
        String range,
        String doc,
        boolean required,
        boolean secret,
        List<String> placeholders) {

    /** Copies the list. */
    public ConfigKey {
        placeholders = List.copyOf(placeholders);
    }
}
