// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The function {@code sprintf}: control sequences {@code ~width.precision.padding C} as those of Erlang's {@code io:format}. */
final class Format {

    private static final int WIDEST = 10_000;

    private final Arguments arguments;
    private final String format;
    private final StringBuilder result = new StringBuilder();
    private int at;
    private int next = 1;

    Format(Arguments arguments) {
        this.arguments = arguments;
        this.format = arguments.text(0);
    }

    String write() {
        while (at < format.length()) {
            char c = format.charAt(at++);
            if (c == '~') {
                sequence();
            } else {
                result.append(c);
            }
        }
        if (next < arguments.count()) {
            throw arguments.failure("more arguments than control sequences");
        }
        arguments.meter().make(result.length());
        return result.toString();
    }

    private void sequence() {
        int width = number();
        int precision = -1;
        char padding = ' ';
        if (at < format.length() && format.charAt(at) == '.') {
            at++;
            precision = number();
            if (at + 1 < format.length() && format.charAt(at) == '.') {
                padding = format.charAt(at + 1);
                at += 2;
            }
        }
        while (at < format.length() && (format.charAt(at) == 't' || format.charAt(at) == 'l')) {
            at++;
        }
        if (at == format.length()) {
            throw arguments.failure("the format ends within a control sequence");
        }
        String text = text(format.charAt(at++), precision);
        arguments.meter().probe((long) result.length() + text.length() + Math.abs(width));
        pad(text, width, padding);
    }

    private int number() {
        int start = at;
        while (at < format.length()
                && (Character.isDigit(format.charAt(at)) || at == start && format.charAt(at) == '-')) {
            at++;
        }
        Object number = at == start ? (Object) 0L : Values.parse(format.substring(start, at));
        if (!(number instanceof Long value) || Math.abs(value) > WIDEST) {
            throw arguments.failure("a width or precision is not valid");
        }
        return (int) (long) value;
    }

    private String text(char control, int precision) {
        return switch (control) {
            case '~' -> "~";
            case 'n' -> "\n";
            case 's' -> cut(Values.text(argument(), arguments.meter()), precision);
            case 'p', 'w' -> term(argument());
            case 'b', 'B', 'd' -> integer(argument(), precision);
            case 'f' -> decimal(precision < 0 ? 6 : precision);
            case 'e', 'g' -> scientific(precision < 1 ? 6 : precision);
            case 'c' -> character(argument());
            case 'i' -> {
                argument();
                yield "";
            }
            default -> throw arguments.failure("there is no control sequence ~" + control);
        };
    }

    private @Nullable Object argument() {
        if (next >= arguments.count()) {
            throw arguments.failure("fewer arguments than control sequences");
        }
        return arguments.value(next++);
    }

    private String term(@Nullable Object value) {
        return value instanceof List || value instanceof Map
                ? Json.write(value, arguments.meter())
                : Values.text(value, arguments.meter());
    }

    private static String cut(String text, int precision) {
        return precision > 0 && precision < text.length() ? text.substring(0, precision) : text;
    }

    private String integer(@Nullable Object value, int base) {
        if (!Values.isInteger(value)) {
            throw arguments.wrong(next - 1, "an integer");
        }
        return Values.big(value).toString(base >= 2 && base <= 36 ? base : 10).toUpperCase(Locale.ROOT);
    }

    private String decimal(int digits) {
        argument();
        return new BigDecimal(arguments.real(next - 1))
                .setScale(Math.min(digits, 253), RoundingMode.HALF_UP)
                .toPlainString();
    }

    private String scientific(int digits) {
        argument();
        return String.format(Locale.ROOT, "%." + Math.min(digits - 1, 50) + "e", arguments.real(next - 1));
    }

    private String character(@Nullable Object value) {
        if (value instanceof Long code && Character.isValidCodePoint((int) Math.max(-1, Math.min(code, 1 << 24)))) {
            return Character.toString((int) (long) code);
        }
        throw arguments.wrong(next - 1, "the code of a character");
    }

    private void pad(String text, int width, char padding) {
        String filler = String.valueOf(padding).repeat(Math.max(0, Math.abs(width) - text.length()));
        if (width < 0) {
            result.append(text).append(filler);
        } else {
            result.append(filler).append(text);
        }
    }
}
