// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Filters of rule chains of the former smqtt, which are JEXL expressions, as conditions of the SQL of rules. */
final class SmqttPredicate {

    private static final int LONGEST = 2_000;
    private static final String LITERAL = "(\"[^\"'\\\\]*\"|'[^\"'\\\\]*'|-?[0-9]{1,15}(?:\\.[0-9]{1,15})?|true|false)";

    /** {@code qos == 1}, {@code $.body.t gt 40}, {@code topic.equals("a/b")}. */
    private static final Pattern TERM = Pattern.compile("\\s*(?:\\$\\.)?([A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*?)"
            + "(?:\\s*(==|!=|>=|<=|>|<|\\b(?:eq|ne|ge|le|gt|lt)\\b)\\s*" + LITERAL + "|\\.equals\\(\\s*" + LITERAL
            + "\\s*\\))\\s*");

    private static final Pattern OPERATOR = Pattern.compile("&&|\\|\\||\\band\\b|\\bor\\b");
    private static final Map<String, String> COMPARISONS =
            Map.of("==", "=", "eq", "=", "ne", "!=", "ge", ">=", "le", "<=", "gt", ">", "lt", "<");

    /** The fields, by what the versions of the former broker call them. */
    private static final Map<String, String> FIELDS = Map.of(
            "topic", "topic",
            "qos", "qos",
            "retain", "flags.retain",
            "clientIdentifier", "clientid",
            "clientId", "clientid",
            "msg", "payload",
            "body", "payload");

    private static final Set<String> WORDS = Set.of(
            "select", "from", "where", "foreach", "do", "incase", "as", "or", "and", "not", "in", "div", "mod", "case",
            "when", "then", "else", "end", "true", "false", "null");

    private SmqttPredicate() {}

    /**
     * Translates an expression.
     *
     * @param script comparisons of one field with a constant, joined by and or or
     * @return a condition, empty if all published messages fulfil it; null if the expression is not plain
     */
    static @Nullable String sql(String script) {
        if (script.length() > LONGEST) {
            return null;
        }
        List<String> parts = new ArrayList<>();
        Matcher term = TERM.matcher(script);
        Matcher operator = OPERATOR.matcher(script);
        boolean any = false;
        int at = 0;
        while (term.region(at, script.length()).lookingAt()) {
            String condition = condition(term);
            if (condition == null) {
                return null;
            }
            parts.add(condition);
            at = term.end();
            if (at == script.length()) {
                return joined(parts, any);
            }
            if (!operator.region(at, script.length()).lookingAt()) {
                return null;
            }
            boolean or = operator.group().equals("||") || operator.group().equals("or");
            any |= or;
            parts.add(or ? "OR" : "AND");
            at = operator.end();
        }
        return null;
    }

    /** Joins conditions; those that are always true are left out, which is right only without OR. */
    private static @Nullable String joined(List<String> parts, boolean any) {
        if (any) {
            return parts.contains("") ? null : String.join(" ", parts);
        }
        return String.join(
                " AND ",
                parts.stream()
                        .filter(part -> !part.isEmpty() && !part.equals("AND"))
                        .toList());
    }

    private static @Nullable String condition(Matcher term) {
        String path = term.group(1);
        String comparison = term.group(2) == null ? "=" : COMPARISONS.getOrDefault(term.group(2), term.group(2));
        String literal = term.group(2) == null ? term.group(4) : term.group(3);
        String text = literal.startsWith("\"") || literal.startsWith("'")
                ? "'" + literal.substring(1, literal.length() - 1) + "'"
                : literal;
        if (path.equals("event")) {
            return comparison.equals("=") && text.equalsIgnoreCase("'publish'") ? "" : null;
        }
        String[] names = path.split("\\.", -1);
        String field = FIELDS.get(names[0]);
        boolean nested = names.length > 1;
        if (field == null || (nested && !field.equals("payload"))) {
            return null;
        }
        for (int i = 1; i < names.length; i++) {
            if (WORDS.contains(names[i].toLowerCase(Locale.ROOT))) {
                return null;
            }
        }
        return field + (nested ? path.substring(names[0].length()) : "") + " " + comparison + " " + text;
    }
}
