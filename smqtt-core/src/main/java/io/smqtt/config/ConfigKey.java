// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.List;

/**
 * One key of the schema, as the reference shows it.
 *
 * @param name the key, with {@code <name>} for a name that the user chooses
 * @param type what its text looks like
 * @param defaultText the default in the key's own notation; empty where there is none
 * @param range smallest to largest value; empty where there is none
 * @param doc what it means
 * @param required whether it has to be given where its block is
 * @param secret whether its value is never shown
 * @param placeholders what the broker itself fills in when the value is used, each as it is written
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

    /** Takes a copy of the list. */
    public ConfigKey {
        placeholders = List.copyOf(placeholders);
    }
}
