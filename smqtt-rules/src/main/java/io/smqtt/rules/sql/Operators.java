// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The operators of expressions. Integers do not overflow; floating-point arithmetic has neither NaN nor infinity. */
final class Operators {

    private Operators() {}

    /** A value as a condition: undefined and null are false, everything but booleans is a mistake. */
    static boolean truth(@Nullable Object value) {
        if (value instanceof Boolean bool) {
            return bool;
        }
        if (value == null || value == Values.NULL) {
            return false;
        }
        throw new RuleFailure("a condition must be true or false, not " + Values.kind(value));
    }

    /** The expression of a relation. */
    static Expr relation(String operator, Expr left, Expr right) {
        return switch (operator) {
            case "=" -> (Expr.Condition) f -> Comparisons.equal(left.eval(f), right.eval(f), f.meter);
            case "!=", "<>" -> (Expr.Condition) f -> !Comparisons.equal(left.eval(f), right.eval(f), f.meter);
            case "<" -> (Expr.Condition) f -> Comparisons.compare(left.eval(f), right.eval(f), f.meter) == -1;
            case ">" -> (Expr.Condition) f -> Comparisons.compare(left.eval(f), right.eval(f), f.meter) == 1;
            case "<=" -> (Expr.Condition) f -> Comparisons.compare(left.eval(f), right.eval(f), f.meter) <= 0;
            case ">=" ->
                (Expr.Condition) f -> {
                    int order = Comparisons.compare(left.eval(f), right.eval(f), f.meter);
                    return order == 0 || order == 1;
                };
            default -> topicRelation(left, right);
        };
    }

    private static Expr topicRelation(Expr left, Expr right) {
        if (right instanceof Expr.Constant constant && constant.value() instanceof String text) {
            TopicFilter filter = filter(text);
            return (Expr.Condition) f -> matches(left.eval(f), filter, f.meter);
        }
        return (Expr.Condition) f -> {
            Object topic = left.eval(f);
            Object wanted = right.eval(f);
            if (wanted instanceof List<?> filters) {
                return filters.stream().anyMatch(one -> matches(topic, filter(one), f.meter));
            }
            return matches(topic, filter(wanted), f.meter);
        };
    }

    /** A topic filter; fails for anything else. */
    static TopicFilter filter(@Nullable Object value) {
        if (!(value instanceof String text)) {
            throw new RuleFailure("a topic filter must be text, not " + Values.kind(value));
        }
        try {
            return TopicFilter.of(text);
        } catch (InvalidTopicException e) {
            throw new RuleFailure("not a topic filter: " + e.getMessage());
        }
    }

    /** Whether the value is a topic that the filter matches; a filter that it covers counts, too. */
    static boolean matches(@Nullable Object topic, TopicFilter filter, Meter meter) {
        if (!(topic instanceof String text)) {
            return false;
        }
        meter.read(text.length());
        try {
            return text.indexOf('+') < 0 && text.indexOf('#') < 0
                    ? filter.matches(TopicName.of(text))
                    : filter.covers(TopicFilter.of(text));
        } catch (InvalidTopicException e) {
            return false;
        }
    }

    /** The sum of numbers; text and anything else are put together as text. */
    static Object plus(@Nullable Object left, @Nullable Object right, Meter meter) {
        meter.step();
        if (left instanceof Long one && right instanceof Long other) {
            long sum = one + other;
            return ((one ^ sum) & (other ^ sum)) < 0 ? Values.big(one).add(Values.big(other)) : (Object) sum;
        }
        if (Values.isText(left) || Values.isText(right)) {
            return concat(left, right, meter);
        }
        return arithmetic('+', left, right);
    }

    /** The values one behind the other as text, or as bytes if one of them is bytes. */
    static Object concat(@Nullable Object left, @Nullable Object right, Meter meter) {
        if (left instanceof byte[] || right instanceof byte[]) {
            byte[] front = bytes(left, meter);
            byte[] back = bytes(right, meter);
            meter.make((long) front.length + back.length);
            ByteArrayOutputStream both = new ByteArrayOutputStream(front.length + back.length);
            both.writeBytes(front);
            both.writeBytes(back);
            return Values.textOrBytes(both.toByteArray());
        }
        String front = Values.text(left, meter);
        String back = Values.text(right, meter);
        meter.make((long) front.length() + back.length());
        return front.concat(back);
    }

    private static byte[] bytes(@Nullable Object value, Meter meter) {
        if (value instanceof byte[] bytes) {
            return bytes;
        }
        String text = Values.text(value, meter);
        meter.read(text.length());
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The result of {@code + - * /} for numbers. */
    static Object arithmetic(char operator, @Nullable Object left, @Nullable Object right) {
        if (!Values.isNumber(left) || !Values.isNumber(right)) {
            String side = Values.isNumber(left) ? "right" : "left";
            throw new RuleFailure("the " + side + " side of " + operator + " must be a number, not "
                    + Values.kind(Values.isNumber(left) ? right : left));
        }
        if (operator == '/') {
            return divide(real(left), real(right));
        }
        if (left instanceof Double || right instanceof Double) {
            double one = real(left);
            double other = real(right);
            return Values.finite(operator == '+' ? one + other : operator == '-' ? one - other : one * other);
        }
        if (left instanceof Long one && right instanceof Long other) {
            try {
                return operator == '+'
                        ? Math.addExact(one, other)
                        : operator == '-' ? Math.subtractExact(one, other) : Math.multiplyExact(one, other);
            } catch (ArithmeticException e) {
                // the result is longer than 64 bits
            }
        }
        BigInteger one = Values.big(left);
        BigInteger other = Values.big(right);
        return Values.narrow(
                operator == '+' ? one.add(other) : operator == '-' ? one.subtract(other) : one.multiply(other));
    }

    private static Object divide(double dividend, double divisor) {
        if (divisor == 0.0) {
            throw new RuleFailure("division by zero");
        }
        return Values.finite(dividend / divisor);
    }

    /** The integer quotient, rounded towards zero, or the remainder, with the sign of the dividend. */
    static Object integers(boolean quotient, @Nullable Object left, @Nullable Object right) {
        if (!Values.isInteger(left) || !Values.isInteger(right)) {
            throw new RuleFailure((quotient ? "div" : "mod") + " needs integers, not "
                    + Values.kind(Values.isInteger(left) ? right : left));
        }
        BigInteger divisor = Values.big(right);
        if (divisor.signum() == 0) {
            throw new RuleFailure("division by zero");
        }
        if (left instanceof Long one && right instanceof Long other && other != -1) {
            return quotient ? one / other : one % other;
        }
        return Values.narrow(
                quotient ? Values.big(left).divide(divisor) : Values.big(left).remainder(divisor));
    }

    static Object negate(@Nullable Object value) {
        return arithmetic('-', 0L, value);
    }

    /** A number as floating-point number. */
    static double real(@Nullable Object number) {
        return number instanceof BigInteger big
                ? Values.finite(big.doubleValue())
                : Objects.requireNonNull((Number) number).doubleValue();
    }
}
