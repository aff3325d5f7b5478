// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The text of one key and where it comes from.
 *
 * @param text the text; lists are separated by commas; null where the key was written without a value, which leaves the
 *     default
 * @param origin where a reader of an error message finds it, such as {@code smqtt.yaml:12}
 * @param base what a relative path is relative to
 */
public record ConfigValue(@Nullable String text, String origin, Path base) {

    /** {@return the origin; the text may be a secret} */
    @Override
    public String toString() {
        return "ConfigValue[" + origin + "]";
    }
}
