// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The text of one key, with its origin.
 *
 * @param text the text; lists are separated by commas; null if the key has no value, which leaves the
 *     default
 * @param origin the place for error messages, such as {@code smqtt.yaml:12}
 * @param base the base of a relative path
 */
public record ConfigValue(@Nullable String text, String origin, Path base) {

    /** {@return the origin; the text may be a secret} */
    @Override
    public String toString() {
        return "ConfigValue[" + origin + "]";
    }
}
