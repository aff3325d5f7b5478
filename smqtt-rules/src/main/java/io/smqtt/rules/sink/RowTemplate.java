// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.thread.AnyThread;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A text with placeholders {@code ${column}}, {@code ${column.member[1].member}} and {@code ${.}} for the whole row. The first element of an array is
 * {@code [1]}. A column that is a text with JSON has its members, too. Immutable.
 */
@AnyThread
public final class RowTemplate {

    private static final Pattern PATH =
            Pattern.compile("[^.\\[\\]${}]+(\\[\\d{1,9}])*(\\.[^.\\[\\]${}]+(\\[\\d{1,9}])*)*");
    private static final String WHOLE = ".";
    private static final int USUAL = 64; // characters of a text, such as a topic

    private final List<Part> parts;
    private final @Nullable Part only; // if the text is one placeholder

    private RowTemplate(List<Part> parts) {
        this.parts = List.copyOf(parts);
        this.only = parts.size() == 2
                        && parts.get(0).literal().isEmpty()
                        && parts.get(1).literal().isEmpty()
                ? parts.get(0)
                : null;
    }

    /**
     * A piece of the text, and what follows it.
     *
     * @param literal the characters
     * @param path the names and numbers that lead to the value; empty for the whole row; null at the end of the text
     * @param quoted whether the placeholder is between the quotes of a text of JSON
     * @param column the only name of the path; null if the path has another length
     */
    private record Part(
            String literal,
            @Nullable List<Object> path,
            boolean quoted,
            @Nullable String column) {

        Part(String literal, @Nullable List<Object> path, boolean quoted) {
            this(literal, path, quoted, path != null && path.size() == 1 ? (String) path.get(0) : null);
        }

        /** The value of the path in a row. */
        @Nullable
        Object of(Map<String, @Nullable Object> row) {
            return column != null ? row.get(column) : path == null ? null : found(row, path);
        }
    }

    /**
     * Parses a text.
     *
     * @param text the text
     * @return the template
     * @throws IllegalArgumentException if a placeholder is not closed or has no valid path; the message continues a sentence
     */
    public static RowTemplate parse(String text) {
        List<Part> parts = new ArrayList<>();
        boolean quoted = false;
        int from = 0;
        for (int at = text.indexOf("${"); at >= 0; at = text.indexOf("${", from)) {
            int end = text.indexOf('}', at);
            if (end < 0) {
                throw new IllegalArgumentException("has a placeholder ${ that is not closed");
            }
            String literal = text.substring(from, at);
            quoted = endsQuoted(literal, quoted);
            parts.add(new Part(literal, path(text.substring(at + 2, end).strip()), quoted));
            from = end + 1;
        }
        parts.add(new Part(text.substring(from), null, false));
        return new RowTemplate(parts);
    }

    private static boolean endsQuoted(String literal, boolean quotedBefore) {
        boolean quoted = quotedBefore;
        for (int i = 0; i < literal.length(); i++) {
            char c = literal.charAt(i);
            if (quoted && c == '\\') {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            }
        }
        return quoted;
    }

    private static List<Object> path(String text) {
        if (text.equals(WHOLE)) {
            return List.of();
        }
        if (!PATH.matcher(text).matches()) {
            throw new IllegalArgumentException("has a placeholder that is no path of a row: ${" + text + "}");
        }
        List<Object> path = new ArrayList<>();
        for (String level : text.split("\\.", -1)) {
            int bracket = level.indexOf('[');
            path.add(bracket < 0 ? level : level.substring(0, bracket));
            while (bracket >= 0) {
                int close = level.indexOf(']', bracket);
                path.add(Integer.parseInt(level.substring(bracket + 1, close)));
                bracket = level.indexOf('[', close);
            }
        }
        return path;
    }

    /**
     * The value of a template that is one placeholder and nothing else.
     *
     * @param row the row
     * @return the value as it is in the row, or null if there is none; for other templates {@link #text(Map)}
     */
    public @Nullable Object value(Map<String, @Nullable Object> row) {
        return only == null ? text(row) : only.of(row);
    }

    /**
     * Fills in the placeholders.
     *
     * @param row the row
     * @return the text; a value that is absent is {@code undefined}, lists and maps are JSON
     */
    public String text(Map<String, @Nullable Object> row) {
        if (isFixed()) {
            return parts.get(0).literal();
        }
        if (only != null) {
            return RowText.plain(only.of(row));
        }
        StringBuilder text = new StringBuilder(USUAL);
        for (Part part : parts) {
            text.append(part.literal());
            if (part.path() != null) {
                text.append(RowText.plain(part.of(row)));
            }
        }
        return text.toString();
    }

    /**
     * Fills in the placeholders, if each has a value.
     *
     * @param row the row
     * @return the text, as {@link #text} has it; null if a value is absent
     */
    public @Nullable String textOrNull(Map<String, @Nullable Object> row) {
        StringBuilder text = new StringBuilder();
        for (Part part : parts) {
            text.append(part.literal());
            if (part.path() != null) {
                Object value = part.of(row);
                if (value == null) {
                    return null;
                }
                text.append(RowText.plain(value));
            }
        }
        return text.toString();
    }

    /**
     * Fills in the placeholders of a text that is JSON, so that it stays JSON whatever the values are.
     *
     * @param row the row
     * @return the text; between quotes values are escaped, elsewhere they are JSON, and a value that is absent is null
     */
    public String json(Map<String, @Nullable Object> row) {
        return fill(row, (value, quoted) -> quoted ? RowText.escaped(RowText.plain(value)) : RowText.json(value));
    }

    /**
     * Fills in the placeholders of a URL.
     *
     * @param row the row
     * @return the text with all values in percent encoding
     */
    public String url(Map<String, @Nullable Object> row) {
        return fill(
                row,
                (value, quoted) -> URLEncoder.encode(RowText.plain(value), StandardCharsets.UTF_8)
                        .replace("+", "%20"));
    }

    /**
     * Whether the text has placeholders.
     *
     * @return false if it is the same for all rows
     */
    public boolean isFixed() {
        return parts.size() == 1;
    }

    /**
     * The columns that the placeholders begin with.
     *
     * @return names, without the whole row
     * @see #hasWholeRow
     */
    public Set<String> columns() {
        Set<String> columns = new LinkedHashSet<>();
        for (Part part : parts) {
            List<Object> path = part.path();
            if (path != null && !path.isEmpty()) {
                columns.add((String) path.get(0));
            }
        }
        return columns;
    }

    /**
     * Whether a placeholder stands for the whole row.
     *
     * @return true if there is one
     */
    public boolean hasWholeRow() {
        return parts.stream().map(Part::path).anyMatch(path -> path != null && path.isEmpty());
    }

    private String fill(Map<String, @Nullable Object> row, BiFunction<@Nullable Object, Boolean, String> form) {
        if (isFixed()) {
            return parts.get(0).literal();
        }
        if (only != null) {
            return form.apply(only.of(row), only.quoted());
        }
        StringBuilder text = new StringBuilder();
        for (Part part : parts) {
            text.append(part.literal());
            if (part.path() != null) {
                text.append(form.apply(part.of(row), part.quoted()));
            }
        }
        return text.toString();
    }

    private static @Nullable Object found(Map<String, @Nullable Object> row, List<Object> path) {
        Object value = row;
        for (Object step : path) {
            if (value instanceof String text) {
                value = RowText.parsed(text);
            }
            if (step instanceof Integer index && value instanceof List<?> list) {
                value = index >= 1 && index <= list.size() ? list.get(index - 1) : null;
            } else if (value instanceof Map<?, ?> map) {
                value = map.get(step);
            } else {
                return null;
            }
        }
        return value;
    }
}
