// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A format of dates and times with {@code %Y %m %d %H %M %S %N %6N %3N %z %:z %::z}. Everything else stands for itself. */
final class DateFormat {

    private static final int LONGEST = 200;
    private static final List<String> PLACEHOLDERS =
            List.of("%Y", "%m", "%d", "%H", "%M", "%S", "%3N", "%6N", "%N", "%::z", "%:z", "%z");

    private final List<String> parts = new ArrayList<>();

    DateFormat(String format) {
        if (format.length() > LONGEST) {
            throw new RuleFailure("a format of dates has more than " + LONGEST + " characters");
        }
        int index = 0;
        while (index < format.length()) {
            int at = index;
            String part = PLACEHOLDERS.stream()
                    .filter(placeholder -> format.startsWith(placeholder, at))
                    .findFirst()
                    .orElse(format.substring(at, at + 1));
            parts.add(part);
            index += part.length();
        }
    }

    String write(OffsetDateTime time) {
        StringBuilder text = new StringBuilder();
        for (String part : parts) {
            switch (part) {
                case "%Y" -> digits(text, time.getYear(), 4);
                case "%m" -> digits(text, time.getMonthValue(), 2);
                case "%d" -> digits(text, time.getDayOfMonth(), 2);
                case "%H" -> digits(text, time.getHour(), 2);
                case "%M" -> digits(text, time.getMinute(), 2);
                case "%S" -> digits(text, time.getSecond(), 2);
                case "%N" -> digits(text, time.getNano(), 9);
                case "%6N" -> digits(text, time.getNano() / 1_000, 6);
                case "%3N" -> digits(text, time.getNano() / 1_000_000, 3);
                case "%z", "%:z", "%::z" -> offset(text, time.getOffset().getTotalSeconds(), part);
                default -> text.append(part);
            }
        }
        return text.toString();
    }

    private static void digits(StringBuilder text, int number, int width) {
        String digits = Integer.toString(number);
        text.append("0".repeat(Math.max(0, width - digits.length()))).append(digits);
    }

    private static void offset(StringBuilder text, int seconds, String part) {
        String colon = part.equals("%z") ? "" : ":";
        int size = Math.abs(seconds);
        text.append(seconds < 0 ? '-' : '+');
        digits(text, size / 3600, 2);
        text.append(colon);
        digits(text, size / 60 % 60, 2);
        if (part.equals("%::z")) {
            text.append(colon);
            digits(text, size % 60, 2);
        }
    }

    /**
     * The time that a text has in this format. The text may end before a placeholder of the offset.
     *
     * @param otherwise the offset, if the text has none
     */
    Instant read(String text, ZoneOffset otherwise) {
        Map<ChronoField, Long> fields = new EnumMap<>(ChronoField.class);
        ZoneOffset offset = otherwise;
        int at = 0;
        for (String part : parts) {
            if (part.endsWith("z") && part.startsWith("%")) {
                int end = offsetEnd(text, at);
                offset = end == at ? otherwise : zone(text.substring(at, end));
                at = end;
            } else if (part.startsWith("%") && part.length() > 1) {
                int width =
                        part.equals("%Y") ? 4 : part.equals("%N") ? 9 : part.endsWith("N") ? part.charAt(1) - '0' : 2;
                fields.put(field(part), number(text, at, width) * scale(part));
                at += width;
            } else if (text.startsWith(part, at)) {
                at += part.length();
            } else {
                throw mismatch();
            }
        }
        if (at != text.length()) {
            throw mismatch();
        }
        return instant(fields, offset);
    }

    private static Instant instant(Map<ChronoField, Long> fields, ZoneOffset offset) {
        try {
            return OffsetDateTime.of(
                            (int) value(fields, ChronoField.YEAR, 1970),
                            (int) value(fields, ChronoField.MONTH_OF_YEAR, 1),
                            (int) value(fields, ChronoField.DAY_OF_MONTH, 1),
                            (int) value(fields, ChronoField.HOUR_OF_DAY, 0),
                            (int) value(fields, ChronoField.MINUTE_OF_HOUR, 0),
                            (int) value(fields, ChronoField.SECOND_OF_MINUTE, 0),
                            (int) value(fields, ChronoField.NANO_OF_SECOND, 0),
                            offset)
                    .toInstant();
        } catch (DateTimeException e) {
            throw mismatch();
        }
    }

    private static long value(Map<ChronoField, Long> fields, ChronoField field, long otherwise) {
        return fields.getOrDefault(field, otherwise);
    }

    private static ChronoField field(String part) {
        return switch (part) {
            case "%Y" -> ChronoField.YEAR;
            case "%m" -> ChronoField.MONTH_OF_YEAR;
            case "%d" -> ChronoField.DAY_OF_MONTH;
            case "%H" -> ChronoField.HOUR_OF_DAY;
            case "%M" -> ChronoField.MINUTE_OF_HOUR;
            case "%S" -> ChronoField.SECOND_OF_MINUTE;
            default -> ChronoField.NANO_OF_SECOND;
        };
    }

    private static long scale(String part) {
        return part.equals("%3N") ? 1_000_000 : part.equals("%6N") ? 1_000 : 1;
    }

    private static long number(String text, int at, int width) {
        if (at + width > text.length()) {
            throw mismatch();
        }
        long number = 0;
        for (int index = at; index < at + width; index++) {
            int digit = Character.digit(text.charAt(index), 10);
            if (digit < 0) {
                throw mismatch();
            }
            number = number * 10 + digit;
        }
        return number;
    }

    private static int offsetEnd(String text, int at) {
        int end = at;
        if (end < text.length() && (text.charAt(end) == 'Z' || text.charAt(end) == 'z')) {
            return end + 1;
        }
        if (end < text.length() && (text.charAt(end) == '+' || text.charAt(end) == '-')) {
            end++;
            while (end < text.length() && (Character.isDigit(text.charAt(end)) || text.charAt(end) == ':')) {
                end++;
            }
        }
        return end;
    }

    private static ZoneOffset zone(String text) {
        try {
            return text.equalsIgnoreCase("z") ? ZoneOffset.UTC : ZoneOffset.of(text);
        } catch (DateTimeException e) {
            throw mismatch();
        }
    }

    private static RuleFailure mismatch() {
        return new RuleFailure("the text is not a date in this format");
    }
}
