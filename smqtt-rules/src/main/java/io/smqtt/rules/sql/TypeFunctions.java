// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Functions that ask for the type of a value, and that convert values. */
final class TypeFunctions {

    private static final int MOST_DECIMALS = 253;

    private TypeFunctions() {}

    static List<Function> all() {
        FunctionFamily family = new FunctionFamily();
        questions(family);
        conversions(family);
        return family.functions();
    }

    private static void questions(FunctionFamily family) {
        family.add("is_null(x)", "whether x is undefined; JSON's null is not", a -> a.value(0) == null)
                .add("is_not_null(x)", "whether x is not undefined", a -> a.value(0) != null)
                .add("is_null_var(x)", "whether x is undefined or null", a -> isNone(a.value(0)))
                .add("is_not_null_var(x)", "whether x is neither undefined nor null", a -> !isNone(a.value(0)))
                .add("is_str(x)", "whether x is text", a -> a.value(0) instanceof String)
                .add("is_bool(x)", "whether x is true or false", a -> a.value(0) instanceof Boolean)
                .add("is_int(x)", "whether x is an integer", a -> Values.isInteger(a.value(0)))
                .add("is_float(x)", "whether x is a float", a -> a.value(0) instanceof Double)
                .add("is_num(x)", "whether x is a number", a -> Values.isNumber(a.value(0)))
                .add("is_map(x)", "whether x is a map", a -> a.value(0) instanceof Map)
                .add("is_array(x)", "whether x is an array", a -> a.value(0) instanceof List)
                .add(
                        "is_empty(x)",
                        "whether a map, an array or text is empty; so are undefined and null",
                        TypeFunctions::isEmpty)
                .add("null()", "undefined", a -> null)
                .add(
                        "coalesce(x[, y])",
                        "y if x is undefined or null, otherwise x; with one argument, the first such element of an array",
                        a -> coalesce(a, false))
                .add("coalesce_ne(x[, y])", "as coalesce; empty text counts as undefined, too", a -> coalesce(a, true));
    }

    private static void conversions(FunctionFamily family) {
        family.add(
                        "str(x)",
                        "x as text; a float with at most 10 decimals, maps and arrays as JSON",
                        a -> text(a.value(0), a.meter()))
                .add("str_utf8(x)", "as str", a -> text(a.value(0), a.meter()))
                .add(
                        "bool(x)",
                        "true or false from a boolean, 1 or 0, or the text 'true' or 'false'",
                        a -> bool(a, a.value(0)))
                .add(
                        "int(x)",
                        "an integer from a number, which is rounded down, a boolean, or text that is a number",
                        TypeFunctions::integer)
                .add("float(x[, decimals])", "a float from a number or text, with at most so many decimals", a -> {
                    double real = real(a);
                    return a.count() == 1 ? (Object) real : rounded(real, (int) a.integer(1, 1, MOST_DECIMALS));
                })
                .add("float2str(x, decimals)", "a float as text with at most so many decimals", a -> {
                    String text = Values.decimal(a.real(0), (int) a.integer(1, 0, MOST_DECIMALS));
                    return text.endsWith(".0") && a.integer(1) == 0 ? text.substring(0, text.length() - 2) : text;
                })
                .add("map(x)", "a map from a map, or from text that is the JSON of one", a -> a.map(0));
    }

    static boolean isNone(@Nullable Object value) {
        return value == null || value == Values.NULL;
    }

    private static Object isEmpty(Arguments a) {
        Object value = a.value(0);
        if (value instanceof Map<?, ?> map) {
            return map.isEmpty();
        }
        if (value instanceof List<?> list) {
            return list.isEmpty();
        }
        return isNone(value) || "".equals(value) || value instanceof byte[] bytes && bytes.length == 0;
    }

    private static @Nullable Object coalesce(Arguments a, boolean empty) {
        if (a.count() == 2) {
            return isMissing(a.value(0), empty) ? a.value(1) : a.value(0);
        }
        for (Object element : a.list(0)) {
            a.meter().step();
            if (!isMissing(Values.element(element), empty)) {
                return Values.element(element);
            }
        }
        return null;
    }

    private static boolean isMissing(@Nullable Object value, boolean empty) {
        return isNone(value) || empty && "".equals(value);
    }

    /** Bytes that are not text stay bytes. */
    private static Object text(@Nullable Object value, Meter meter) {
        return value instanceof byte[] bytes ? Values.textOrBytes(bytes) : Values.text(value, meter);
    }

    private static Object bool(Arguments a, @Nullable Object value) {
        if (value instanceof Boolean) {
            return value;
        }
        if (value instanceof Long number && (number == 0 || number == 1)) {
            return number == 1;
        }
        if ("true".equals(value) || "false".equals(value)) {
            return "true".equals(value);
        }
        throw a.wrong(0, "a boolean, 0, 1, 'true' or 'false'");
    }

    private static Object integer(Arguments a) {
        Object value = a.value(0);
        if (value instanceof Boolean bool) {
            return bool ? 1L : 0L;
        }
        Object number = value instanceof String text ? Values.parse(text) : value;
        if (number instanceof Double real) {
            return MathFunctions.integer(real, RoundingMode.FLOOR);
        }
        if (number == null || !Values.isInteger(number)) {
            throw a.wrong(0, "a number or the text of one");
        }
        return number;
    }

    private static double real(Arguments a) {
        Object number = a.value(0) instanceof String text ? Values.parse(text) : a.value(0);
        if (!Values.isNumber(number)) {
            throw a.wrong(0, "a number or the text of one");
        }
        return Operators.real(number);
    }

    private static Object rounded(double real, int decimals) {
        return new BigDecimal(real).setScale(decimals, RoundingMode.HALF_UP).doubleValue();
    }
}
