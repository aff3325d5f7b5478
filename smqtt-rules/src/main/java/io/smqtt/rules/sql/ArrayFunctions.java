// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Functions of arrays. The first element has the number 1. */
final class ArrayFunctions {

    private ArrayFunctions() {}

    static List<Function> all() {
        return new FunctionFamily()
                .add("nth(n, array)", "the nth element; there must be one", a -> at(a, a.integer(0), a.list(1)))
                .add("first(array)", "the first element; there must be one", a -> at(a, 1, a.list(0)))
                .add(
                        "last(array)",
                        "the last element; there must be one",
                        a -> at(a, a.list(0).size(), a.list(0)))
                .add("length(array)", "the number of elements", a ->
                        (long) a.list(0).size())
                .add(
                        "sublist([start, ]length, array)",
                        "at most so many elements from the first one; sublist(start, length, array) from another one",
                        ArrayFunctions::sublist)
                .add("contains(item, array)", "whether the array has an equal element", a -> {
                    for (Object element : a.list(1)) {
                        if (Comparisons.equal(a.value(0), Values.element(element), a.meter())) {
                            return true;
                        }
                    }
                    return false;
                })
                .add(
                        "range(first, last)",
                        "an array of all integers from the first to the last one",
                        a -> range(a.integer(0), a.integer(1), a.meter()))
                .functions();
    }

    /** The array of a literal. */
    static Object list(Expr[] elements, Frame frame) {
        List<@Nullable Object> list = Values.list(elements.length, frame.meter);
        for (Expr element : elements) {
            list.add(Values.plain(element.eval(frame)));
        }
        return list;
    }

    /** All integers between two, both included. */
    static Object range(long first, long last, Meter meter) {
        if (last < first) {
            return new ArrayList<>();
        }
        long size = last - first + 1;
        if (size <= 0) {
            throw new RuleFailure("the range is too long");
        }
        meter.steps(size);
        List<@Nullable Object> list = Values.list(size, meter);
        for (long number = first; list.size() < size; number++) {
            list.add(number);
        }
        return list;
    }

    private static Object at(Arguments a, long number, List<?> list) {
        if (number < 1 || number > list.size()) {
            throw a.failure("there is no element " + number + " in an array of " + list.size());
        }
        return Values.element(list.get((int) number - 1));
    }

    private static Object sublist(Arguments a) {
        boolean two = a.count() == 2;
        long start = two ? 1 : a.integer(0);
        long length = a.integer(two ? 0 : 1);
        List<?> list = a.list(two ? 1 : 2);
        if (start < 1 || length < 0) {
            throw a.failure("start must be at least 1, and length at least 0");
        }
        int from = (int) Math.min(start - 1, list.size());
        int size = (int) Math.min(length, list.size() - from);
        a.meter().make(size * 8L);
        return new ArrayList<>(list.subList(from, from + size));
    }
}
