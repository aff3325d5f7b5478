// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.smqtt.config.LinearPattern;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Functions that take text apart and put it together, and regular expressions, which are RE2's: their time is linear in the text. */
final class SplitFunctions {

    private static final int LONGEST_PATTERN = 1_000;
    private static final int MOST_STEPS = 5_000;

    private SplitFunctions() {}

    static List<Function> all() {
        return new FunctionFamily()
                .add(
                        "split(text, separator[, option])",
                        "an array of the parts; options 'notrim' (keeps empty parts), 'leading' and 'trailing' (one separator only), 'leading_notrim', 'trailing_notrim'",
                        SplitFunctions::split)
                .add(
                        "tokens(text, separators[, nocrlf])",
                        "an array of the parts between any of these characters, none empty; with 'nocrlf' line breaks separate, too",
                        SplitFunctions::tokens)
                .add(
                        "join_to_string([separator, ]array)",
                        "the elements as text with a separator, ', ' by default",
                        a -> {
                            return a.count() == 1
                                    ? join(", ", a.list(0), a.meter())
                                    : join(a.text(0), a.list(1), a.meter());
                        })
                .add(
                        "join_to_sql_values_string(array)",
                        "the elements as SQL has them in VALUES: numbers as they are, text in quotation marks",
                        a -> sqlValues(a.list(0), a.meter()))
                .bound("regex_match(text, expression)", "whether a part of the text matches", constants -> {
                    Pattern known = pattern("regex_match", constants[1]);
                    return a -> {
                        String text = text(a);
                        return pattern(a, known).matcher(text).find();
                    };
                })
                .bound(
                        "regex_replace(text, expression, replacement)",
                        "with another text for all parts that match",
                        constants -> {
                            Pattern known = pattern("regex_replace", constants[1]);
                            return a -> replace(a, text(a), pattern(a, known));
                        })
                .bound("regex_extract(text, expression)", "an array of the groups of the first match", constants -> {
                    Pattern known = pattern("regex_extract", constants[1]);
                    return a -> extract(a, text(a), pattern(a, known));
                })
                .functions();
    }

    /** The elements as text with a separator between them. */
    static Object join(String separator, List<?> list, Meter meter) {
        StringBuilder text = new StringBuilder();
        boolean first = true;
        for (Object element : list) {
            if (!first) {
                text.append(separator);
            }
            first = false;
            text.append(Values.text(Values.element(element), meter));
            meter.probe(text.length());
            meter.step();
        }
        meter.make(text.length());
        return text.toString();
    }

    private static Object sqlValues(List<?> list, Meter meter) {
        List<@Nullable Object> values = Values.list(list.size(), meter);
        for (Object element : list) {
            if (element == null) {
                values.add("NULL");
            } else if (Values.isNumber(Values.of(element)) || element instanceof Boolean) {
                values.add(Values.text(Values.of(element), meter));
            } else {
                values.add("'" + Values.text(element, meter).replace("'", "''") + "'");
            }
        }
        return join(", ", values, meter);
    }

    private static Object split(Arguments a) {
        String text = a.text(0);
        String separator = a.text(1);
        if (separator.isEmpty()) {
            throw a.failure("the separator is empty");
        }
        String option = a.text(2, "");
        boolean trim = !option.endsWith("notrim");
        int at = switch (option) {
            case "", "notrim" -> -2;
            case "leading", "leading_notrim" -> text.indexOf(separator);
            case "trailing", "trailing_notrim" -> text.lastIndexOf(separator);
            default -> throw a.failure("there is no option '" + option + "'");
        };
        List<@Nullable Object> parts = new ArrayList<>();
        if (at >= 0) {
            part(a, parts, text.substring(0, at), trim);
            part(a, parts, text.substring(at + separator.length()), trim);
            return parts;
        }
        int start = 0;
        if (at == -2) {
            for (int next = text.indexOf(separator); next >= 0; next = text.indexOf(separator, start)) {
                part(a, parts, text.substring(start, next), trim);
                start = next + separator.length();
            }
        }
        part(a, parts, text.substring(start), trim);
        return parts;
    }

    private static void part(Arguments a, List<@Nullable Object> parts, String part, boolean trim) {
        if (!trim || !part.isEmpty()) {
            a.meter().make(16L + part.length());
            parts.add(part);
        }
    }

    private static Object tokens(Arguments a) {
        String text = a.text(0);
        String separators = a.text(1) + (a.count() > 2 ? "\r\n" : "");
        if (a.count() > 2 && !"nocrlf".equals(a.value(2))) {
            throw a.failure("the third argument must be 'nocrlf'");
        }
        a.meter().steps((long) text.length() * separators.length() >> 8);
        List<@Nullable Object> parts = new ArrayList<>();
        int start = 0;
        int width;
        for (int index = 0; index <= text.length(); index += width) {
            int c = index < text.length() ? text.codePointAt(index) : -1;
            width = c < 0 ? 1 : Character.charCount(c);
            if (c < 0 || separators.indexOf(c) >= 0) {
                part(a, parts, text.substring(start, index), true);
                start = index + width;
            }
        }
        return parts;
    }

    private static String text(Arguments a) {
        String text = a.text(0);
        a.meter().steps(1L + (text.length() >> 3));
        return text;
    }

    private static Pattern pattern(Arguments a, @Nullable Pattern known) {
        if (known != null) {
            return known;
        }
        String expression = a.text(1);
        a.meter().steps(100 + 10L * Math.min(expression.length(), LONGEST_PATTERN));
        return compile(expression);
    }

    private static @Nullable Pattern pattern(String function, @Nullable Object constant) {
        try {
            return constant instanceof String text ? compile(text) : null;
        } catch (RuleFailure e) {
            throw new RuleFailure(function + ": " + e.getMessage());
        }
    }

    private static Pattern compile(String expression) {
        if (expression.length() > LONGEST_PATTERN) {
            throw new RuleFailure("a regular expression has more than " + LONGEST_PATTERN + " characters");
        }
        try {
            return LinearPattern.compile(expression, MOST_STEPS);
        } catch (IllegalArgumentException e) {
            throw new RuleFailure(
                    e.getCause() instanceof PatternSyntaxException syntax
                            ? "not a regular expression: " + syntax.getDescription()
                            : "a regular expression " + e.getMessage());
        }
    }

    private static Object replace(Arguments a, String text, Pattern pattern) {
        String replacement = Matcher.quoteReplacement(a.text(2));
        Matcher matcher = pattern.matcher(text);
        StringBuilder result = new StringBuilder();
        while (matcher.find()) {
            matcher.appendReplacement(result, replacement);
            a.meter().step();
            a.meter().probe(result.length());
        }
        matcher.appendTail(result);
        a.meter().make(result.length());
        return result.toString();
    }

    private static Object extract(Arguments a, String text, Pattern pattern) {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.find()) {
            return List.of();
        }
        List<@Nullable Object> groups = Values.list(matcher.groupCount(), a.meter());
        for (int group = 1; group <= matcher.groupCount(); group++) {
            String found = matcher.group(group);
            groups.add(found == null ? "" : found);
        }
        return groups;
    }
}
