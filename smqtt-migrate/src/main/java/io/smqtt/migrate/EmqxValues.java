// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The notation of values in emqx.conf: durations, sizes, rates and addresses. */
final class EmqxValues {

    /** The result for {@code infinity} and {@code disabled}. */
    static final long INFINITE = Long.MAX_VALUE;
    /** The result for a text that is no such value. */
    static final long INVALID = -1;

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,15}");
    private static final Pattern DURATION_PART = Pattern.compile("([0-9]{1,12})(\\.[0-9]{1,6})?(ms|s|m|h|d|w)?");
    private static final Pattern SIZE = Pattern.compile("([0-9]{1,12})(\\.[0-9]{1,6})?\\s*(b|kb|kib|mb|mib|gb|gib)?");
    private static final Pattern RATE = Pattern.compile("([^/]+?)\\s*/\\s*([0-9]{0,6})\\s*(ms|s|m|h|d)");
    private static final int MAX_PARTS = 8;

    private EmqxValues() {}

    private static boolean isInfinite(String text) {
        return text.equals("infinity") || text.equals("unlimited") || text.equals("disabled");
    }

    /** A number that is not negative, or {@code infinity}. */
    static long count(String value) {
        String text = folded(value);
        return isInfinite(text) ? INFINITE : NUMBER.matcher(text).matches() ? Long.parseLong(text) : INVALID;
    }

    /**
     * A duration such as {@code 1h30m}.
     *
     * @param value the text
     * @param unit milliseconds of a number without a unit
     * @return milliseconds
     */
    static long millis(String value, long unit) {
        String text = folded(value);
        if (isInfinite(text)) {
            return INFINITE;
        }
        Matcher part = DURATION_PART.matcher(text);
        double sum = 0;
        int at = 0;
        for (int parts = 0; at < text.length(); parts++) {
            if (parts == MAX_PARTS || !part.find(at) || part.start() != at) {
                return INVALID;
            }
            double number = Double.parseDouble(part.group(1) + (part.group(2) == null ? "" : part.group(2)));
            sum += number * (part.group(3) == null ? unit : unit(part.group(3)));
            at = part.end();
        }
        return text.isEmpty() ? INVALID : (long) Math.min(1e15, sum);
    }

    private static long unit(String unit) {
        return switch (unit) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            case "h" -> 3_600_000;
            case "d" -> 86_400_000;
            default -> 7 * 86_400_000L;
        };
    }

    /** A size such as {@code 1MB}, in bytes; EMQX's units are powers of 1024. */
    static long bytes(String value) {
        String text = folded(value);
        if (isInfinite(text)) {
            return INFINITE;
        }
        Matcher size = SIZE.matcher(text);
        if (!size.matches()) {
            return INVALID;
        }
        double number = Double.parseDouble(size.group(1) + (size.group(2) == null ? "" : size.group(2)));
        char unit = size.group(3) == null ? 'b' : size.group(3).charAt(0);
        return (long) Math.min(
                1e15,
                number
                        * switch (unit) {
                            case 'k' -> 1L << 10;
                            case 'm' -> 1L << 20;
                            case 'g' -> 1L << 30;
                            default -> 1;
                        });
    }

    /** A rate such as {@code 1000/s}, {@code 10MB/10s}, per second, at least 1. */
    static long perSecond(String value) {
        String text = folded(value);
        if (isInfinite(text)) {
            return INFINITE;
        }
        Matcher rate = RATE.matcher(text);
        if (!rate.matches()) {
            return INVALID;
        }
        long amount = bytes(rate.group(1));
        long times = rate.group(2).isEmpty() ? 1 : Long.parseLong(rate.group(2));
        long millis = times * unit(rate.group(3));
        return amount < 0 || millis == 0 ? INVALID : amount == 0 ? 0 : Math.max(1, (long) (amount * 1000.0 / millis));
    }

    /** A duration in this broker's notation. */
    static String duration(long millis) {
        return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
    }

    /**
     * An address to bind to.
     *
     * @param host empty for all addresses
     * @param port 0 to 65535
     */
    record Bind(String host, int port) {}

    /** Reads {@code 1883}, {@code 0.0.0.0:1883} or {@code [::]:1883}; null if it is none of these. */
    static @Nullable Bind bind(String value) {
        String text = value.strip();
        int colon = text.lastIndexOf(':');
        String port = text.substring(colon + 1);
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        if (!NUMBER.matcher(port).matches() || port.length() > 5 || Integer.parseInt(port) > 65_535) {
            return null;
        }
        return new Bind(host, Integer.parseInt(port));
    }

    private static String folded(String value) {
        return value.strip().toLowerCase(Locale.ROOT);
    }
}
