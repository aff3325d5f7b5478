// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Functions of dates and times. The local time zone is that of the broker. */
final class TimeFunctions {

    private static final DateTimeFormatter RFC3339_SECONDS = rfc3339(0);
    private static final DateTimeFormatter RFC3339_MILLIS = rfc3339(3);
    private static final DateTimeFormatter RFC3339_MICROS = rfc3339(6);
    private static final DateTimeFormatter RFC3339_NANOS = rfc3339(9);

    private static final long NANOS = 1_000_000_000L;

    private TimeFunctions() {}

    static List<Function> all() {
        return new FunctionFamily()
                .live(
                        "now_timestamp([unit])",
                        "the time since 1970 in seconds, or in another unit",
                        a -> count(a, Instant.now(), unit(a, a.text(0, "second"))))
                .live("now_rfc3339([unit])", "the local time by RFC 3339, to the second or another unit", a -> {
                    return rfc3339(Instant.now(), unit(a, a.text(0, "second")));
                })
                .live("unix_ts_to_rfc3339(time[, unit])", "a time since 1970 as local time by RFC 3339", a -> {
                    long unit = unit(a, a.text(1, "second"));
                    return rfc3339(instant(a, 0, unit), unit);
                })
                .add("rfc3339_to_unix_ts(text[, unit])", "the time since 1970 of a date and time by RFC 3339", a -> {
                    try {
                        String text = a.text(0).replace(' ', 'T');
                        return count(a, OffsetDateTime.parse(text).toInstant(), unit(a, a.text(1, "second")));
                    } catch (DateTimeException e) {
                        throw a.failure("the text is not a date and time by RFC 3339");
                    }
                })
                .live(
                        "format_date(unit, offset, format[, time])",
                        "a time since 1970 (default: now) by a format with %Y %m %d %H %M %S %N %3N %6N %z %:z %::z",
                        a -> {
                            long unit = unit(a, a.text(0));
                            ZoneOffset offset = offset(a, a.value(1));
                            Instant time = a.count() < 4 ? Instant.now() : instant(a, 3, unit);
                            return new DateFormat(a.text(2)).write(time.atOffset(offset));
                        })
                .live(
                        "date_to_unix_ts(unit[, offset], format, text)",
                        "the time since 1970 of a text in such a format; the offset counts if the text has none",
                        a -> {
                            boolean three = a.count() == 3;
                            ZoneOffset offset = three ? ZoneOffset.UTC : offset(a, a.value(1));
                            DateFormat format = new DateFormat(a.text(three ? 1 : 2));
                            Instant time = format.read(a.text(three ? 2 : 3), offset);
                            return count(a, time, unit(a, a.text(0)));
                        })
                .live(
                        "timezone_to_offset_seconds(zone)",
                        "the seconds of 'Z', '+hh:mm', '+hhmm', '+hh:mm:ss' or 'local'",
                        a -> (long) offset(a, a.value(0)).getTotalSeconds())
                .live("timezone_to_second(zone)", "as timezone_to_offset_seconds", a ->
                        (long) offset(a, a.value(0)).getTotalSeconds())
                .functions();
    }

    /** How many of the unit a second has. */
    private static long unit(Arguments a, String unit) {
        return switch (unit) {
            case "second", "seconds", "s" -> 1;
            case "millisecond", "milliseconds", "ms" -> 1_000;
            case "microsecond", "microseconds", "us" -> 1_000_000;
            case "nanosecond", "nanoseconds", "ns" -> NANOS;
            default -> throw a.failure("the unit must be 'second', 'millisecond', 'microsecond' or 'nanosecond'");
        };
    }

    private static Object count(Arguments a, Instant time, long unit) {
        try {
            return Math.addExact(Math.multiplyExact(time.getEpochSecond(), unit), time.getNano() / (NANOS / unit));
        } catch (ArithmeticException e) {
            throw a.failure("the time is out of range");
        }
    }

    private static Instant instant(Arguments a, int index, long unit) {
        long time = a.integer(index);
        try {
            Instant instant =
                    Instant.ofEpochSecond(Math.floorDiv(time, unit), Math.floorMod(time, unit) * (NANOS / unit));
            int year = instant.atOffset(ZoneOffset.UTC).getYear();
            if (year >= 0 && year <= 9999) {
                return instant;
            }
        } catch (DateTimeException e) {
            // as below
        }
        throw a.failure("the time is out of range");
    }

    private static String rfc3339(Instant time, long unit) {
        DateTimeFormatter formatter = unit == 1
                ? RFC3339_SECONDS
                : unit == 1_000 ? RFC3339_MILLIS : unit == 1_000_000 ? RFC3339_MICROS : RFC3339_NANOS;
        return formatter.format(time.atZone(ZoneId.systemDefault()));
    }

    /** A formatter of RFC 3339, section 5.6, with so many digits of a second's fraction. */
    private static DateTimeFormatter rfc3339(int digits) {
        DateTimeFormatterBuilder text = new DateTimeFormatterBuilder().appendPattern("uuuu-MM-dd'T'HH:mm:ss");
        if (digits > 0) {
            text.appendFraction(ChronoField.NANO_OF_SECOND, digits, digits, true);
        }
        return text.appendOffset("+HH:MM", "Z").toFormatter(Locale.ROOT);
    }

    private static ZoneOffset offset(Arguments a, @Nullable Object zone) {
        try {
            if (zone instanceof Long seconds) {
                return ZoneOffset.ofTotalSeconds((int) Math.max(-100_000, Math.min(seconds, 100_000)));
            }
            if (zone instanceof String text && !text.isEmpty()) {
                return switch (text) {
                    case "Z", "z" -> ZoneOffset.UTC;
                    case "local" -> ZoneId.systemDefault().getRules().getOffset(Instant.now());
                    default -> ZoneOffset.of(text);
                };
            }
        } catch (DateTimeException e) {
            // as below
        }
        throw a.failure("the offset must be 'Z', '+hh:mm', 'local' or a number of seconds");
    }
}
