// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;
import java.util.Locale;

/** Durations in text form: {@code 250us}, {@code 20ms}, {@code 1.5s}, {@code 2m}, {@code 1h}; bare numbers are seconds. */
final class DurationText {

    private static final double MOST_SECONDS = 1e9;

    private DurationText() {}

    /** @throws IllegalArgumentException with a message for the user */
    static Duration parse(String text) {
        int digits = 0;
        while (digits < text.length() && (Character.isDigit(text.charAt(digits)) || text.charAt(digits) == '.')) {
            digits++;
        }
        double seconds = switch (text.substring(digits).toLowerCase(Locale.ROOT)) {
            case "us" -> 1e-6;
            case "ms" -> 1e-3;
            case "", "s" -> 1;
            case "m" -> 60;
            case "h" -> 3600;
            default -> throw bad(text);
        };
        try {
            double value = Double.parseDouble(text.substring(0, digits)) * seconds;
            if (value > MOST_SECONDS) {
                throw bad(text);
            }
            return Duration.ofNanos(Math.round(value * 1e9));
        } catch (NumberFormatException e) {
            throw bad(text);
        }
    }

    private static IllegalArgumentException bad(String text) {
        return new IllegalArgumentException(
                "'" + text + "' is no duration: a number with us, ms, s, m or h, such as 20ms");
    }

    /** Formats three digits with a suitable unit. */
    static String of(Duration duration) {
        double micros = duration.toNanos() / 1e3;
        if (micros < 1_000) {
            return shown(micros) + "us";
        }
        return micros < 1_000_000 ? shown(micros / 1e3) + "ms" : shown(micros / 1e6) + "s";
    }

    private static String shown(double value) {
        return value == Math.rint(value)
                ? Long.toString((long) value)
                : String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    }
}
