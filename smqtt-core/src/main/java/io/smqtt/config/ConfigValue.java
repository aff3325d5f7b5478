// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

    /**
     * Parses a whole number.
     *
     * @return null if the text is none
     */
    public @Nullable Long number() {
        return (Long) parse(ConfigText.Kind.NUMBER, long.class);
    }

    /**
     * Parses a number of bytes, such as {@code 64KiB}.
     *
     * @return null if the text is none
     */
    public @Nullable Long bytes() {
        return (Long) parse(ConfigText.Kind.SIZE, long.class);
    }

    /**
     * Parses a duration, such as {@code 5s}.
     *
     * @return null if the text is none
     */
    public @Nullable Duration duration() {
        return (Duration) parse(ConfigText.Kind.DURATION, Duration.class);
    }

    /**
     * Parses {@code true} or {@code false}.
     *
     * @return null if the text is neither
     */
    public @Nullable Boolean flag() {
        return (Boolean) parse(ConfigText.Kind.BOOLEAN, boolean.class);
    }

    /**
     * Parses a path; a relative one begins at the base.
     *
     * @return null if the text is no path
     */
    public @Nullable Path path() {
        return (Path) parse(ConfigText.Kind.PATH, Path.class);
    }

    /**
     * Parses a list.
     *
     * @return the texts between the commas
     */
    public List<String> list() {
        Object parsed = parse(ConfigText.Kind.LIST, List.class);
        return parsed instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of();
    }

    private @Nullable Object parse(ConfigText.Kind kind, Class<?> type) {
        return text == null ? null : ConfigText.parse(kind, type, text, base);
    }

    /** {@return the origin; the text may be a secret} */
    @Override
    public String toString() {
        return "ConfigValue[" + origin + "]";
    }
}
