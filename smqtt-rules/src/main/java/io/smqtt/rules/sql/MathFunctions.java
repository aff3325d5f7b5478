// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleUnaryOperator;

/** Functions of numbers. A result that is not a finite number is a failure. */
final class MathFunctions {

    private static final double LN2 = Math.log(2);

    private MathFunctions() {}

    static List<Function> all() {
        return new FunctionFamily()
                .add("abs(x)", "the absolute value", a -> absolute(a.number(0)))
                .add("ceil(x)", "the least integer that is not below x", a -> round(a, RoundingMode.CEILING))
                .add("floor(x)", "the greatest integer that is not above x", a -> round(a, RoundingMode.FLOOR))
                .add(
                        "round(x)",
                        "the nearest integer; a half is rounded away from zero",
                        a -> round(a, RoundingMode.HALF_UP))
                .add("sqrt(x)", "the square root", a -> real(a, Math::sqrt))
                .add("exp(x)", "e to the power of x", a -> real(a, Math::exp))
                .add("power(x, y)", "x to the power of y, a float", a -> Values.finite(Math.pow(a.real(0), a.real(1))))
                .add("fmod(x, y)", "the remainder of x divided by y, a float", MathFunctions::remainder)
                .add("log(x)", "the natural logarithm", a -> real(a, Math::log))
                .add("log10(x)", "the logarithm to base 10", a -> real(a, Math::log10))
                .add("log2(x)", "the logarithm to base 2", a -> real(a, MathFunctions::log2))
                .add("sin(x)", "the sine of radians", a -> real(a, Math::sin))
                .add("cos(x)", "the cosine of radians", a -> real(a, Math::cos))
                .add("tan(x)", "the tangent of radians", a -> real(a, Math::tan))
                .add("asin(x)", "the arc sine in radians", a -> real(a, Math::asin))
                .add("acos(x)", "the arc cosine in radians", a -> real(a, Math::acos))
                .add("atan(x)", "the arc tangent in radians", a -> real(a, Math::atan))
                .add("sinh(x)", "the hyperbolic sine", a -> real(a, Math::sinh))
                .add("cosh(x)", "the hyperbolic cosine", a -> real(a, Math::cosh))
                .add("tanh(x)", "the hyperbolic tangent", a -> real(a, Math::tanh))
                .add("asinh(x)", "the inverse hyperbolic sine", a -> real(a, MathFunctions::asinh))
                .add("acosh(x)", "the inverse hyperbolic cosine", a -> real(a, MathFunctions::acosh))
                .add("atanh(x)", "the inverse hyperbolic tangent", a -> real(a, MathFunctions::atanh))
                .add("mod(x, y)", "the remainder of integers, as the operator mod", a -> {
                    return Operators.integers(false, a.value(0), a.value(1));
                })
                .add("div(x, y)", "the quotient of integers, as the operator div", a -> {
                    return Operators.integers(true, a.value(0), a.value(1));
                })
                .add("eq(x, y)", "whether two values are equal, as the operator =", a -> {
                    return Comparisons.equal(a.value(0), a.value(1), a.meter());
                })
                .live(
                        "random()",
                        "a random float from 0 to below 1",
                        a -> ThreadLocalRandom.current().nextDouble())
                .functions();
    }

    private static Object real(Arguments a, DoubleUnaryOperator operator) {
        double result = operator.applyAsDouble(a.real(0));
        if (Double.isNaN(result)) {
            throw a.failure("the argument is out of range");
        }
        return Values.finite(result);
    }

    private static Object absolute(Object number) {
        if (number instanceof Double real) {
            return Math.abs(real);
        }
        return number instanceof Long integer && integer != Long.MIN_VALUE
                ? (Object) Math.abs(integer)
                : Values.narrow(Values.big(number).abs());
    }

    private static Object round(Arguments a, RoundingMode mode) {
        return a.number(0) instanceof Double real ? integer(real, mode) : a.number(0);
    }

    /** A float as integer. */
    static Object integer(double real, RoundingMode mode) {
        BigInteger integer = new BigDecimal(real).setScale(0, mode).toBigInteger();
        return Values.narrow(integer);
    }

    private static Object remainder(Arguments a) {
        double divisor = a.real(1);
        if (divisor == 0.0) {
            throw a.failure("division by zero");
        }
        return Values.finite(a.real(0) % divisor);
    }

    /** Exact for powers of 2. */
    private static double log2(double x) {
        int exponent = Math.getExponent(x);
        return x > 0 && x == Math.scalb(1.0, exponent) ? exponent : Math.log(x) / LN2;
    }

    private static double asinh(double x) {
        double size = Math.abs(x);
        return Math.copySign(Math.log1p(size + size * size / (1 + Math.sqrt(size * size + 1))), x);
    }

    private static double acosh(double x) {
        return Math.log(x + Math.sqrt(x * x - 1));
    }

    private static double atanh(double x) {
        return 0.5 * Math.log1p(2 * x / (1 - x));
    }
}
