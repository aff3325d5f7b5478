// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The values of the language. In expressions {@code null} is undefined and {@link #NULL} is JSON's null; inside of lists and maps, JSON's null
 * is {@code null}, and a key that is absent is undefined.
 */
final class Values {

    /** JSON's null in expressions. */
    static final Object NULL = new Object() {
        @Override
        public String toString() {
            return "null";
        }
    };

    /** The deepest nesting of lists and maps. */
    static final int DEPTH = 200;

    private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);
    private static final int INTEGER_BITS = 4096;
    private static final int DECIMALS = 10;

    private Values() {}

    /** A value of an event in the form that expressions have. */
    static @Nullable Object of(@Nullable Object value) {
        if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        if (value instanceof Float number) {
            return number.doubleValue();
        }
        return value instanceof Enum<?> || value instanceof Character ? value.toString() : value;
    }

    /** A value inside of a list or map, in the form that expressions have. */
    static Object element(@Nullable Object value) {
        Object known = of(value);
        return known == null ? NULL : known;
    }

    /** A value of an expression in the form that lists and maps have. */
    static @Nullable Object plain(@Nullable Object value) {
        return value == NULL ? null : value;
    }

    /** The value of a key, undefined if there is none. */
    static @Nullable Object get(Map<?, ?> map, String key) {
        Object value = map.get(key);
        return value == null ? (map.containsKey(key) ? NULL : null) : of(value);
    }

    /** How a value is called in messages. */
    static String kind(@Nullable Object value) {
        if (value == null) {
            return "undefined";
        }
        if (value instanceof String) {
            return "text";
        }
        if (value instanceof Long || value instanceof BigInteger) {
            return "an integer";
        }
        if (value instanceof Double) {
            return "a float";
        }
        if (value instanceof Boolean) {
            return "a boolean";
        }
        if (value instanceof byte[]) {
            return "bytes";
        }
        if (value instanceof List) {
            return "an array";
        }
        return value instanceof Map ? "a map" : "null";
    }

    /** The value as the function {@code str} has it. */
    static String text(@Nullable Object value, Meter meter) {
        if (value instanceof String text) {
            return text;
        }
        if (value instanceof byte[] bytes) {
            meter.make(bytes.length);
            String text = utf8(bytes);
            if (text == null) {
                throw new RuleFailure("the bytes are not UTF-8 text");
            }
            return text;
        }
        if (value instanceof Double number) {
            return decimal(number, DECIMALS);
        }
        if (value instanceof List || value instanceof Map) {
            return Json.write(value, meter);
        }
        if (value instanceof BigInteger big) {
            meter.steps(big.bitLength() / 8);
        }
        return value == null ? "undefined" : value.toString();
    }

    /** The bytes of text, or bytes as they are; {@code null} for other values. */
    static byte @Nullable [] bytes(@Nullable Object value, Meter meter) {
        if (value instanceof byte[] bytes) {
            return bytes;
        }
        if (value instanceof String text) {
            meter.read(text.length());
            return text.getBytes(StandardCharsets.UTF_8);
        }
        return null;
    }

    /** Text for bytes that are UTF-8, and otherwise the bytes. */
    static Object textOrBytes(byte[] bytes) {
        String text = utf8(bytes);
        return text == null ? bytes : text;
    }

    /** The text, or {@code null} if the bytes are not UTF-8. */
    static @Nullable String utf8(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (text.indexOf('\uFFFD') < 0) {
            return text;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** Decimal notation with at most so many digits behind the point and at least one. */
    static String decimal(double number, int decimals) {
        BigDecimal rounded =
                new BigDecimal(number).setScale(decimals, RoundingMode.HALF_UP).stripTrailingZeros();
        return (rounded.scale() < 1 ? rounded.setScale(1) : rounded).toPlainString();
    }

    /** The number that the text is, or {@code null}. */
    static @Nullable Object parse(String text) {
        int length = text.length();
        if (length == 0 || length > 400) {
            return null;
        }
        boolean integer = true;
        for (int index = 0; index < length; index++) {
            char c = text.charAt(index);
            if (c >= '0' && c <= '9' || (c == '-' || c == '+') && index == 0 && length > 1) {
                continue;
            }
            if (c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+') {
                return null;
            }
            integer = false;
        }
        try {
            if (integer) {
                return length < 19 ? (Object) Long.valueOf(text) : narrow(new BigInteger(text));
            }
            double number = Double.parseDouble(text);
            return Double.isFinite(number) ? number : null;
        } catch (NumberFormatException e) {
            return null;
        }
    }

    /** A {@code Long} if it fits. */
    static Object narrow(BigInteger value) {
        if (value.compareTo(LEAST) >= 0 && value.compareTo(MOST) <= 0) {
            return value.longValue();
        }
        if (value.bitLength() > INTEGER_BITS) {
            throw new RuleFailure("an integer has more than " + INTEGER_BITS + " bits");
        }
        return value;
    }

    /** Of a number that {@link #isInteger} says is one. */
    static BigInteger big(@Nullable Object integer) {
        return integer instanceof BigInteger big ? big : BigInteger.valueOf(Objects.requireNonNull((Long) integer));
    }

    static boolean isInteger(@Nullable Object value) {
        return value instanceof Long || value instanceof BigInteger;
    }

    static boolean isNumber(@Nullable Object value) {
        return value instanceof Long || value instanceof Double || value instanceof BigInteger;
    }

    static boolean isText(@Nullable Object value) {
        return value instanceof String || value instanceof byte[];
    }

    /** A result of floating-point arithmetic. There is neither NaN nor infinity. */
    static Double finite(double value) {
        if (!Double.isFinite(value)) {
            throw new RuleFailure("the result is not a finite number");
        }
        return value;
    }

    /** A list for results, with room for so many elements, which are charged. */
    static List<@Nullable Object> list(long size, Meter meter) {
        meter.make(size * 8);
        meter.steps(size);
        return new ArrayList<>((int) size);
    }

    /** The bytes that a value takes in a result, about; each element is a step. */
    static long size(@Nullable Object value, Meter meter) {
        return size(value, meter, DEPTH);
    }

    private static long size(@Nullable Object value, Meter meter, int depth) {
        if (value instanceof String text) {
            return 8L + text.length();
        }
        if (value instanceof byte[] bytes) {
            return 8L + bytes.length;
        }
        if (value instanceof List<?> list) {
            meter.steps(list.size());
            long sum = 8;
            for (Object element : list) {
                sum += size(element, meter, deeper(depth));
            }
            return sum;
        }
        if (value instanceof Map<?, ?> map) {
            meter.steps(map.size());
            long sum = 8;
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                sum += ((String) entry.getKey()).length() + size(entry.getValue(), meter, deeper(depth));
            }
            return sum;
        }
        return value instanceof BigInteger big ? 8L + big.bitLength() / 3 : 8;
    }

    /** One level less. */
    static int deeper(int depth) {
        if (depth == 0) {
            throw new RuleFailure("a value is nested more than " + DEPTH + " levels deep");
        }
        return depth - 1;
    }
}
