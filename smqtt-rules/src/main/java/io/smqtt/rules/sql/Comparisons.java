// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Equality and order of values. Text that is compared with a number counts as the number that it is. */
final class Comparisons {

    /** The result of {@link #compare} for values without an order. */
    static final int NONE = 2;

    private static final long EXACT = 1L << 53;

    private Comparisons() {}

    static boolean equal(@Nullable Object left, @Nullable Object right, Meter meter) {
        return equal(left, right, meter, Values.DEPTH);
    }

    private static boolean equal(@Nullable Object left, @Nullable Object right, Meter meter, int depth) {
        meter.step();
        if (left instanceof Long one && right instanceof Long other) {
            return one.longValue() == other.longValue();
        }
        if (left instanceof String one && right instanceof String other) {
            meter.read(one.length());
            return one.equals(other);
        }
        boolean leftNone = left == null || left == Values.NULL;
        boolean rightNone = right == null || right == Values.NULL;
        if (leftNone || rightNone) {
            return leftNone && rightNone
                    || "undefined".equals(leftNone ? right : left) && (left == null || right == null);
        }
        if (left instanceof Boolean && right instanceof String || right instanceof Boolean && left instanceof String) {
            return String.valueOf(left).equals(String.valueOf(right));
        }
        if (left instanceof List<?> one) {
            return right instanceof List<?> other && equalLists(one, other, meter, Values.deeper(depth));
        }
        if (left instanceof Map<?, ?> one) {
            return right instanceof Map<?, ?> other && equalMaps(one, other, meter, Values.deeper(depth));
        }
        return left instanceof Boolean ? left.equals(right) : compare(left, right, meter) == 0;
    }

    private static boolean equalLists(List<?> one, List<?> other, Meter meter, int depth) {
        if (one.size() != other.size()) {
            return false;
        }
        Iterator<?> others = other.iterator();
        for (Object element : one) {
            if (!equal(Values.element(element), Values.element(others.next()), meter, depth)) {
                return false;
            }
        }
        return true;
    }

    private static boolean equalMaps(Map<?, ?> one, Map<?, ?> other, Meter meter, int depth) {
        if (one.size() != other.size()) {
            return false;
        }
        for (Map.Entry<?, ?> entry : one.entrySet()) {
            if (!other.containsKey(entry.getKey())
                    || !equal(
                            Values.element(entry.getValue()),
                            Values.element(other.get(entry.getKey())),
                            meter,
                            depth)) {
                return false;
            }
        }
        return true;
    }

    /** Negative, 0 or positive, or {@link #NONE} if the values have no order. */
    static int compare(@Nullable Object left, @Nullable Object right, Meter meter) {
        meter.step();
        if (left instanceof Long one && right instanceof Long other) {
            return Long.compare(one, other);
        }
        if (Values.isNumber(left) && Values.isNumber(right)) {
            return sign(numbers(left, right));
        }
        if (Values.isText(left) && Values.isText(right)) {
            return texts(left, right, meter);
        }
        if (Values.isNumber(left) && right instanceof String text) {
            Object number = Values.parse(text);
            return number == null ? NONE : sign(numbers(left, number));
        }
        if (left instanceof String text && Values.isNumber(right)) {
            Object number = Values.parse(text);
            return number == null ? NONE : sign(numbers(number, right));
        }
        if (left instanceof Boolean one && right instanceof Boolean other) {
            return Boolean.compare(one, other);
        }
        return NONE;
    }

    private static int texts(@Nullable Object left, @Nullable Object right, Meter meter) {
        if (left instanceof String one && right instanceof String other) {
            meter.read(Math.min(one.length(), other.length()));
            return sign(one.compareTo(other));
        }
        byte[] one = Values.bytes(left, meter);
        byte[] other = Values.bytes(right, meter);
        return sign(Arrays.compareUnsigned(one, other));
    }

    private static int numbers(@Nullable Object left, @Nullable Object right) {
        if (left instanceof Double one && right instanceof Double other) {
            return Double.compare(zero(one), zero(other));
        }
        if (left instanceof Double one && right instanceof Long other && isExact(other)) {
            return Double.compare(zero(one), other);
        }
        if (left instanceof Long one && right instanceof Double other && isExact(one)) {
            return Double.compare(one, zero(other));
        }
        return left instanceof Long one && right instanceof Long other
                ? Long.compare(one, other)
                : decimal(left).compareTo(decimal(right));
    }

    /** Whether a double has the value of this integer, too. */
    private static boolean isExact(long integer) {
        return integer > -EXACT && integer < EXACT;
    }

    private static BigDecimal decimal(@Nullable Object number) {
        return number instanceof Double real
                ? new BigDecimal(real)
                : number instanceof Long integer ? BigDecimal.valueOf(integer) : new BigDecimal((BigInteger) number);
    }

    /** Zero without sign. */
    private static double zero(Double number) {
        return number == 0.0 ? 0.0 : number;
    }

    private static int sign(int order) {
        return Integer.compare(order, 0);
    }
}
