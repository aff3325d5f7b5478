// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Converts values to text and back: {@code 5s}, {@code 64KiB}, {@code true}, {@code round-robin}, {@code a,b}. A size may also be a
 * share of the maximum heap, {@code 25%}.
 */
final class ConfigText {

    private static final String[] DURATION_UNITS = {"ms", "s", "m", "h", "d"};
    private static final long[] DURATION_MILLIS = {1, 1_000, 60_000, 3_600_000, 86_400_000};
    private static final String[] SIZE_UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "TB"};
    private static final long[] SIZE_BYTES = {
        1, 1L << 10, 1L << 20, 1L << 30, 1L << 40, 1_000, 1_000_000, 1_000_000_000, 1_000_000_000_000L
    };

    private ConfigText() {}

    /** The kind of text of a component. Components with Bytes in their names are sizes. */
    enum Kind {
        BOOLEAN("true or false"),
        NUMBER("an integer"),
        SHARE("a number such as 0.01"),
        SIZE("a size such as 64KiB, 1MiB or 16MB"),
        DURATION("a duration such as 250ms, 5s or 1h"),
        PATH("a path"),
        LIST("a list"),
        ENUM("a word"),
        TEXT("a string");

        private final String expected;

        Kind(String expected) {
            this.expected = expected;
        }

        static Kind of(Class<?> type, String name) {
            if (type == boolean.class) {
                return BOOLEAN;
            } else if (type == int.class || type == long.class) {
                return name.contains("Bytes") ? SIZE : NUMBER;
            } else if (type == double.class) {
                return SHARE;
            } else if (type == Duration.class) {
                return DURATION;
            } else if (type == Path.class) {
                return PATH;
            } else if (type == List.class) {
                return LIST;
            } else if (type.isEnum()) {
                return ENUM;
            } else if (type == String.class) {
                return TEXT;
            }
            throw new IllegalArgumentException("no text form for " + type);
        }

        String expected(Class<?> type) {
            return this == ENUM ? "one of " + String.join(", ", words(type)) : expected;
        }
    }

    static List<String> words(Class<?> enumType) {
        return Arrays.stream(enumType.getEnumConstants())
                .map(ConfigText::format)
                .collect(Collectors.toList());
    }

    /**
     * Parses a value.
     *
     * @param base the base of relative paths
     * @return null if the text is not of the kind
     */
    static @Nullable Object parse(Kind kind, Class<?> type, String text, Path base) {
        switch (kind) {
            case BOOLEAN:
                return text.equalsIgnoreCase("true")
                        ? Boolean.TRUE
                        : text.equalsIgnoreCase("false") ? Boolean.FALSE : null;
            case NUMBER:
                return integer(number(text), type);
            case SHARE:
                return decimal(text);
            case SIZE:
                return integer(size(text), type);
            case DURATION:
                return duration(text);
            case PATH:
                return path(text, base);
            case LIST:
                return list(text);
            case ENUM:
                return constant(type, text);
            default:
                return text;
        }
    }

    private static @Nullable Object integer(@Nullable Long value, Class<?> type) {
        if (value == null || type == long.class) {
            return value;
        }
        return value >= Integer.MIN_VALUE && value <= Integer.MAX_VALUE ? (Object) value.intValue() : null;
    }

    private static @Nullable Long number(String text) {
        try {
            return Long.valueOf(text.replace("_", ""));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** Parses digits with a decimal point, and none of the other forms that Java accepts. */
    private static @Nullable Double decimal(String text) {
        return text.matches("-?[0-9]{1,9}(\\.[0-9]{1,9})?") ? Double.valueOf(text) : null;
    }

    private static @Nullable Long size(String text) {
        if (text.endsWith("%")) {
            Long percent = number(text.substring(0, text.length() - 1).trim());
            if (percent == null || percent < 0 || percent > 100) {
                return null;
            }
            return Runtime.getRuntime().maxMemory() * percent / 100;
        }
        Long plain = number(text);
        return plain != null ? plain : scaled(text, SIZE_UNITS, SIZE_BYTES);
    }

    private static @Nullable Duration duration(String text) {
        Long millis = scaled(text, DURATION_UNITS, DURATION_MILLIS);
        if (millis != null) {
            return Duration.ofMillis(millis);
        }
        try {
            return text.startsWith("P") || text.startsWith("p") ? Duration.parse(text) : null;
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** Parses digits followed by a unit in upper or lower case. */
    private static @Nullable Long scaled(String text, String[] units, long[] factors) {
        int digits = 0;
        while (digits < text.length() && (Character.isDigit(text.charAt(digits)) || text.charAt(digits) == '_')) {
            digits++;
        }
        Long value = digits == 0 ? null : number(text.substring(0, digits));
        String unit = text.substring(digits).trim();
        for (int i = 0; value != null && i < units.length; i++) {
            if (units[i].equalsIgnoreCase(unit)) {
                return value > Long.MAX_VALUE / factors[i] ? null : (Long) (value * factors[i]);
            }
        }
        return null;
    }

    private static @Nullable Path path(String text, Path base) {
        try {
            return text.isEmpty() ? null : base.resolve(text).normalize();
        } catch (InvalidPathException e) {
            return null;
        }
    }

    private static List<String> list(String text) {
        List<String> items = new ArrayList<>();
        for (String item : text.split(",", -1)) {
            if (!item.isBlank()) {
                items.add(item.trim());
            }
        }
        return items;
    }

    private static @Nullable Object constant(Class<?> type, String text) {
        String name = text.replace('-', '_');
        for (Object constant : type.getEnumConstants()) {
            if (((Enum<?>) constant).name().equalsIgnoreCase(name)) {
                return constant;
            }
        }
        return null;
    }

    /** Formats a value so that it can be parsed again. */
    static String format(@Nullable Object value, Kind kind) {
        return kind == Kind.SIZE && value instanceof Number ? size(((Number) value).longValue()) : format(value);
    }

    static String format(@Nullable Object value) {
        if (value == null) {
            return "";
        } else if (value instanceof Duration) {
            return duration((Duration) value);
        } else if (value instanceof Enum) {
            return ((Enum<?>) value).name().toLowerCase(Locale.ROOT).replace('_', '-');
        } else if (value instanceof Double) {
            return BigDecimal.valueOf((Double) value).stripTrailingZeros().toPlainString();
        } else if (value instanceof List) {
            return ((List<?>) value).stream().map(String::valueOf).collect(Collectors.joining(","));
        }
        return value.toString();
    }

    private static String size(long bytes) {
        for (int i = 4; bytes != 0 && i > 0; i--) {
            if (bytes % SIZE_BYTES[i] == 0) {
                return bytes / SIZE_BYTES[i] + SIZE_UNITS[i];
            }
        }
        return Long.toString(bytes);
    }

    private static String duration(Duration value) {
        if (value.isNegative() || value.getNano() % 1_000_000 != 0) {
            return value.toString();
        }
        long millis = value.toMillis();
        for (int i = 4; millis != 0 && i > 0; i--) {
            if (millis % DURATION_MILLIS[i] == 0) {
                return millis / DURATION_MILLIS[i] + DURATION_UNITS[i];
            }
        }
        return millis == 0 ? "0s" : millis + "ms";
    }
}
